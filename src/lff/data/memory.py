"""Interface of the replay memories: numbered rows in a ring, and how a checkpoint stores them."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from lff.core.errors import BadInputError
from lff.data.batch import Batch


class Memory(ABC):
    """Rows of several columns; number n stands in place n % room, in place of an older one.

    A ring restored from the same rows therefore gives the same samples.
    """

    rows: int
    """How many rows were ever written."""
    _columns: dict[str, np.ndarray]

    @abstractmethod
    def begin(self, obs: NDArray[Any]) -> None:
        """Begin an episode with its first observation."""

    @abstractmethod
    def add(
        self,
        obs: NDArray[Any],
        action: NDArray[Any],
        reward: float,
        next_obs: NDArray[Any],
        *,
        terminated: bool,
    ) -> None:
        """Store one transition, in place of the oldest when full."""

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

    def restore(self, arrays: Mapping[str, np.ndarray], *, total: int) -> None:
        """Fill the ring with its last rows, oldest first, ``total`` ever written."""
        stored = len(next(iter(arrays.values()), ()))
        self.restore_parts([arrays] if stored else [], stored=stored, total=total)

    def restore_parts(
        self, parts: Iterable[Mapping[str, np.ndarray]], *, stored: int, total: int
    ) -> None:
        """Fill the ring from consecutive parts, one at a time in memory, ``stored`` rows in all."""
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
