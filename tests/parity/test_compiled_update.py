import subprocess
import sys
from pathlib import Path

import pytest

from tests.system.programs import require

ROOT = Path(__file__).parents[2]


def run(backend):
    command = [sys.executable, "-m", "tests.parity.compiled_update", backend]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def test_the_whole_update_is_one_graph():
    done = run("aot_eager")
    assert done.returncode == 0, done.stderr


@pytest.mark.system
def test_the_compiled_update_equals_the_eager_one():
    require("g++", package="g++")
    done = run("inductor")
    assert done.returncode == 0, done.stderr
