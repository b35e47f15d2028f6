"""Running mean and variance of observations, and the normalisation by them.

    x -> clip((x - mean) / √(var + ε), ±10),    ε = 1e-8

Sums are kept in float64 and merged by Chan's formula, so that a million steps do not wash out the
small differences; what the networks see is computed from two float32 vectors that change in place.
"""

import torch
from jaxtyping import Float
from torch import Tensor

CLIP = 10.0
EPS = 1e-8


class RunningNorm:
    """Statistics of what has been observed.  The identity (up to the clip) before two rows."""

    def __init__(self, width: int, *, device: torch.device | None = None) -> None:
        """Start with nothing seen."""
        self.count = torch.zeros((), dtype=torch.int64, device=device)
        self.mean = torch.zeros(width, dtype=torch.float64, device=device)
        self.squares = torch.zeros(width, dtype=torch.float64, device=device)
        self.shift = torch.zeros(width, device=device)
        self.scale = torch.ones(width, device=device)

    def observe(self, x: Float[Tensor, "*batch width"]) -> None:
        """Take note of one row, or of a batch of them."""
        rows = x.reshape(-1, x.shape[-1]).double()
        mean = rows.mean(dim=0)
        before, here = int(self.count), len(rows)
        after = before + here
        gap = mean - self.mean
        self.squares += (rows - mean).square().sum(dim=0) + gap.square() * (before * here / after)
        self.mean += gap * (here / after)
        self.count += here
        if after > 1:
            self.shift.copy_(self.mean)
            self.scale.copy_((self.squares / after + EPS).rsqrt())

    def __call__(self, x: Float[Tensor, "*batch width"]) -> Float[Tensor, "*batch width"]:
        """Return the normalised observation."""
        return ((x - self.shift) * self.scale).clamp(-CLIP, CLIP)

    def state(self) -> dict[str, Tensor]:
        """Return everything a checkpoint must hold, as the live tensors."""
        return dict(vars(self))
