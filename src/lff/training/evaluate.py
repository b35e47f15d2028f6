"""Evaluation: the mean action, in an environment of its own, from seeds of its own.

Nothing here touches the training environment, its random streams or the agent's tensors: a run
with evaluations and one without are equal.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from lff.algos.base import Agent
from lff.core.seeding import env_seed
from lff.envs.base import Env

MakeEnv = Callable[[int], Env]


@dataclass(frozen=True)
class Evaluation:
    """Returns of some episodes, and the values that the critics gave at their start."""

    returns: tuple[float, ...]
    lengths: tuple[int, ...]
    q_start: tuple[float, ...]
    """min_i Q_i at the first state and action of each episode; V of the first state in PPO."""
    discounted: tuple[float, ...]
    """The discounted return that followed; Q also counts entropy and what lies beyond the limit."""
    seeds: tuple[int, ...]
    """The seed that each episode was reset with."""

    def metrics(self) -> dict[str, float]:
        """Return the means that go into the metrics file."""
        return {
            "eval/return": float(np.mean(self.returns)),
            "eval/return_std": float(np.std(self.returns)),
            "eval/length": float(np.mean(self.lengths)),
            "eval/q_start": float(np.mean(self.q_start)),
            "eval/q_bias": float(np.mean(np.subtract(self.q_start, self.discounted))),
        }


def evaluate(agent: Agent, env: Env, *, episodes: int, seed: int, env_step: int) -> Evaluation:
    """Play ``episodes`` episodes with the mean action."""
    seeds = [env_seed(seed, f"evaluation/{env_step}/{episode}") for episode in range(episodes)]
    results = [_play(agent, env, seed) for seed in seeds]
    returns, lengths, q_start, discounted = zip(*results, strict=True)
    return Evaluation(returns, lengths, q_start, discounted, tuple(seeds))


def _play(agent: Agent, env: Env, seed: int) -> tuple[float, int, float, float]:
    obs, _ = env.reset(seed=seed)
    generator = torch.Generator().manual_seed(seed)
    total, discounted, weight, length, q_start = 0.0, 0.0, 1.0, 0, 0.0
    ended = False
    while not ended:
        x = torch.from_numpy(obs)
        action = agent.act(x, agent.explore(generator, greedy=True))
        if length == 0:
            q_start = agent.value(x, action).item()
        obs, reward, terminated, truncated, _ = env.step(action.numpy())
        total += reward
        discounted += weight * reward
        weight *= agent.config.gamma
        length += 1
        ended = terminated or truncated
    return total, length, q_start, discounted
