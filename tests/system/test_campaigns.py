"""Short forms of campaigns that anyone can run at length: random command lines, compound faults."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.system


def run(script, *words):
    command = [sys.executable, f"examples/{script}.py", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_random_lines_end_with_a_documented_code():
    said = run("fuzz_cli", "--lines", "300", "--seed", "1")
    assert "lines=300 seed=1 problems=0" in said
    assert {*re.findall(r"(\d+): \d+", said)} <= {"0", "1", "2", "3", "70", "74", "75"}


def test_random_lines_as_processes():
    said = run("fuzz_cli", "--lines", "30", "--seed", "2", "--processes")
    assert "lines=30 seed=2 problems=0" in said


def test_compound_faults_leave_every_byte():
    said = run("chaos", "--seed", "3", "--faults", "3", "--setups", "cheetah LFF", "--no-ray")
    assert "seed=3 faults=3 differences=0" in said
    assert "cheetah LFF: power cut: at call " in said
