"""Random transitions, for tests of updates."""

import torch

from lff.data import Batch


def random_batch(generator, *, size, obs, act):
    return Batch(
        obs=torch.randn(size, obs, generator=generator),
        action=2 * torch.rand(size, act, generator=generator) - 1,
        reward=torch.randn(size, generator=generator),
        next_obs=torch.randn(size, obs, generator=generator),
        terminated=torch.rand(size, generator=generator) < 0.3,
    )
