"""A ring of transitions, sampled uniformly with replacement.

Stores ``terminated``, never ``done``: a time limit ends an episode, not the future.
"""

import torch
from jaxtyping import Int64
from numpy.typing import ArrayLike
from torch import Tensor

from lff.core.checks import check_size
from lff.core.errors import BadInputError
from lff.data.batch import Batch
from lff.data.memory import Memory


class Replay(Memory):
    """The last ``capacity`` transitions.

    ``total`` counts all transitions ever added.
    """

    def __init__(self, capacity: int, *, obs_dim: int, action_dim: int) -> None:
        self.capacity = check_size("capacity", capacity)
        self.rows = 0
        self.columns = Batch(
            obs=torch.empty(capacity, obs_dim),
            action=torch.empty(capacity, action_dim),
            reward=torch.empty(capacity),
            next_obs=torch.empty(capacity, obs_dim),
            terminated=torch.empty(capacity, dtype=torch.bool),
        )
        # the same memory seen by numpy: writing one row through it is much cheaper
        self._columns = {name: rows.numpy() for name, rows in self.columns._asdict().items()}

    def __len__(self) -> int:
        return min(self.total, self.capacity)

    @property
    def total(self) -> int:
        """Number of transitions ever added: here a row is a transition."""
        return self.rows

    def begin(self, obs: ArrayLike) -> None:
        """Do nothing: observations are stored whole."""

    def add(
        self,
        obs: ArrayLike,
        action: ArrayLike,
        reward: float,
        next_obs: ArrayLike,
        *,
        terminated: bool,
    ) -> None:
        row, columns = self.rows % self.capacity, self._columns
        columns["obs"][row] = obs
        columns["action"][row] = action
        columns["reward"][row] = reward
        columns["next_obs"][row] = next_obs
        columns["terminated"][row] = terminated
        self.rows += 1

    def sample(self, size: int, generator: torch.Generator) -> Batch:
        if not self.total:
            raise BadInputError("replay", 0, "not empty", "add transitions first")
        index = torch.randint(len(self), (size,), generator=generator)
        return self.at(index)

    def at(self, index: Int64[Tensor, " batch"]) -> Batch:
        """Return the transitions of these rows."""
        return Batch(*(rows.index_select(0, index) for rows in self.columns))

    def _count(self, total: int) -> None:
        self.rows = total
