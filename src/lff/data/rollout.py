"""Steps of some environments in lockstep, kept until they have been learned from.

Rows are ``(time, env)``.  A step without an action (an environment that only reset itself, under
Gymnasium's next-step mode) is not ``valid``.
"""

import numpy as np
import torch
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike
from torch import Tensor

from lff.core.checks import check_size


class Rollout:
    """Room for ``steps`` steps of ``envs`` environments."""

    obs: Float[Tensor, "time env obs"]
    """Observations as the networks see them."""
    action: Float[Tensor, "time env act"]
    """Actions as they were drawn, before the environment clips them."""
    reward: Float[Tensor, "time env"]
    next_obs: Float[Tensor, "time env obs"]
    """Observation that a step led to, as the networks are given it; kept where an episode was cut
    short, and at the last step: elsewhere it is the observation of the row below."""
    terminated: Bool[Tensor, "time env"]
    truncated: Bool[Tensor, "time env"]
    valid: Bool[Tensor, "time env"]

    def __init__(self, steps: int, *, envs: int, obs_dim: int, action_dim: int) -> None:
        self.steps, self.envs = check_size("steps", steps), check_size("envs", envs)
        self.at = 0
        self.obs = torch.zeros(steps, envs, obs_dim)
        self.action = torch.zeros(steps, envs, action_dim)
        self.reward = torch.zeros(steps, envs)
        self.next_obs = torch.zeros(steps, envs, obs_dim)
        self.terminated, self.truncated, self.valid = torch.zeros(3, steps, envs, dtype=torch.bool)
        # the same memory seen by numpy: writing one row through it is much cheaper
        self._views = {name: value.numpy() for name, value in self.state().items()}

    @property
    def full(self) -> bool:
        return self.at == self.steps

    def add(self, **columns: ArrayLike) -> None:
        """Store one step of every environment: all columns but ``next_obs``, by name."""
        for name, values in columns.items():
            self._views[name][self.at] = values
        self.at += 1

    def add_next_obs(self, next_obs: np.ndarray, where: np.ndarray) -> None:
        """Store the observations that the last added step led to, for these environments."""
        self._views["next_obs"][self.at - 1, where] = next_obs[where]

    def clear(self) -> None:
        """Make room; the rows stay readable until they are written again."""
        self.at = 0

    def state(self) -> dict[str, Tensor]:
        """Return everything a checkpoint must hold, but the position, as the live tensors."""
        names = ("obs", "action", "reward", "next_obs", "terminated", "truncated", "valid")
        return {name: getattr(self, name) for name in names}
