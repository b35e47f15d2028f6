"""A ring of transitions, sampled uniformly with replacement.

Stores ``terminated``, never ``done``: a time limit ends an episode, not the future.
"""

from collections.abc import Iterable, Mapping

import numpy as np
import torch
from numpy.typing import ArrayLike

from lff.core.checks import check_size
from lff.core.errors import BadInputError
from lff.data.batch import Batch


class Replay:
    """The last ``capacity`` transitions.

    ``total`` counts all transitions ever added; number n stands in row n % capacity, so that a ring
    restored from the same transitions gives the same samples.
    """

    def __init__(self, capacity: int, *, obs_dim: int, action_dim: int) -> None:
        """Reserve the rows; memory is touched only as they fill."""
        self.capacity = check_size("capacity", capacity)
        self.total = 0
        self._rows = Batch(
            obs=torch.empty(capacity, obs_dim),
            action=torch.empty(capacity, action_dim),
            reward=torch.empty(capacity),
            next_obs=torch.empty(capacity, obs_dim),
            terminated=torch.empty(capacity, dtype=torch.bool),
        )
        # the same memory seen by numpy: writing one row through it is much cheaper
        self._views = {name: rows.numpy() for name, rows in self._rows._asdict().items()}

    def __len__(self) -> int:
        """Return how many transitions can be sampled."""
        return min(self.total, self.capacity)

    @property
    def rows(self) -> int:
        """How many rows were ever written: here a row is a transition."""
        return self.total

    @property
    def kept_rows(self) -> int:
        """How many of the last rows a checkpoint must be able to restore."""
        return len(self)

    def begin(self, obs: ArrayLike) -> None:
        """Hear that an episode begins; observations are stored whole, so nothing is to be done."""

    def add(
        self,
        obs: ArrayLike,
        action: ArrayLike,
        reward: float,
        next_obs: ArrayLike,
        *,
        terminated: bool,
    ) -> None:
        """Store one transition, in place of the oldest when full."""
        row, views = self.total % self.capacity, self._views
        views["obs"][row] = obs
        views["action"][row] = action
        views["reward"][row] = reward
        views["next_obs"][row] = next_obs
        views["terminated"][row] = terminated
        self.total += 1

    def sample(self, size: int, generator: torch.Generator) -> Batch:
        """Return ``size`` transitions drawn uniformly with replacement."""
        if not self.total:
            raise BadInputError("replay", 0, "not empty", "add transitions first")
        index = torch.randint(len(self), (size,), generator=generator)
        return Batch(*(rows.index_select(0, index) for rows in self._rows))

    def since(self, count: int) -> dict[str, np.ndarray]:
        """Return copies of the transitions after number ``count``, oldest first, for storage."""
        first = max(count, self.total - len(self))
        rows = np.arange(first, self.total) % self.capacity
        return {name: view[rows] for name, view in self._views.items()}

    def restore(self, arrays: Mapping[str, np.ndarray], *, total: int) -> None:
        """Fill the ring with its last transitions, oldest first, ``total`` ever added."""
        stored = len(next(iter(arrays.values()), ()))
        self.restore_parts([arrays] if stored else [], stored=stored, total=total)

    def restore_parts(
        self, parts: Iterable[Mapping[str, np.ndarray]], *, stored: int, total: int
    ) -> None:
        """Fill the ring from consecutive parts, one at a time in memory, ``stored`` rows in all."""
        needed = min(total, self.capacity)
        if stored < needed:
            remedy = "restore from a checkpoint whose segments are all there"
            raise BadInputError("stored transitions", stored, f"{needed} or more", remedy)
        write_ring(self._views, parts, first=total - stored, oldest=total - needed)
        self.total = total


def write_ring(
    ring: Mapping[str, np.ndarray],
    parts: Iterable[Mapping[str, np.ndarray]],
    *,
    first: int,
    oldest: int,
) -> None:
    """Write rows from number ``first`` on to their places, without those before ``oldest``."""
    for part in parts:
        count = len(next(iter(part.values())))
        skipped = min(max(0, oldest - first), count)
        for name, rows in ring.items():
            places = np.arange(first + skipped, first + count) % len(rows)
            rows[places] = part[name][skipped:]
        first += count
