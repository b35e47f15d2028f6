"""Sizes of a task's observations and actions, from its simulator."""

import numpy as np

from lff.envs import has_pixels, make
from lff.envs.views import PixelView


def dimensions(task: str) -> tuple[int, int]:
    """Return the widths of observation and action, by making the environment once."""
    obs_shape, action_dim = shapes(task)
    return int(np.prod(obs_shape)), action_dim


def shapes(task: str, view: PixelView | None = None) -> tuple[tuple[int, ...], int]:
    """Return the shape of observations and the width of actions; this needs no OpenGL."""
    if has_pixels(task):
        from lff.envs.dmc_pixels import shapes as pixel_shapes

        return pixel_shapes(task.partition("/")[2], view)
    env = make(task, seed=0, view=view)
    try:
        return tuple(env.observation_space.shape), int(np.prod(env.action_space.shape))
    finally:
        env.close()
