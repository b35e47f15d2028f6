"""What a random policy sees: inputs of the networks before anything is learned."""

import torch
from torch import Tensor

from lff.core.seeding import env_seed, stream_seed
from lff.envs import make


def random_batch(task: str, *, steps: int, seed: int) -> tuple[Tensor, Tensor]:
    """Return observations and the uniform random actions taken there."""
    env = make(task, seed=env_seed(seed, "sigma"))
    stream = torch.Generator().manual_seed(stream_seed(seed, "sigma"))
    observations, actions = [], []
    try:
        obs, _ = env.reset()
        size = env.action_space.shape or (1,)
        for _ in range(steps):
            action = 2 * torch.rand(size, generator=stream) - 1
            observations.append(torch.as_tensor(obs).clone())
            actions.append(action)
            obs, _, terminated, truncated, _ = env.step(action.numpy())
            if terminated or truncated:
                obs, _ = env.reset()
    finally:
        env.close()
    return torch.stack(observations), torch.stack(actions)
