"""Environments by name: ``make("dmc/cheetah-run", seed=0)``.

A family is a file of this room with ``make(task, *, seed, action_repeat, render)``, and ``view`` if
it observes pictures; it and the simulator behind it are imported when one of its tasks is made.
"""

import importlib
from typing import Any

from lff.core.checks import nearest
from lff.core.errors import BadInputError
from lff.envs.base import Env as Env
from lff.envs.views import PixelView as PixelView

FAMILIES = ("dmc", "dmc-pixels", "gym", "probe")
SEEN_THROUGH_A_CAMERA = ("dmc-pixels",)
"""The families that take a view."""
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
PAPER_PIXEL_TASKS = (
    "dmc-pixels/cheetah-run",
    "dmc-pixels/finger-turn_hard",
    "dmc-pixels/hopper-hop",
    "dmc-pixels/quadruped-run",
)
"""The four tasks on which the paper trains SAC from pictures.  It does not say which of the
finger's tasks it means; ``dmc-pixels/finger-spin``, RAD's own, is offered too."""


def is_seen(task: str) -> bool:
    """Tell whether a task is seen through a camera."""
    return str(task).partition("/")[0] in SEEN_THROUGH_A_CAMERA


def make(
    task: str,
    *,
    seed: int,
    action_repeat: int = 1,
    render: bool = False,
    view: PixelView | None = None,
) -> Env:
    """Return an environment with actions in [-1, 1] that observes flat float32 arrays or pictures.

    Args:
        task: ``dmc/<domain>-<task>``, ``dmc-pixels/<domain>-<task>``, ``gym/<id>``,
            ``probe/<name>``, or ``package.module:function`` for a function of your own that takes
            ``seed`` and returns a Gymnasium environment.
        seed: Starts every random stream of the environment; equal seeds, equal episodes.
        action_repeat: Simulator frames per step.
        render: Whether ``render()`` returns pictures, which needs a working OpenGL.
        view: What ``dmc-pixels/...`` observes; None: ``PixelView()``, the paper's.
    """
    family, slash, name = str(task).partition("/")
    if slash and ":" not in family:
        if family not in FAMILIES:
            known = ", ".join(f"{f}/..." for f in FAMILIES)
            raise BadInputError("task", task, f"one of {known}", nearest(family, FAMILIES))
        module = importlib.import_module(family_module(family))
    elif ":" in family:
        module, name = importlib.import_module("lff.envs.own"), task
    else:
        remedy = "write dmc/cheetah-run, gym/HalfCheetah-v5 or package.module:make_env"
        raise BadInputError("task", task, "a family and a name", remedy)
    options: dict[str, Any] = {"seed": seed, "action_repeat": action_repeat, "render": render}
    if family in SEEN_THROUGH_A_CAMERA:
        options["view"] = view
    elif view is not None:
        remedy = f"leave view out, or use {SEEN_THROUGH_A_CAMERA[0]}/..."
        raise BadInputError("view", view, f"None for {task}, which has no pictures", remedy)
    env: Env = module.make(name, **options)
    return env


def family_module(family: str) -> str:
    """Return the name of a family's file as a module."""
    return f"lff.envs.{family.replace('-', '_')}"
