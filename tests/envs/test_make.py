"""``make``: names, seeds, extras, and what it costs to import."""

import importlib
import subprocess
import sys

import numpy as np
import pytest

import lff.envs
from lff.core import BadInputError, BadTypeError
from lff.envs import PAPER_TASKS, Reusable, families, has_pixels, make


def test_paper_tasks():
    assert len(set(PAPER_TASKS)) == 8
    for task in PAPER_TASKS:
        env = make(task, seed=0)
        assert str(env) == task
        assert env.can_save_state
        assert env.action_space.low.min() == -1


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ("dmx/cheetah-run", "did you mean dmc"),
        ("cheetah-run", "write dmc/cheetah-run"),
        ("", "write dmc/cheetah-run"),
        ("dmc/", "dmc/acrobot-swingup"),
    ],
)
def test_unknown_family(task, message):
    with pytest.raises(BadInputError, match=message):
        make(task, seed=0)


@pytest.mark.parametrize("task", ["dmc/cheetah-run", "gym/Pendulum-v1", "probe/action"])
@pytest.mark.parametrize(
    ("seed", "error"),
    [(-1, BadInputError), (2**32, BadInputError), (0.5, BadTypeError), (True, BadTypeError)],
)
def test_bad_seed(task, seed, error):
    with pytest.raises(error, match="seed must be"):
        make(task, seed=seed)


@pytest.mark.parametrize("repeat", [0, -1, 1.5])
def test_bad_action_repeat(repeat):
    with pytest.raises(BadInputError, match="action_repeat must be"):
        make("dmc/cheetah-run", seed=0, action_repeat=repeat)


@pytest.mark.parametrize(
    ("task", "package", "extra"),
    [("dmc/cheetah-run", "dm_control", "dmc"), ("gym/HalfCheetah-v5", "mujoco", "gym")],
)
def test_missing_extra_gives_the_pip_line(monkeypatch, task, package, extra):
    real = importlib.util.find_spec

    def without(name, *args):
        return None if name == package else real(name, *args)

    monkeypatch.setattr(importlib.util, "find_spec", without)
    with pytest.raises(BadInputError, match=rf"pip install 'learned-fourier-features\[{extra}\]'"):
        make(task, seed=0)


def test_families_are_imported_when_asked_for():
    code = "import lff.envs, sys; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    modules = {f"lff.envs.{family.replace('-', '_')}" for family in families()}
    assert len(modules) == 5
    assert not loaded & {"mujoco", "dm_control", *modules}


def test_a_family_is_one_file_and_nothing_lists_it(tmp_path, monkeypatch):
    (tmp_path / "toy_pixels.py").write_text(
        'from lff.envs import probe\nFAMILY = "toy-pixels"\n\n'
        "def make(task, *, seed, action_repeat=1, render=False, view=None):\n"
        "    return probe.make(task, seed=seed, action_repeat=action_repeat, render=render)\n"
    )
    monkeypatch.setattr(lff.envs, "__path__", [*lff.envs.__path__, str(tmp_path)])
    importlib.invalidate_caches()
    assert families() == ("dmc", "dmc-pixels", "gym", "gym-pixels", "probe", "toy-pixels")
    assert make("toy-pixels/two-step", seed=0).reset()[0] == 0
    assert has_pixels("toy-pixels/two-step")
    assert not has_pixels("probe/two-step")
    assert not has_pixels("base/x")  # a file of the room without a family


@pytest.mark.parametrize(
    "task",
    ["dmc/cheetah-run", "dmc/finger-turn_hard", "gym/HalfCheetah-v5", "gym/Ant-v5"],
)
def test_a_reused_environment_equals_a_new_one(task):
    reusable = Reusable(lambda seed: make(task, seed=seed, action_repeat=2), seed=5)
    for seed in (1, 2, 1):
        new = make(task, seed=seed, action_repeat=2)
        assert_same_episode(new, reusable.fresh(seed), seed)
        new.close()
    reusable.close()


def test_an_environment_without_a_state_is_made_again():
    made = []

    def make_env(seed):
        made.append(make("gym/Pendulum-v1", seed=seed))
        return made[-1]

    reusable = Reusable(make_env, seed=0)
    assert reusable.fresh(1) is made[1]
    assert reusable.env is made[1]


def assert_same_episode(one, other, seed):
    rng = np.random.default_rng(seed)
    assert np.array_equal(one.reset(seed=seed)[0], other.reset(seed=seed)[0])
    for _ in range(20):
        action = rng.uniform(-1, 1, one.action_space.shape).astype(np.float32)
        here, there = one.step(action), other.step(action)
        assert np.array_equal(here[0], there[0])
        assert here[1:4] == there[1:4]
