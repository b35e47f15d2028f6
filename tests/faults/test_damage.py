"""Every flipped bit and every truncation of every file: detected, and the one before is loaded."""

import hashlib
import json
import os
import pickle
import random
import shutil
import struct
import sys

import numpy as np
import pytest
import torch

from lff.core import CorruptError
from lff.store import SegmentRef, SegmentStore, load, load_latest, save
from lff.store.atomic import SEAL, encode, seal

FILES = ("tensors.safetensors", "meta.json", "manifest.json")


@pytest.fixture
def run(tmp_path):
    save(tmp_path, 1, {"w": np.arange(3.0)}, {"a": 1})
    save(tmp_path, 2, {"w": np.arange(4.0)}, {"a": 2})
    return tmp_path


def harmless(name, path, good):
    """A flip that leaves the manifest's JSON the same says the same: blanks, or case of escapes."""
    try:
        return name == "manifest.json" and json.loads(path.read_bytes()) == json.loads(good)
    except ValueError:
        return False


@pytest.mark.parametrize("name", FILES)
def test_every_byte_flipped(run, name):
    path = run / "checkpoints/step-000000002" / name
    good = path.read_bytes()
    bit = random.Random(0)
    for index in range(len(good)):
        flipped = bytearray(good)
        flipped[index] ^= 1 << bit.randrange(8)
        path.write_bytes(flipped)
        found = load_latest(run)
        if harmless(name, path, good):
            assert found.step == 2
        else:
            assert found.step == 1, index
            assert str(path.parent) in found.passed_over[0]
        assert found.arrays["w"].tolist() == [*range(found.step + 2)]
    path.write_bytes(good)
    assert load_latest(run).step == 2


@pytest.mark.parametrize("name", FILES)
def test_every_truncation_and_an_extension(run, name):
    path = run / "checkpoints/step-000000002" / name
    good = path.read_bytes()
    for text in (*(good[:size] for size in range(len(good) - 1)), good + b"x"):
        path.write_bytes(text)
        found = load_latest(run)
        assert found.step == 1
        assert str(path) in found.passed_over[0]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kind", ["missing", "folder", "link", "pipe", "empty"])
def test_something_else_in_its_place(run, name, kind, tmp_path_factory):
    path = run / "checkpoints/step-000000002" / name
    elsewhere = tmp_path_factory.mktemp("elsewhere") / name
    shutil.move(path, elsewhere)
    match kind:
        case "folder":
            path.mkdir()
        case "link":
            path.symlink_to(elsewhere)
        case "pipe":
            os.mkfifo(path)
        case "empty":
            path.touch()
    assert load_latest(run).step == 1


def test_a_linked_checkpoint_is_not_followed(run, tmp_path_factory):
    path = run / "checkpoints/step-000000002"
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "step-000000002"
    shutil.move(path, elsewhere)
    path.symlink_to(elsewhere)
    assert load_latest(run).step == 1
    save(run, 3, {}, {})
    assert (elsewhere / "manifest.json").exists()  # nor was anything removed through the link


class Bomb:
    """Unpickling this would make a file."""

    def __init__(self, canary):
        self.canary = canary

    def __reduce__(self):
        return (open, (str(self.canary), "w"))


def forge(path, **files):
    """Put files into a checkpoint, with a manifest whose sizes, hashes and seal fit."""
    manifest = json.loads((path / "manifest.json").read_text())
    for name, data in files.items():
        full = {"tensors": "tensors.safetensors", "meta": "meta.json"}[name]
        (path / full).write_bytes(data)
        manifest["files"][full] = {
            "bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
        }
    manifest.pop(SEAL)
    (path / "manifest.json").write_text(json.dumps(seal(manifest)))


def header(text, body=b""):
    return struct.pack("<Q", len(text)) + text + body


ONE = '{"x":{"dtype":"%s","shape":%s,"data_offsets":%s}}'
MALICIOUS = {
    "pickle": lambda canary: pickle.dumps(Bomb(canary)),
    "pickle in a header": lambda canary: header(pickle.dumps(Bomb(canary))),
    "giant header": lambda _: struct.pack("<Q", 2**30) + b"{}",
    "endless header": lambda _: struct.pack("<Q", 2**64 - 1) + b"{}",
    "no header": lambda _: b"{}",
    "deep header": lambda _: header(b'{"x":' * 100_000),
    "unknown dtype": lambda _: header((ONE % ("O", "[1]", "[0,8]")).encode(), b"\0" * 8),
    "beyond the end": lambda _: header((ONE % ("F32", "[9]", "[0,36]")).encode(), b"\0" * 4),
    "overlapping": lambda _: header(
        b'{"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},'
        b'"y":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}',
        b"\0" * 4,
    ),
    "huge shape": lambda _: header(
        (ONE % ("F32", "[4294967296,4294967296]", "[0,4]")).encode(), b"\0" * 4
    ),
    "huge and empty": lambda _: header((ONE % ("F32", f"[0,{2**62},{2**62}]", "[0,0]")).encode()),
}


@pytest.fixture(scope="module")
def executions():
    """Audit events that mean that something ran; the hook cannot be removed, so one for all."""
    seen, armed = [], []

    def hook(event, args):
        if armed and event in (
            "pickle.find_class",
            "exec",
            "compile",
            "os.system",
            "subprocess.Popen",
        ):
            seen.append((event, str(args)[:80]))

    sys.addaudithook(hook)
    return seen, armed


@pytest.mark.parametrize("kind", MALICIOUS)
def test_malicious_tensors_execute_nothing(run, kind, executions):
    seen, armed = executions
    canary = run / "canary"
    path = run / "checkpoints/step-000000002"
    forge(path, tensors=MALICIOUS[kind](canary))
    armed.append(True)
    try:
        with pytest.raises(CorruptError, match=r"tensors\.safetensors is not a safetensors"):
            load(path)
    finally:
        armed.clear()
    assert not seen
    assert not canary.exists()
    assert load_latest(run).step == 1


def test_a_pickle_as_torch_writes_it(run):
    canary = run / "canary"
    path = run / "checkpoints/step-000000002"
    torch.save({"w": Bomb(canary)}, run / "evil.pt")
    forge(path, tensors=(run / "evil.pt").read_bytes())
    with pytest.raises(CorruptError):
        load(path)
    assert not canary.exists()


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b'{"a": NaN}',
        b'{"a": ' + b"9" * 10_000 + b"}",
        b"[]",
        b"\xff",
    ],
)
def test_malicious_meta(run, text):
    path = run / "checkpoints/step-000000002"
    forge(path, meta=text)
    with pytest.raises(CorruptError, match=r"meta\.json is not (a )?JSON"):
        load(path)
    assert load_latest(run).step == 1


@pytest.mark.parametrize(
    "change",
    [
        {"files": {"../step-000000001/meta.json": {"bytes": 8, "sha256": ""}}},
        {"files": {"/etc/passwd": {"bytes": 8, "sha256": ""}}},
        {"files": {}},
        {"files": []},
        {"files": None},
        {"files": {"meta.json": None, "tensors.safetensors": None}},
        {"step": "2"},
        {"step": 3},
        {"step": -2},
        {"step": True},
        {"layout": 99},
    ],
)
def test_malicious_manifest(run, change):
    path = run / "checkpoints/step-000000002"
    manifest = json.loads((path / "manifest.json").read_text()) | change
    (path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(CorruptError, match=r"manifest\.json"):
        load(path)
    assert load_latest(run).step == 1


@pytest.mark.parametrize("extra", ["../../outside", "/tmp/outside", "sub/file"])
def test_no_path_leaves_the_checkpoint(run, extra):
    path = run / "checkpoints/step-000000002"
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["files"][extra] = {"bytes": 1, "sha256": ""}
    (path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(CorruptError, match="names files that are not ours"):
        load(path)


def test_names_that_are_no_checkpoints_are_not_touched(run):
    strange = run / "checkpoints" / "notes"
    strange.mkdir()
    (strange / "manifest.json").write_text("{}")
    save(run, 3, {}, {})
    assert load_latest(run).step == 3
    assert strange.exists()


def test_malicious_segment(tmp_path):
    store = SegmentStore(tmp_path / "replay")
    data = pickle.dumps(Bomb(tmp_path / "canary"))
    ref = SegmentRef(0, 1, hashlib.sha256(data).hexdigest())
    (store.folder / ref.name).write_bytes(data)
    with pytest.raises(CorruptError, match=ref.name):
        store.read([ref])
    assert not (tmp_path / "canary").exists()


def test_the_encoder_reads_its_own(tmp_path):
    assert encode({}) == header(b"{}      ")
