"""Signals, kills, locks and other configs, through the real command line; every exit code."""

import json
import os
import signal
import time

import pytest

from lff.store import RunDir, load_latest, read_rows
from tests.faults import commands
from tests.faults.environments import EPISODE

BOTH = pytest.mark.parametrize("env", ["saved", "swing"])


def go_on(folder, words, expected):
    """The same command again finishes the run, with the bytes of an uninterrupted one."""
    code, errors = commands.lff(folder, words)
    assert code == 0, errors
    assert commands.results(folder) == expected


@BOTH
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["term", "int"])
def test_a_signal_writes_a_checkpoint_and_exits_with_75(env, number, tmp_path, whole):
    words = commands.train_words(env)
    process = commands.start(tmp_path, words)
    commands.wait_for_rows(process, tmp_path, 5)
    os.kill(process.pid, number)
    os.kill(process.pid, number)  # its echo: a terminal signals the whole group
    code, errors = commands.end(process, tmp_path)
    assert code == 75, errors
    assert errors.count("run the same command to continue") == 1
    stopped = load_latest(tmp_path / "run").step
    assert f"stopped at step {stopped} of 300" in errors
    if env == "swing":  # it could not stop before the start of an episode
        assert stopped % EPISODE == 0
    go_on(tmp_path, words, whole(env))


def test_a_second_signal_stops_at_once(tmp_path):
    """Without a checkpoint: this environment's episode, which one must wait for, never ends."""
    words = commands.train_words("endless", "--steps", "1000000", "--eval-every", "1000000")
    process = commands.start(tmp_path, words)
    commands.wait_for_rows(process, tmp_path, 2)
    os.kill(process.pid, signal.SIGINT)
    said = tmp_path / f"stderr-{process.pid}"
    while process.is_alive() and "cannot save its state" not in said.read_text():
        time.sleep(0.01)
    time.sleep(1.1)
    assert process.is_alive()
    os.kill(process.pid, signal.SIGINT)
    code, errors = commands.end(process, tmp_path)
    assert code == 75, errors
    assert "stopped at once" in errors
    assert "Traceback" not in errors


def test_killed_within_an_evaluation(tmp_path, whole):
    words = commands.train_words("dying")
    code, _ = commands.lff(tmp_path, words)
    assert code == -signal.SIGKILL
    assert (tmp_path / "scar").exists()
    assert not [*(tmp_path / "run" / "evaluations").iterdir()]
    go_on(tmp_path, words, whole("saved"))
    found = json.loads((tmp_path / "run/evaluations/000000200.json").read_text())
    assert found.keys() == {"env_step", "returns", "lengths", "q_start", "discounted", "seeds"}
    assert found["lengths"] == [EPISODE]
    rows = [*read_rows(tmp_path / "run/metrics.jsonl")]
    steps = [row["env_step"] for row in rows if "eval/return" not in row]
    assert steps == [*range(20, 301, 20)]  # none lost, none repeated
    returns = {row["env_step"]: row["eval/return"] for row in rows if "eval/return" in row}
    assert [*returns] == [100, 200, 300]
    assert returns[200] == found["returns"][0]


def test_another_config_is_refused_by_name_and_changes_nothing(tmp_path):
    words = commands.train_words("saved")
    process = commands.start(tmp_path, words)
    commands.wait_for_rows(process, tmp_path, 5)
    process.kill()
    process.join()
    before = {p: p.read_bytes() for p in (tmp_path / "run").rglob("*") if p.is_file()}
    code, errors = commands.lff(tmp_path, [*words, "--seed", "1", "--sigma", "0.5"])
    assert code == 2
    assert "seed (0 there, 1 here)" in errors
    assert "algo.critic.front.sigma (0.01 there, 0.5 here)" in errors
    after = {p: p.read_bytes() for p in (tmp_path / "run").rglob("*") if p.is_file()}
    for path in before.keys() ^ after.keys():
        assert path.name.startswith(".lock")
    assert all(before[path] == after[path] for path in before.keys() & after.keys())


def test_of_several_starts_one_runs_and_the_others_name_it(tmp_path):
    words = commands.train_words("saved", "--steps", "100000", "--eval-every", "100000")
    starts = [commands.start(tmp_path, words) for _ in range(4)]
    while sum(process.is_alive() for process in starts) > 1:
        time.sleep(0.01)
    (winner,) = (process for process in starts if process.is_alive())
    for process in starts:
        if process is not winner:
            code, errors = commands.end(process, tmp_path)
            assert code == 3
            assert f"in use by pid {winner.pid} on {os.uname().nodename}" in errors
            assert errors.count("\n") == 1
    commands.wait_for_rows(winner, tmp_path, 1)
    winner.terminate()
    assert commands.end(winner, tmp_path)[0] == 75
    assert RunDir(tmp_path / "run").status == "started"


def test_any_other_failure_exits_with_1_and_keeps_the_checkpoint(tmp_path):
    code, errors = commands.lff(tmp_path, commands.train_words("raising"))
    assert code == 1
    assert "the swing broke" in errors
    assert load_latest(tmp_path / "run").step == 140


@pytest.mark.parametrize("shorter", [200, 250])
def test_an_extended_run_equals_a_longer_one(shorter, tmp_path, whole):
    """All of it, but for the evaluation at the old end where the longer run had none."""
    code, errors = commands.lff(tmp_path, commands.train_words("saved", "--steps", str(shorter)))
    assert code == 0, errors
    code, errors = commands.lff(tmp_path, ["resume", "run", "--steps", "300", "--trust", "tests"])
    assert code == 0, errors
    found, expected = commands.results(tmp_path), whole("saved")
    weights = "checkpoints/final/tensors.safetensors"
    assert found[weights] == expected[weights]
    rows, longer = (each["metrics.jsonl"].splitlines() for each in (found, expected))
    extra = [json.loads(row) for row in rows if row not in longer]
    assert [row for row in rows if row in longer] == longer
    assert [row["env_step"] for row in extra] == [] if shorter == 200 else [250]
    assert all("eval/return" in row for row in extra)
    code, errors = commands.lff(tmp_path, ["resume", "run", "--steps", "100", "--trust", "tests"])
    assert code == 2
    assert "300 or more" in errors
