"""σ as the advisor would choose it for a task, from a batch of a random policy."""

import functools

import torch

from lff.auditing import advise_sigma
from lff.training.random_play import random_batch

STEPS = 1_000
FOURIER_DIM = 128
"""Not that it matters: where to start does not depend on it."""


@functools.cache
def advised_sigmas(task: str) -> tuple[float, float]:
    """Return σ for the actor's and the critics' input; the same task gives the same numbers."""
    obs, action = random_batch(task, steps=STEPS, seed=0)
    return _start(obs), _start(torch.cat((obs, action), dim=-1))


def _start(x: torch.Tensor) -> float:
    """Return the σ at which typical phases spread by 1 rad, to three digits."""
    return float(f"{advise_sigma(x, fourier_dim=FOURIER_DIM).bend:.3g}")
