"""Replay memories: numbered rows in a ring, their form in a checkpoint, and a ring of transitions.

Stores ``terminated``, never ``done``: a time limit ends an episode, not the future.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64, Num
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from lff.core.checks import check_size
from lff.core.errors import BadInputError

Array = NDArray[Any]
Entry = ArrayLike


class Batch(NamedTuple):
    """Transitions, one per row.  Time limits are not terminal.

    Observations are vectors of float32, or images (channel, height, width) of uint8, which stay
    uint8 until the network scales them.
    """

    obs: Num[Tensor, "batch *obs"]
    action: Float[Tensor, "batch act"]
    reward: Float[Tensor, " batch"]
    next_obs: Num[Tensor, "batch *obs"]
    terminated: Bool[Tensor, " batch"]


class Memory(ABC):
    """Rows of several columns in a ring: row n is stored at n % room and replaces an older one.

    A ring restored from the same rows therefore gives the same samples.
    """

    rows: int
    """How many rows were ever written."""
    _columns: dict[str, np.ndarray]

    @abstractmethod
    def begin(self, obs: Array) -> None:
        """Begin an episode with its first observation."""

    @abstractmethod
    def add(
        self, obs: Array, action: Array, reward: float, next_obs: Array, *, terminated: bool
    ) -> None:
        """Store one transition, in place of the oldest when full."""

    @abstractmethod
    def __len__(self) -> int: ...

    def _draw(self, size: int, generator: torch.Generator) -> Int64[Tensor, " batch"]:
        """Draw which transitions are in a batch."""
        if not len(self):
            raise BadInputError("replay", 0, "not empty", "add transitions first")
        return torch.randint(len(self), (size,), generator=generator)

    @abstractmethod
    def sample(self, size: int, generator: torch.Generator) -> Batch:
        """Return ``size`` transitions drawn uniformly with replacement, as a batch of training."""

    def peek(self, size: int, generator: torch.Generator) -> Batch:
        """Return the same as they are stored, without augmentation, for diagnostics."""
        return self.sample(size, generator)

    @property
    def _room(self) -> int:
        return len(next(iter(self._columns.values())))

    @property
    def kept_rows(self) -> int:
        """How many of the last rows a checkpoint must be able to restore."""
        return min(self.rows, self._room)

    def since(self, row: int) -> dict[str, np.ndarray]:
        """Return copies of the rows after number ``row``, oldest first, for storage."""
        places = np.arange(max(row, self.rows - self.kept_rows), self.rows) % self._room
        return {name: column[places] for name, column in self._columns.items()}

    def restore(
        self, parts: Iterable[Mapping[str, np.ndarray]], *, stored: int, total: int
    ) -> None:
        """Fill the ring from consecutive parts, oldest first, one at a time in memory.

        They have ``stored`` rows in all, the last of ``total`` ever written.
        """
        needed = min(total, self._room)
        if stored < needed:
            remedy = "restore from a checkpoint whose segments are all there"
            raise BadInputError("stored rows", stored, f"{needed} or more", remedy)
        number = total - stored
        for part in parts:
            count = len(next(iter(part.values())))
            skipped = min(max(0, total - needed - number), count)
            places = np.arange(number + skipped, number + count) % self._room
            for name, column in self._columns.items():
                column[places] = part[name][skipped:]
            number += count
        self._count(total)

    @abstractmethod
    def _count(self, total: int) -> None:
        """Set the counters of a ring whose rows have been restored."""


class Replay(Memory):
    """The last ``capacity`` transitions, sampled uniformly with replacement."""

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
        return min(self.rows, self.capacity)

    @property
    def total(self) -> int:
        """Number of transitions ever added: here a row is a transition."""
        return self.rows

    def begin(self, obs: Entry) -> None:
        """Do nothing: observations are stored whole."""

    def add(
        self, obs: Entry, action: Entry, reward: float, next_obs: Entry, *, terminated: bool
    ) -> None:
        row, values = self.rows % self.capacity, (obs, action, reward, next_obs, terminated)
        for column, value in zip(self._columns.values(), values, strict=True):
            column[row] = value
        self.rows += 1

    def sample(self, size: int, generator: torch.Generator) -> Batch:
        return self.at(self._draw(size, generator))

    def at(self, index: Int64[Tensor, " batch"]) -> Batch:
        """Return the transitions of these rows."""
        return Batch(*(rows.index_select(0, index) for rows in self.columns))

    def _count(self, total: int) -> None:
        self.rows = total
