"""Running mean and variance of a stream of rows, and the scaling of observations and
rewards by them, as PPO's code bases do it; SAC normalises observations likewise.

    x -> clip((x - mean) / √(var + ε), ±10)                      observations
    r -> clip(r / √(var(R) + ε), ±10),   R_t = r_t + γ R_{t-1}   rewards, R from an episode's start

A loop acts after every step, one small row at a time, where numpy takes a third of torch's time;
the tensors of :meth:`~Moments.state` are the same memory.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

CLIP = 10.0
EPS = 1e-8

Array = NDArray[Any]


class Moments:
    """Mean and variance of the rows seen so far, in float64, merged by Chan's formula.

    What has not varied yet is shifted, not scaled.
    """

    def __init__(self, width: int) -> None:
        self.count, self.mean = np.zeros(1, np.int64), np.zeros(width)
        self.squares = np.zeros(width)
        self.shift, self.scale = np.zeros(width, np.float32), np.ones(width, np.float32)
        self.tensors = {name: torch.from_numpy(value) for name, value in vars(self).items()}

    def observe(self, rows: Array) -> None:
        """Update the statistics with rows, shape (row, width)."""
        here = len(rows)
        if not here:
            return
        before = int(self.count[0])
        after = before + here
        mean = rows[0].astype(np.float64) if here == 1 else rows.mean(axis=0, dtype=np.float64)
        gap = mean - self.mean
        if here > 1:
            self.squares += np.square(rows - mean).sum(axis=0)
        self.squares += gap * gap * (before * here / after)
        self.mean += gap * (here / after)
        self.count[0] = after
        if after > 1:
            self.shift[:] = self.mean
            spread = np.sqrt(self.squares / after + EPS)
            self.scale[:] = np.where(self.squares > 0, 1.0 / spread, 1.0)

    def normalize(self, rows: Array) -> NDArray[np.float32]:
        """Return the rows shifted, scaled and clipped."""
        scaled: NDArray[np.float32] = (rows - self.shift) * self.scale
        return np.minimum(np.maximum(scaled, -CLIP), CLIP)

    def normalize_tensor(self, x: Tensor) -> Tensor:
        """Return the same for a tensor, wherever it is."""
        shift, scale = (self.tensors[name].to(x.device) for name in ("shift", "scale"))
        return ((x - shift) * scale).clamp(-CLIP, CLIP)

    def state(self) -> dict[str, Tensor]:
        """Return everything a checkpoint must hold, as the live tensors."""
        return self.tensors


class RewardScale:
    """Divides rewards by the spread of the discounted sum of rewards."""

    def __init__(self, envs: int, *, gamma: float) -> None:
        self.gamma, self.moments, self.sums = gamma, Moments(1), np.zeros(envs)
        self._sums = torch.from_numpy(self.sums)

    @property
    def unit(self) -> float:
        """A scaled reward of 1 in the environment's own units."""
        return 1.0 / float(self.moments.scale[0])

    def __call__(
        self, reward: Array, ended: Array, valid: Array | None = None
    ) -> NDArray[np.float32]:
        """Update by one reward of each environment (each valid one); return them scaled."""
        self.sums *= self.gamma
        self.sums += reward
        sums = self.sums if valid is None or valid.all() else self.sums[valid]
        self.moments.observe(sums[:, None])
        self.sums[ended] = 0.0
        scaled: NDArray[np.float32] = (reward * self.moments.scale[0]).astype(np.float32)
        return np.minimum(np.maximum(scaled, -CLIP), CLIP)

    def state(self) -> dict[str, Tensor]:
        """Return everything a checkpoint must hold, as the live tensors."""
        return {"sums": self._sums, **self.moments.state()}
