"""Environments by name: ``make("dmc/cheetah-run", seed=0)``.

A family of tasks is one file of this room with ``FAMILY``, its name, and ``make(task, *, seed,
action_repeat, render)``, which takes ``view`` too if the family observes images.  Nothing else
lists it: the file, and the simulator behind it, are imported when one of its tasks is made.
"""

import importlib
import importlib.util
import inspect
import math
import pkgutil
from contextlib import closing, suppress
from types import ModuleType
from typing import Any

from lff.core.checks import nearest
from lff.core.errors import BadInputError
from lff.envs.base import Env, Reusable
from lff.envs.views import PixelView

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
"""The four tasks on which the paper trains SAC from pixels.  It does not say which of the finger's
tasks it means; ``dmc-pixels/finger-spin``, RAD's, is offered too."""


def families() -> tuple[str, ...]:
    """Return the names of all families, by importing every file of this room."""
    found = []
    for info in pkgutil.iter_modules(__path__, f"{__name__}."):
        with suppress(ImportError):  # a file that needs a simulator
            found.append(getattr(importlib.import_module(info.name), "FAMILY", None))
    return tuple(sorted(name for name in found if name))


def has_pixels(task: str) -> bool:
    """Return whether a task observes images: the ``make`` of its family takes a view."""
    module = _family(str(task).partition("/")[0])
    return module is not None and "view" in inspect.signature(module.make).parameters


def make(
    task: str,
    *,
    seed: int,
    action_repeat: int = 1,
    render: bool = False,
    view: PixelView | None = None,
) -> Env:
    """Return an environment with actions in [-1, 1] that observes flat float32 arrays or images.

    Args:
        task: ``dmc/<domain>-<task>``, ``dmc-pixels/<domain>-<task>``, ``gym/<id>``,
            ``gym-pixels/<id>``, ``probe/<name>``, or ``package.module:function`` for a function of
            your own that takes ``seed`` and returns a Gymnasium environment.
        seed: Starts every random stream of the environment; equal seeds, equal episodes.
        action_repeat: Simulator frames per step.
        render: Whether ``render()`` returns frames, which needs a working OpenGL.
        view: The observation of images; None: ``PixelView()``, the paper's.
    """
    family, slash, name = str(task).partition("/")
    if slash and ":" not in family:
        module = _family(family)
        if module is None:
            known = families()
            listed = ", ".join(f"{name}/..." for name in known)
            raise BadInputError("task", task, f"one of {listed}", nearest(family, known))
    elif ":" in family:
        module, name = importlib.import_module("lff.envs.gym"), task
    else:
        remedy = "write dmc/cheetah-run, gym/HalfCheetah-v5 or package.module:make_env"
        raise BadInputError("task", task, "a family and a name", remedy)
    options: dict[str, Any] = {"seed": seed, "action_repeat": action_repeat, "render": render}
    if has_pixels(task):
        options["view"] = view
    elif view is not None:
        remedy = "leave view out, or use dmc-pixels/... or gym-pixels/..."
        raise BadInputError("view", view, f"None for {task}, which observes no images", remedy)
    env: Env = (module.make_own if ":" in family else module.make)(name, **options)
    return env


def shapes(task: str, view: PixelView | None = None) -> tuple[tuple[int, ...], int]:
    """Return the shape of observations and the width of actions.

    The task is made once, unless its family has a ``shapes`` of its own, which needs no OpenGL.
    """
    family, _, name = str(task).partition("/")
    found = getattr(_family(family), "shapes", None)
    if found is not None:
        known: tuple[tuple[int, ...], int] = found(name, view)
        return known
    with closing(make(task, seed=0, view=view)) as env:
        return tuple(env.observation_space.shape), math.prod(env.action_space.shape)


def _family(family: str) -> ModuleType | None:
    """Return the file of a family, None if there is no such family."""
    name = f"{__name__}.{family.replace('-', '_')}"
    if not family.replace("-", "_").isidentifier() or importlib.util.find_spec(name) is None:
        return None
    module = importlib.import_module(name)
    return module if getattr(module, "FAMILY", None) == family else None
