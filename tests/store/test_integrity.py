"""Hashes of everything, folders that are synced, and what a run does about a damaged file."""

import json
import logging
import os
import shutil

import numpy as np
import pytest

from lff.core import CorruptError, StorageError
from lff.store import RunDir, load_latest, read_rows
from lff.store.atomic import SEAL, dumps, make_folder, seal, sha256, unseal, write_new
from lff.store.verify import verify_run
from tests.faults.configs import Config

INFO = {"command": ["lff", "train"], "versions": {"numpy": "2"}}


@pytest.fixture
def calls(monkeypatch):
    """The folders made, and what was synced, advised and opened for reading, by name, in order."""
    found, names = [], {}
    reals = {name: getattr(os, name) for name in ("open", "mkdir", "fsync", "posix_fadvise")}

    def opened(path, flags, *args, **options):
        descriptor = reals["open"](path, flags, *args, **options)
        names[descriptor] = os.path.basename(path)  # noqa: PTH119
        if flags & os.O_NOFOLLOW:
            found.append(f"read {names[descriptor]}")
        return descriptor

    def noted(name, word):
        def call(first, *args):
            which = names.get(first) or os.path.basename(first)  # noqa: PTH119
            found.append(f"{word} {which}")
            return reals[name](first, *args)

        return call

    monkeypatch.setattr(os, "open", opened)
    for name, word in (("mkdir", "make"), ("fsync", "sync"), ("posix_fadvise", "drop")):
        monkeypatch.setattr(os, name, noted(name, word))
    return found


def test_every_folder_made_is_synced_into_the_one_above_before_the_next(tmp_path, calls):
    top = tmp_path / "top"
    make_folder(top / "a" / "b")
    assert calls[1:] == [
        "make top",
        f"sync {tmp_path.name}",
        "make a",
        "sync top",
        "make b",
        "sync a",
    ]
    calls.clear()
    make_folder(top / "a" / "b" / "c")  # b may be that of a process killed before its sync
    assert calls == ["sync a", "make c", "sync b"]


def test_what_was_written_is_dropped_from_memory_before_it_is_read_back(tmp_path, calls):
    write_new(tmp_path / "x", b"data")
    assert calls == ["sync x", "drop x", "read x"]


def test_a_seal_covers_every_value_and_its_own_name(tmp_path):
    sealed = json.loads(dumps("x", seal({"a": [1.5, None], "b": "ü"})))
    assert sealed[SEAL] == sha256(b'{"a":[1.5,null],"b":"\\u00fc"}\n')
    assert unseal(sealed, tmp_path) == {"a": [1.5, None], "b": "ü"}
    for wrong in (sealed | {"a": [1.5, 0]}, sealed | {"c": 1}, {"a": [1.5, None], "b": "ü"}):
        with pytest.raises(CorruptError, match="is not what was written"):
            unseal(wrong, tmp_path)
    assert unseal({"a": 1}, tmp_path, required=False) == {"a": 1}


def advance(run, steps, *, final=False):
    """Go on as a training loop does: rows, an evaluation, a segment and a checkpoint a step."""
    found = run.resume()
    for step in range(found.step + 1 if found else 1, steps + 1):
        run.metrics.append({"env_step": step, "x": 1 / step})
        run.timing.append({"env_step": step})
        run.write_evaluation(step, {"returns": [float(step)]})
        ref = run.segments.append({"reward": np.full(2, step)})
        last = final and step == steps
        run.save(step, {"w": np.full(3, step)}, {"replay": [ref.to_json()]}, final=last)
        run.drop_replay_before(ref)
    return found


@pytest.fixture
def run(tmp_path):
    run = RunDir(tmp_path / "run")
    with run.start(Config(), info=INFO):
        advance(run, 3)
    return run


def flip(path, at=-3):
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def states(run):
    found = verify_run(run.path)
    return {str(f.path.relative_to(run.path)): f.state for f in found if f.state != "ok"}


def go_on(run, steps=4):
    with run.start(Config(), info=INFO):
        return advance(run, steps, final=True)


def test_everything_in_a_run_has_a_hash(run):
    assert states(run) == {}
    go_on(run)
    assert states(run) == {}
    assert {p.name for p in run.path.iterdir()} >= {"metrics.csv", "run.json", "timing.jsonl"}


FILES = {
    "run.json": "run.json",
    "config.json": "config.json",
    "metrics.jsonl": "metrics.jsonl",
    "timing.jsonl": "timing.jsonl",
    "evaluations/000000002.json": "evaluations/000000002.json",
    "replay/segment-000000002.safetensors": "replay/segment-000000002.safetensors",
    "checkpoints/step-000000003/meta.json": "checkpoints/step-000000003",
    "checkpoints/step-000000003/manifest.json": "checkpoints/step-000000003",
    "checkpoints/step-000000002/tensors.safetensors": "checkpoints/step-000000002",
}


@pytest.mark.parametrize("name", FILES)
def test_verify_names_what_differs(run, name):
    flip(run.path / name, at=len((run.path / name).read_bytes()) // 2)
    damaged = {file for file, state in states(run).items() if state == "damaged"}
    assert FILES[name] in damaged
    assert damaged <= {FILES[name], "checkpoints/step-000000003"}


def test_a_damaged_info_file_is_reported_and_written_anew(run, caplog):
    run.info_file.write_text(run.info_file.read_text().replace('"numpy": "2"', '"numpy": "3"'))
    with pytest.raises(CorruptError, match=r"run\.json is not"):
        _ = run.info
    assert go_on(run).step == 3
    assert "run.json is not what was written; restore or remove it; written anew" in caplog.text
    assert run.info["command"] == INFO["command"]
    assert states(run) == {}


def test_a_damaged_config_is_refused_and_restored_by_the_command_that_has_it(run, caplog):
    text = run.config_file.read_bytes()
    run.config_file.write_bytes(text.replace(b'"seed":0', b'"seed":1'))
    with pytest.raises(CorruptError, match=r"config\.json is not what was written"):
        _ = run.config
    assert go_on(run).step == 3
    assert "config.json is not what was written; written again" in caplog.text
    assert run.config_file.read_bytes() == text


def test_shortened_metrics_fall_back_to_the_older_checkpoint(run):
    whole = run.metrics_file.read_bytes()
    lines = whole.splitlines(keepends=True)
    run.metrics_file.write_bytes(b"".join(lines[:2]) + lines[2][:5])
    found = go_on(run, 3)
    assert (found.step, len(found.passed_over)) == (2, 1)
    assert "has not 3 rows in its first" in found.passed_over[0]
    assert run.metrics_file.read_bytes() == whole
    assert states(run) == {}


def test_a_changed_row_stops_the_run_and_is_named(run):
    whole = run.metrics_file.read_text()
    run.metrics_file.write_text(whole.replace('"x": 1.0', '"x": 2.0'))  # in every checkpoint
    with pytest.raises(CorruptError, match=r"first 2 rows of .*metrics\.jsonl are not what"):
        go_on(run)
    run.metrics_file.write_text(whole)
    assert go_on(run).step == 3


def test_damaged_timing_and_evaluations_are_reported_and_stop_nothing(run, caplog):
    flip(run.timing_file)
    flip(run.evaluations / "000000001.json")
    (run.evaluations / "000000002.json").unlink()
    with caplog.at_level(logging.WARNING):
        assert go_on(run).step == 3
    assert "timing.jsonl are not what was written" in caplog.text
    assert "000000001.json is not what was written" in caplog.text
    assert "000000002.json is missing" in caplog.text
    assert [row["env_step"] for row in read_rows(run.timing_file)] == [4]
    assert [*states(run).values()] == ["damaged"] * 2  # verify goes on to name both


def test_a_final_manifest_of_another_step_is_damaged(run):
    go_on(run)
    manifest = run.checkpoints / "final" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"step": 4', '"step": 6'))
    found = load_latest(run.path)
    assert (found.step, len(found.passed_over)) == (3, 1)


def as_older(run):
    """Take the hashes out, as a run of layout 2 has none."""
    info = {k: v for k, v in run.info.items() if k != "config_sha256"} | {"layout": 2}
    run.info_file.write_text(json.dumps(info))
    for folder in run.checkpoints.iterdir():
        meta = json.loads((folder / "meta.json").read_text())
        del meta["store"]["files"], meta["store"]["metrics"]["sha256"]
        del meta["store"]["timing"]["sha256"]
        data = dumps("meta", meta)
        (folder / "meta.json").write_bytes(data)
        manifest = json.loads((folder / "manifest.json").read_text()) | {"layout": 2}
        del manifest[SEAL]
        manifest["files"]["meta.json"] = {"bytes": len(data), "sha256": sha256(data)}
        (folder / "manifest.json").write_text(json.dumps(manifest))


def test_a_run_of_the_layout_before_hashes_is_read_and_goes_on(run):
    whole = RunDir(run.path.with_name("whole"))
    shutil.copytree(run.path, whole.path)
    as_older(run)
    assert {*states(run).values()} == {"no hash"}
    assert {"run.json", "config.json", "metrics.jsonl"} < states(run).keys()
    assert go_on(run).step == 3
    go_on(whole)
    assert run.metrics_file.read_bytes() == whole.metrics_file.read_bytes()
    assert run.info["layout"] == 3
    assert {*states(run)} == {f"evaluations/00000000{i}.json" for i in (1, 2, 3)}


def test_a_newer_layout_is_refused(run):
    run.info_file.write_text(json.dumps({**INFO, "layout": 4}))
    with pytest.raises(StorageError, match="layout"):
        _ = run.info
