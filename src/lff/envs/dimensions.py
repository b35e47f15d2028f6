"""How wide a task's observations and actions are: the simulator knows."""

import numpy as np

from lff.envs import make


def dimensions(task: str) -> tuple[int, int]:
    """Return the widths of observation and action, by making the environment once."""
    env = make(task, seed=0)
    try:
        return int(np.prod(env.observation_space.shape)), int(np.prod(env.action_space.shape))
    finally:
        env.close()
