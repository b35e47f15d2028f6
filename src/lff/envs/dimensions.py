"""How large a task's observations and actions are: the simulator knows."""

import importlib

import numpy as np

from lff.envs import SEEN_THROUGH_A_CAMERA, family_module, make
from lff.envs.views import PixelView


def dimensions(task: str) -> tuple[int, int]:
    """Return the widths of observation and action, by making the environment once."""
    obs_shape, action_dim = shapes(task)
    return int(np.prod(obs_shape)), action_dim


def shapes(task: str, view: PixelView | None = None) -> tuple[tuple[int, ...], int]:
    """Return the shape of observations and the width of actions; this needs no OpenGL."""
    family, _, name = task.partition("/")
    if family in SEEN_THROUGH_A_CAMERA:
        found: tuple[tuple[int, ...], int]
        found = importlib.import_module(family_module(family)).shapes(name, view)
        return found
    env = make(task, seed=0, view=view)
    try:
        return tuple(env.observation_space.shape), int(np.prod(env.action_space.shape))
    finally:
        env.close()
