"""Pictures: need an OpenGL library, which pip cannot install."""

import subprocess
import sys

import numpy as np
import pytest

from lff.core import BadInputError
from lff.envs import make, rendering

pytestmark = pytest.mark.system

# dm_control keeps the backend that it found when it was imported, hence processes of their own
COMPARISON = """
import numpy as np
from lff.envs import make
for task in ("dmc/cheetah-run", "dmc/finger-turn_hard", "dmc/humanoid-run"):
    env = make(task, seed=0, render=True)
    env.reset()
    env.step(np.ones(env.action_space.shape))
    expected = env._env.physics.render(480, 480, camera_id=0)
    np.testing.assert_array_equal(env.render(), expected, err_msg=task)
    assert expected.std() > 5
"""
# most of a run needs no pictures; the video at its end does
LATE = """
from lff.envs import make
for task in ("dmc/cheetah-run", "gym/HalfCheetah-v5"):
    make(task, seed=0).reset()
    env = make(task, seed=0, render=True)
    env.reset()
    assert env.render().std() > 5
"""
TERRAIN = """
import numpy as np
from lff.envs import make
env = make("dmc/quadruped-escape", seed=0, render=True)
env.reset()
first = env.render()
env.reset()
assert not np.array_equal(first, env.render())
"""
GYM = """
from lff.envs import make
env = make("gym/HalfCheetah-v5", seed=0, render=True)
env.reset()
assert env.render().std() > 5
"""


@pytest.fixture(autouse=True)
def _backend():
    try:
        rendering.choose_backend()
    except BadInputError as error:
        pytest.fail(str(error))


@pytest.mark.parametrize(
    "code",
    [COMPARISON, LATE, TERRAIN, GYM],
    ids=["equals dm_control", "late", "terrain", "gymnasium"],
)
@pytest.mark.parametrize("variable", ["set", "unset"])
def test_fresh_process_draws_and_ends_without_errors(code, variable, monkeypatch):
    if variable == "unset":
        monkeypatch.delenv(rendering.VARIABLE)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "Exception ignored" not in run.stderr


def test_picture_after_restoring_is_the_picture_before():
    first, second = (make("dmc/finger-turn_hard", seed=s, render=True) for s in (0, 1))
    first.reset()
    second.reset()
    assert first.render().shape == (480, 480, 3)
    assert not np.array_equal(first.render(), second.render())
    second.set_state(first.get_state())
    np.testing.assert_array_equal(first.render(), second.render())
    first.close()
    second.close()


def test_no_picture_unless_asked_for():
    env = make("dmc/cheetah-run", seed=0)
    env.reset()
    assert env.render() is None
