"""A disk that is full or read-only: a real one (a small tmpfs) where the tests may mount it."""

import contextlib
import errno
import os
import subprocess

import numpy as np
import pytest

from lff.core import StorageError
from lff.store import MetricsFile, RunDir, SegmentStore, load_latest, save
from lff.store.atomic import write_bytes
from tests.faults import children
from tests.faults.configs import Config


@contextlib.contextmanager
def small_disk(path, size="200k"):
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a tmpfs needs root; the simulated faults below ran instead")
    try:
        yield path
    finally:
        subprocess.run(["umount", str(path)], check=True)


def remount(path, mode):
    subprocess.run(["mount", "-o", f"remount,{mode}", str(path)], check=True)


def assert_run_survived(path, message):
    found = load_latest(path)
    assert found.step >= 1
    assert not found.passed_over
    assert np.array_equal(found.arrays["w"], np.ones(1000 * (found.step + 1)))
    assert not [*path.rglob("*tmp-lff")]
    assert not [*(path / "checkpoints").glob("*.new")]
    assert "\n" not in message
    with (path / "metrics.jsonl").open() as file:
        lines = file.readlines()
    assert all(line.endswith("}\n") for line in lines)
    assert len(lines) > found.step


def test_a_full_disk(tmp_path):
    with small_disk(tmp_path / "disk") as disk:
        child, pipe = children.start(children.fill, disk / "run", Config(), None)
        code, message = pipe.recv()
        child.join()
        assert code == 74
        assert "the disk is full; free some space" in message
        assert str(disk / "run") in message
        assert_run_survived(disk / "run", message)
        with RunDir(disk / "run").start(Config(), info={}) as run:  # goes on when there is room
            found = run.resume()
            remount(disk, "size=4m")
            run.save(found.step + 1, {"w": np.ones(9)}, {})


def test_a_limit_on_file_sizes(tmp_path):
    child, pipe = children.start(children.fill, tmp_path / "run", Config(), 60_000)
    code, message = pipe.recv()
    child.join()
    assert code == 74
    assert "size limit" in message
    assert_run_survived(tmp_path / "run", message)


def test_a_read_only_disk(tmp_path):
    with small_disk(tmp_path / "disk") as disk:
        path = disk / "run"
        with RunDir(path).start(Config(), info={}) as run:
            run.save(1, {"w": np.ones(3)}, {})
        remount(disk, "ro")
        with pytest.raises(StorageError, match="read-only") as caught:
            save(path, 2, {}, {})
        assert caught.value.exit_code == 74
        with (
            pytest.raises(StorageError, match="read-only"),
            RunDir(path).start(Config(), info={}),
        ):
            pass
        with (
            pytest.raises(StorageError, match="read-only"),
            RunDir(disk / "new").start(Config(), info={}),
        ):
            pass
        assert load_latest(path).step == 1  # looking is still possible
        assert RunDir(path).status == "started"
        assert SegmentStore(path / "replay").read([]) == {}


FAULTS = [
    *(("write", number) for number in (errno.ENOSPC, errno.EDQUOT, errno.EIO)),
    *(("fsync", number) for number in (errno.ENOSPC, errno.EIO)),
    *(("open", number) for number in (errno.EROFS, errno.EACCES, errno.EMFILE)),
]


@pytest.mark.parametrize(("call", "number"), FAULTS)
def test_a_refused_call_leaves_nothing_behind(tmp_path, monkeypatch, call, number):
    save(tmp_path, 1, {"w": np.ones(3)}, {})
    write_bytes(tmp_path / "config.json", b"old")
    store, metrics = SegmentStore(tmp_path / "replay"), MetricsFile(tmp_path / "metrics.jsonl")
    metrics.append({"env_step": 1})
    real = getattr(os, call)
    before = sorted(tmp_path.rglob("*"))

    def refuse(*args, **kwargs):
        if call == "open" and not args[1] & os.O_CREAT:
            return real(*args, **kwargs)
        if call == "write":
            real(args[0], bytes(args[1])[:3])  # a part gets through
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, refuse)
        for attempt in (
            lambda: save(tmp_path, 2, {"w": np.ones(3)}, {}),
            lambda: write_bytes(tmp_path / "config.json", b"new"),
            lambda: store.append({"x": np.ones(2)}),
            *([lambda: metrics.append({"env_step": 2})] if call == "write" else []),
        ):
            with pytest.raises(StorageError) as caught:
                attempt()
            assert str(tmp_path) in str(caught.value)
            assert "; " in str(caught.value)
    metrics.close()
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "config.json").read_bytes() == b"old"
    assert (tmp_path / "metrics.jsonl").read_bytes() == b'{"env_step": 1}\n'
    assert load_latest(tmp_path).step == 1


def test_a_disk_that_lies_is_found_out(tmp_path, monkeypatch):
    """A write that reports success and stores something else (seen on broken mounts)."""
    save(tmp_path, 1, {}, {})
    real = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda fd, data: real(fd, b"\0" * len(data)))
        with pytest.raises(StorageError, match="reads back different"):
            save(tmp_path, 2, {}, {})
    assert load_latest(tmp_path).step == 1


def test_order_of_calls_survives_a_power_cut(tmp_path, monkeypatch):
    """Data, fsync, folder fsync, then the manifest; the rename after it, then the folder above."""
    calls, paths = [], {}
    reals = {name: getattr(os, name) for name in ("open", "fsync", "rename", "close")}

    def opened(path, *args, **kwargs):
        descriptor = reals["open"](path, *args, **kwargs)
        paths[descriptor] = os.path.basename(path)  # noqa: PTH119
        return descriptor

    monkeypatch.setattr(os, "open", opened)
    monkeypatch.setattr(
        os, "fsync", lambda fd: (calls.append(("fsync", paths[fd])), reals["fsync"](fd))[1]
    )
    monkeypatch.setattr(
        os,
        "rename",
        lambda a, b: (calls.append(("rename", os.path.basename(b))), reals["rename"](a, b))[1],  # noqa: PTH119
    )
    (tmp_path / "checkpoints").mkdir()
    save(tmp_path, 1, {}, {})
    name = "step-000000001"
    assert calls[:7] == [
        ("fsync", "tensors.safetensors"),
        ("fsync", "meta.json"),
        ("fsync", f"{name}.new"),
        ("fsync", "manifest.json"),
        ("fsync", f"{name}.new"),
        ("rename", name),
        ("fsync", "checkpoints"),
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere; the read-only disk ran")
def test_a_forbidden_folder(tmp_path):
    with RunDir(tmp_path / "run").start(Config(), info={}) as run:
        run.save(1, {}, {})
    folders = [path for path in (tmp_path / "run").rglob("*") if path.is_dir()]
    for path in (*folders, tmp_path / "run"):
        path.chmod(0o555)
    try:
        with pytest.raises(StorageError, match="permission denied") as caught:
            save(tmp_path / "run", 2, {}, {})
        assert caught.value.exit_code == 74
        assert load_latest(tmp_path / "run").step == 1
    finally:
        for path in (*folders, tmp_path / "run"):
            path.chmod(0o755)
