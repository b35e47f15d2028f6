"""Trackers by flag: what is missing is told first, what fails stops nothing."""

import json
import sys

import pytest

from lff.store import RunDir, read_rows
from lff.training.trackers import Wandb
from tests.training import tracker_files

SHORT = ("--steps", "150", "--warmup-steps", "50", "--eval-episodes", "1", "--log-every", "50")
TRAIN = ("train", "sac", "--env", "probe/action", *SHORT, "--checkpoint-every", "50")


@pytest.mark.parametrize(
    ("module", "flag"),
    [
        ("tensorboard", ("--tensorboard",)),
        ("wandb", ("--wandb", "project")),
    ],
)
def test_missing_extra_is_the_pip_line_before_anything_is_written(
    module, flag, cli, tmp_path, monkeypatch
):
    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    ended = cli(*TRAIN, "--dir", "run", *flag)
    assert ended.code == 2
    assert f"pip install 'learned-fourier-features[{module}]'" in ended.err
    assert not list(tmp_path.iterdir())


def test_tensorboard_of_a_run_its_extension_and_a_second_start(cli, tmp_path):
    run = tmp_path / "run"
    assert cli(*TRAIN, "--dir", run, "--tensorboard").code == 0
    first = {path.name for path in (run / "tensorboard").iterdir()}
    assert cli(*TRAIN, "--dir", run, "--tensorboard").code == 0
    assert {path.name for path in (run / "tensorboard").iterdir()} == first
    assert cli("resume", run, "--steps", "250").code == 0  # a tracker is named each time
    assert {path.name for path in (run / "tensorboard").iterdir()} == first
    assert cli("resume", run, "--steps", "250", "--tensorboard").code == 0
    rows = [*read_rows(run / "metrics.jsonl")]
    assert rows[-1]["env_step"] == 250
    want = [(step, name) for step, name, _ in tracker_files.expected(rows)]
    assert [(step, name) for step, name, _ in tracker_files.tensorboard(run)] == want
    config = json.loads((run / "config.json").read_text())
    assert "tensorboard" not in json.dumps(config)
    assert RunDir(run).info["command"][-1] == "--tensorboard"


def test_a_finished_run_can_be_shown_later(cli, tmp_path):
    run = tmp_path / "run"
    assert cli(*TRAIN, "--dir", run).code == 0
    before = (run / "metrics.jsonl").read_bytes()
    assert cli(*TRAIN, "--dir", run, "--tensorboard").code == 0
    assert (run / "metrics.jsonl").read_bytes() == before
    rows = [*read_rows(run / "metrics.jsonl")]
    assert len(tracker_files.tensorboard(run)) == len(tracker_files.expected(rows))


def test_a_tracker_that_fails_stops_nothing(cli, tmp_path, monkeypatch, caplog):
    def broken(self, run):
        raise ConnectionError("no route to host")

    monkeypatch.setattr(Wandb, "sync", broken)
    run = tmp_path / "run"
    assert cli(*TRAIN, "--dir", run, "--wandb", "project", "--tensorboard").code == 0
    assert [r.getMessage() for r in caplog.records if "goes on without it" in r.getMessage()] == [
        "Wandb failed, training goes on without it: no route to host"
    ]
    assert RunDir(run).status == "finished"
    rows = [*read_rows(run / "metrics.jsonl")]
    assert len(tracker_files.tensorboard(run)) == len(tracker_files.expected(rows))
