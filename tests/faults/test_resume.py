"""A training run killed at any moment and started again ends in the same bytes."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lff.store import load_latest
from tests.system.programs import require

ROOT = Path(__file__).parents[2]
SCRIPT = """
import signal, sys
from lff.training import train
from tests.training.runs import small
folder, env, mode, kill_at = sys.argv[1:]

def watch(run, event):
    if event == "step" and run.progress.env_step == int(kill_at):
        signal.raise_signal(signal.SIGKILL)

compilation = "graph" if mode == "compiled" else "off"
train(small(env, steps=600, compile=compilation), directory=folder, watch=watch)
"""


def start(folder, env, *, mode="eager", kill_at=-1):
    command = [sys.executable, "-c", SCRIPT, str(folder), env, mode, str(kill_at)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment, cwd=ROOT
    )


def kill_and_resume(kills, *setups, how="off"):
    """A short form of what anyone can run: examples/kill_and_resume.py --kills 60."""
    command = [sys.executable, "examples/kill_and_resume.py", "--kills", str(kills)]
    command += ["--compile", how, "--setups", *setups]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[-2] == f"kills={kills} differences=0"
    assert json.loads(lines[-1])["runs"] >= len(setups)


def test_killed_at_random_moments_and_resumed_is_byte_for_byte():
    kill_and_resume(2, "own, cannot save its state")


def test_a_killed_run_of_ppo_goes_on_byte_for_byte():
    kill_and_resume(2, "PPO, own, cannot save its state")


def test_a_killed_run_of_td3_goes_on_byte_for_byte():
    kill_and_resume(2, "TD3, own, cannot save its state")


def test_a_killed_run_of_crossq_goes_on_byte_for_byte():
    kill_and_resume(2, "CrossQ, own, cannot save its state")


@pytest.mark.system
@pytest.mark.parametrize("how", ["off", "native"])
def test_killed_at_random_moments_of_a_simulator(how):
    kill_and_resume(4, "cheetah LFF", "hopper MLP, small replay", how=how)


@pytest.mark.system
def test_runs_of_ppo_killed_at_random_moments_of_simulators():
    kill_and_resume(6, "PPO, hopper LFF", "PPO in processes, cheetah")


@pytest.mark.system
def test_runs_of_td3_killed_at_random_moments_of_a_simulator():
    kill_and_resume(4, "TD3, cheetah LFF")


@pytest.mark.system
def test_a_compiled_run_resumes_byte_for_byte_too(tmp_path):
    require("g++", package="g++")
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for folder, kill_at, code in (
        (whole, -1, 0),
        (parts, 233, -signal.SIGKILL),
        (parts, 417, -signal.SIGKILL),
        (parts, -1, 0),
    ):
        process = start(folder, "dmc/cheetah-run", mode="compiled", kill_at=kill_at)
        _, errors = process.communicate()
        assert process.returncode == code, errors.decode()
    assert_equal(whole, parts)


def assert_equal(whole, parts):
    assert (parts / "metrics.jsonl").read_bytes() == (whole / "metrics.jsonl").read_bytes()
    one, other = load_latest(whole).arrays, load_latest(parts).arrays
    assert one.keys() == other.keys()
    assert all(np.array_equal(one[name], other[name]) for name in one)
