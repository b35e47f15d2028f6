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
