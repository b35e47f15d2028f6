"""σ as the advisor would choose it for a task, from a batch of a random policy."""

import functools

import numpy as np
import torch

from lff.core.seeding import env_seed
from lff.envs import make
from lff.nn import advise_sigma

STEPS = 1_000
FOURIER_DIM = 128
"""Not that it matters: where to start does not depend on it."""


@functools.cache
def advised_sigmas(task: str) -> tuple[float, float]:
    """Return σ for the actor's and the critics' input; the same task gives the same numbers."""
    env = make(task, seed=env_seed(0, "advice"))
    rng = np.random.default_rng(0)
    obs, _ = env.reset(seed=env_seed(0, "advice"))
    seen, done = [], []
    for _ in range(STEPS):
        action = rng.uniform(-1, 1, env.action_space.shape or (1,)).astype(np.float32)
        seen.append(obs)
        done.append(action)
        obs, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            obs, _ = env.reset(seed=env_seed(1, "advice"))
    env.close()
    states = torch.from_numpy(np.stack(seen))
    both = torch.cat((states, torch.from_numpy(np.stack(done))), dim=-1)
    return _start(states), _start(both)


def _start(x: torch.Tensor) -> float:
    """Return the σ at which typical phases spread by 1 rad, to three digits."""
    return float(f"{advise_sigma(x, fourier_dim=FOURIER_DIM).bend:.3g}")
