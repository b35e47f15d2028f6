"""Environments by name: ``make("dmc/cheetah-run", seed=0)``.

A family is a file of this room with ``make(task, *, seed, action_repeat, render)``; it and the
simulator behind it are imported when one of its tasks is made.
"""

import importlib

from lff.core.checks import nearest
from lff.core.errors import BadInputError
from lff.envs.base import Env as Env

FAMILIES = ("dmc", "gym", "probe")
PAPER_TASKS = (
    "dmc/acrobot-swingup",
    "dmc/cheetah-run",
    "dmc/finger-turn_hard",
    "dmc/hopper-hop",
    "dmc/humanoid-run",
    "dmc/quadruped-run",
    "dmc/quadruped-walk",
    "dmc/walker-run",
)
"""The eight tasks on which the paper trains SAC from state."""


def make(task: str, *, seed: int, action_repeat: int = 1, render: bool = False) -> Env:
    """Return an environment with flat float32 observations and actions in [-1, 1].

    Args:
        task: ``dmc/<domain>-<task>``, ``gym/<id>``, ``probe/<name>``, or
            ``package.module:function`` for a function of your own that takes ``seed`` and returns
            a Gymnasium environment.
        seed: Starts every random stream of the environment; equal seeds, equal episodes.
        action_repeat: Simulator frames per step.
        render: Whether ``render()`` returns pictures, which needs a working OpenGL.
    """
    family, slash, name = str(task).partition("/")
    if slash and ":" not in family:
        if family not in FAMILIES:
            known = ", ".join(f"{f}/..." for f in FAMILIES)
            raise BadInputError("task", task, f"one of {known}", nearest(family, FAMILIES))
        module = importlib.import_module(f"lff.envs.{family}")
    elif ":" in family:
        module, name = importlib.import_module("lff.envs.own"), task
    else:
        remedy = "write dmc/cheetah-run, gym/HalfCheetah-v5 or package.module:make_env"
        raise BadInputError("task", task, "a family and a name", remedy)
    env: Env = module.make(name, seed=seed, action_repeat=action_repeat, render=render)
    return env
