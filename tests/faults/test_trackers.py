"""Trackers of a run that is killed and goes on hold every row once, and change nothing."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from lff.store import read_rows
from lff.training import train
from tests.faults.test_resume import assert_equal
from tests.training.runs import small

ROOT = Path(__file__).parents[2]
SCHEDULE = {"steps": 450, "log_every": 50, "eval_every": 300}
RUN = """
import signal, sys
from pathlib import Path
from lff.training import trackers, train
from tests.faults.test_trackers import SCHEDULE
from tests.training.runs import small

folder, mode = Path(sys.argv[1]), sys.argv[2]
choice = trackers.Trackers(tensorboard=True, wandb="project")
if mode == "between":  # TensorBoard comes later and catches up
    choice = trackers.Trackers(wandb="project")
if mode == "inside":  # in the midst of a sync: TensorBoard has the rows, W&B not yet
    original, calls = trackers.Wandb.sync, []
    def sync(self, run):
        calls.append(run)
        if len(calls) == 2:
            signal.raise_signal(signal.SIGKILL)
        original(self, run)
    trackers.Wandb.sync = sync

with trackers.tracked(choice, folder) as track:
    def watch(run, event):
        if mode == "between" and event == "step" and run.progress.env_step == 233:
            signal.raise_signal(signal.SIGKILL)
        track(run, event)
    train(small("gym/Pendulum-v1", **SCHEDULE), directory=folder, watch=watch)
"""
READ = """
import json, sys
from pathlib import Path
from tests.training import tracker_files
run = Path(sys.argv[1])
print(json.dumps({
    "tensorboard": tracker_files.tensorboard(run),
    "wandb": tracker_files.wandb(run),
}))
"""


def child(code, *words, home):
    """Run in a process of its own, with nothing of the user's and no way out to a network."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", ""))),
        "HOME": str(home),
        "WANDB_MODE": "offline",
        "WANDB_BASE_URL": "http://127.0.0.1:9",
    }
    command = [sys.executable, "-c", code, *map(str, words)]
    return subprocess.run(
        command, capture_output=True, text=True, env=environment, cwd=ROOT, check=False
    )


def test_killed_run_ends_with_every_row_once_in_every_tracker(tmp_path):
    plain, run = tmp_path / "plain", tmp_path / "run"
    train(small("gym/Pendulum-v1", **SCHEDULE), directory=plain)
    for mode in ("between", "inside"):
        killed = child(RUN, run, mode, home=tmp_path)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
    done = child(RUN, run, "whole", home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "failed" not in done.stderr
    assert_equal(plain, run)  # the same metrics, the same weights
    assert (run / "config.json").read_bytes() == (plain / "config.json").read_bytes()

    read = child(READ, run, home=tmp_path)
    assert read.returncode == 0, read.stderr
    found = json.loads(read.stdout.splitlines()[-1])
    want = {}
    rows = [*read_rows(run / "metrics.jsonl")]
    for row in rows:
        for name in sorted(n for n in row.keys() - {"env_step"} if not isinstance(row[n], list)):
            want.setdefault(name, []).append([row["env_step"], row[name]])
    assert len(rows) == 450 // 50 + 2
    assert by_name(found["wandb"]) == want
    events = by_name(found["tensorboard"])
    assert events.keys() == want.keys()
    for name, values in want.items():
        assert [step for step, _ in events[name]] == [step for step, _ in values]
        for (_, float32), (_, value) in zip(events[name], values, strict=True):
            assert abs(float32 - value) <= 1e-6 * abs(value)
    assert not (run / ".tensorboard.new").exists()


def by_name(triples):
    found = {}
    for step, name, value in triples:
        found.setdefault(name, []).append([step, value])
    return found
