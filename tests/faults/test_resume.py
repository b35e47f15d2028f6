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

ROOT = Path(__file__).parents[2]
SCRIPT = """
import sys
from lff.training import train
from tests.training.runs import small
train(small(sys.argv[2], steps=600), directory=sys.argv[1])
"""


def start(folder, env):
    command = [sys.executable, "-c", SCRIPT, str(folder), env]
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
    assert (parts / "metrics.jsonl").read_bytes() == (whole / "metrics.jsonl").read_bytes()
    one, other = load_latest(whole).tensors, load_latest(parts).tensors
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)
