"""``make``: names, seeds, extras, and what it costs to import."""

import builtins
import subprocess
import sys

import pytest

from lff.core import BadInputError, BadTypeError
from lff.envs import FAMILIES, PAPER_TASKS, family_module, make


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
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.partition(".")[0] == package:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *args, **kwargs)

    for name in [*sys.modules]:
        if name.partition(".")[0] == package or name.startswith("gymnasium.envs.mujoco"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(BadInputError, match=rf"pip install 'learned-fourier-features\[{extra}\]'"):
        make(task, seed=0)


def test_families_are_imported_when_asked_for():
    code = "import lff.envs, sys; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert not loaded & {"mujoco", "dm_control", *map(family_module, FAMILIES)}
