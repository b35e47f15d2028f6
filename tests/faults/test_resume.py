"""A training run killed at any moment and started again ends in the same bytes."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from lff.store import load_latest
from tests.system.programs import require

ROOT = Path(__file__).parents[2]
SCRIPT = """
import signal, sys
from lff.training import train
from tests.training.runs import small
folder, env, mode, kill_at = sys.argv[1:]

def watch(run, event):
    if event == "step" and run.at.env_step == int(kill_at):
        signal.raise_signal(signal.SIGKILL)

train(small(env, steps=600, compile=mode == "compiled"), directory=folder, watch=watch)
"""


def start(folder, env, *, mode="eager", kill_at=-1):
    command = [sys.executable, "-c", SCRIPT, str(folder), env, mode, str(kill_at)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment, cwd=ROOT
    )


@pytest.mark.parametrize("env", ["dmc/cheetah-run", "gym/Pendulum-v1"])
def test_kill_9_and_resume_is_byte_for_byte(env, tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    process = start(whole, env)
    _, errors = process.communicate()
    assert process.returncode == 0, errors.decode()
    rng = random.Random(0)
    kills = 0
    while kills < 4:
        process = start(parts, env)
        while not (parts / "metrics.jsonl").exists() and process.poll() is None:
            time.sleep(0.02)
        time.sleep(rng.uniform(0.05, 1.0))
        if process.poll() is not None:
            break
        process.send_signal(signal.SIGKILL)
        process.communicate()
        kills += 1
    process = start(parts, env)
    _, errors = process.communicate()
    assert process.returncode == 0, errors.decode()
    assert kills >= 1
    assert_equal(whole, parts)


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
    one, other = load_latest(whole).tensors, load_latest(parts).tensors
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)
