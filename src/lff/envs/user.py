"""Environments of your own: ``package.module:function``, called with ``seed``."""

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import gymnasium

from lff.core.checks import nearest
from lff.core.errors import BadInputError, BadTypeError
from lff.envs.base import check_seed
from lff.envs.gym import Adapter


def make(task: str, *, seed: int, action_repeat: int = 1, render: bool = False) -> Adapter:
    """Return what the function makes, adapted as Gymnasium's own environments are."""
    seed = check_seed(seed)
    function = _function(task)
    try:
        inspect.signature(function).bind(seed=seed)
    except TypeError:
        raise BadInputError("task", task, "a function that takes seed=", "add seed") from None
    except ValueError:
        pass  # a callable without a signature: let it try
    env = function(seed=seed)
    if not isinstance(env, gymnasium.Env):
        raise BadTypeError(f"what {task} returns", env, "a gymnasium.Env", "return one")
    if render and env.render_mode != "rgb_array":
        remedy = 'let the function set render_mode = "rgb_array"'
        raise BadInputError(f"the render_mode of {task}", env.render_mode, "rgb_array", remedy)
    return Adapter(env, task, seed=seed, action_repeat=action_repeat)


def _function(task: str) -> Callable[..., Any]:
    path, _, name = task.partition(":")
    try:
        module = importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{path}.".startswith(f"{error.name}."):
            raise  # a module that the function's module needs: its own error says more
        remedy = "start in its directory or install it"
        raise BadInputError("task", task, "package.module:function", remedy) from error
    function = getattr(module, name, None)
    if not callable(function):
        names = [n for n in dir(module) if not n.startswith("_") and callable(getattr(module, n))]
        remedy = nearest(name, names or ["package.module:make_env"])
        raise BadInputError("task", task, f"a function in {path}", remedy)
    return function  # type: ignore[no-any-return]
