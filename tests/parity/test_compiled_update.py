import subprocess
import sys
from pathlib import Path

import pytest

from tests.system.programs import require

ROOT = Path(__file__).parents[2]
PROGRAMS = ["compiled_update", "compiled_pixels", "compiled_td3", "compiled_crossq"]


def run(*arguments):
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_whole_update_is_one_graph(program):
    done = run(f"tests.parity.{program}", "aot_eager")
    assert done.returncode == 0, done.stderr


def test_the_whole_update_of_ppo_is_one_graph():
    done = run("tests.parity.compiled_ppo", "aot_eager")
    assert done.returncode == 0, done.stderr


@pytest.mark.system
def test_the_compiled_update_of_ppo_equals_the_eager_one():
    require("g++", package="g++")
    done = run("tests.parity.compiled_ppo", "inductor")
    assert done.returncode == 0, done.stderr


@pytest.mark.system
@pytest.mark.parametrize("program", PROGRAMS)
def test_the_compiled_update_equals_the_eager_one(program):
    require("g++", package="g++")
    done = run(f"tests.parity.{program}", "inductor")
    assert done.returncode == 0, done.stderr


@pytest.mark.system
def test_compiled_q_iteration_equals_the_eager_one():
    require("g++", package="g++")
    done = run("tests.parity.compiled_fqi")
    assert done.returncode == 0, done.stderr
