import json
import os
import signal
import time

import pytest

from lff.core import BusyError
from lff.store import RunLock
from tests.faults import children

STARTS = 10


@pytest.mark.parametrize("round_", range(3))
def test_one_wins_and_the_others_name_it(tmp_path, round_):
    (tmp_path / ".lock-holder.json").write_text(  # of a run that was killed
        json.dumps({"pid": 999999999, "host": os.uname().nodename, "started": "2026-01-01"})
    )
    starts = [children.start(children.race_for_lock, tmp_path) for _ in range(STARTS)]
    for _, pipe in starts:
        pipe.send("go")
    answers = [pipe.recv() for _, pipe in starts]
    winners = [pid for kind, pid in answers if kind == "won"]
    assert len(winners) == 1
    for kind, message in answers:
        if kind == "busy":
            assert f"in use by pid {winners[0]} on {os.uname().nodename} since 20" in message
            assert "\n" not in message
    for child, pipe in starts:
        pipe.close()
        child.join()


def test_a_killed_holder_leaves_no_lock(tmp_path):
    child, pipe = children.start(children.race_for_lock, tmp_path)
    pipe.send("go")
    assert pipe.recv() == ("won", child.pid)
    with pytest.raises(BusyError, match=f"pid {child.pid}") as caught, RunLock(tmp_path):
        pass
    assert caught.value.exit_code == 3
    os.kill(child.pid, signal.SIGKILL)
    child.join()
    begin = time.monotonic()
    with RunLock(tmp_path):
        assert time.monotonic() - begin < 1


@pytest.fixture
def held(tmp_path):
    """A folder whose lock another process holds."""
    child, pipe = children.start(children.race_for_lock, tmp_path)
    pipe.send("go")
    assert pipe.recv() == ("won", child.pid)
    yield tmp_path, child
    child.kill()
    child.join()


def test_deleting_the_lock_file_lets_nobody_in(held):
    folder, child = held
    (folder / ".lock").unlink()
    for _ in range(2):  # the second time the new file is there
        with pytest.raises(BusyError, match=rf"in use by pid {child.pid} on .* deleted") as caught:
            RunLock(folder).__enter__()
    assert caught.value.exit_code == 3
    assert f"remove {folder / '.lock-holder.json'}" in str(caught.value)
    child.kill()
    child.join()
    with RunLock(folder):  # it is dead, so its note names nobody
        pass


@pytest.mark.parametrize(
    ("change", "free"),
    [
        ({}, False),
        ({"boot": "another"}, True),  # the machine was started since
        ({"host": "elsewhere"}, False),
        ({"host": "elsewhere", "inode": None}, False),
        ({"pid": 999999999}, True),
    ],
)
def test_whose_note_keeps_others_out_after_the_lock_file_went(held, change, free):
    folder, _ = held
    note = folder / ".lock-holder.json"
    note.write_text(json.dumps(json.loads(note.read_text()) | change))
    (folder / ".lock").unlink()
    if free:
        with RunLock(folder):
            assert json.loads(note.read_text())["pid"] == os.getpid()
    else:
        with pytest.raises(BusyError, match=r"whose \.lock was deleted or is a copy"):
            RunLock(folder).__enter__()


def test_a_damaged_note_keeps_nobody_out(tmp_path):
    (tmp_path / ".lock-holder.json").write_bytes(b"\0\0")
    with RunLock(tmp_path):
        assert json.loads((tmp_path / ".lock-holder.json").read_text())["pid"] == os.getpid()
