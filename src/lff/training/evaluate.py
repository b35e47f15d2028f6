"""Evaluation with the mean action, and the returns of the random and the zero policy.

Nothing here touches the training environment, its random streams or the agent's tensors: a run
with evaluations and one without are equal.  Standing still scores about 500 on quadruped-walk: a
curve without the two simple policies says little.
"""

import math
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lff.algos.base import Agent
from lff.core.seeding import env_seed, stream_seed
from lff.envs import Env, make
from lff.store import RunDir, write_json

MakeEnv = Callable[[int], Env]
Act = Callable[[np.ndarray], np.ndarray]


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
            "eval/q_minus_return": float(np.mean(np.subtract(self.q_start, self.discounted))),
        }


def evaluate(
    agent: Agent, env: Env, *, episodes: int, seed: int, env_step: int, act: Act | None = None
) -> Evaluation:
    """Play ``episodes`` episodes with the mean action, by ``act`` if it is given."""
    seeds = [env_seed(seed, f"evaluation/{env_step}/{episode}") for episode in range(episodes)]
    results = [_play(agent, env, seed, act) for seed in seeds]
    returns, lengths, q_start, discounted = zip(*results, strict=True)
    return Evaluation(returns, lengths, q_start, discounted, tuple(seeds))


def _play(agent: Agent, env: Env, seed: int, act: Act | None) -> tuple[float, int, float, float]:
    obs, _ = env.reset(seed=seed)
    generator = torch.Generator().manual_seed(seed)
    total, discounted, weight, length, q_start = 0.0, 0.0, 1.0, 0, 0.0
    ended = False
    while not ended:
        if act is None:
            x = torch.from_numpy(obs)
            action = agent.act(x, agent.explore(generator, greedy=True)).numpy()
        else:
            action = act(obs)
        if length == 0:
            q_start = agent.value(torch.from_numpy(obs), torch.from_numpy(action)).item()
        obs, reward, terminated, truncated, _ = env.step(action)
        total += reward
        discounted += weight * reward
        weight *= agent.config.gamma
        length += 1
        ended = terminated or truncated
    return total, length, q_start, discounted


LONGEST = 10_000
"""Actions after which an episode is left: some environments have no end of their own."""


def reference_returns(env: Env, *, episodes: int, seed: int) -> dict[str, list[float]]:
    """Return the returns of some episodes of the uniform random policy and of the zero action."""
    return {
        policy: [
            _play_simple(env, policy, env_seed(seed, f"reference/{policy}/{episode}"))
            for episode in range(episodes)
        ]
        for policy in ("random", "zero")
    }


def write_reference(run: RunDir, env: Env, *, episodes: int, seed: int) -> None:
    """Write the returns into the run directory, once; again if they may be damaged."""
    if not (run.reference_file.exists() and run.has_hash(run.reference_file)):
        found = reference_returns(env, episodes=episodes, seed=seed)
        finite = {p: [r if math.isfinite(r) else None for r in rs] for p, rs in found.items()}
        write_json(run.reference_file, finite)  # the loop reports an environment that gives NaN


def _play_simple(env: Env, policy: str, seed: int) -> float:
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    size = env.action_space.shape or (1,)
    total = 0.0
    for _ in range(LONGEST):
        action = rng.uniform(-1, 1, size) if policy == "random" else np.zeros(size)
        _, reward, terminated, truncated, _ = env.step(action.astype(np.float32))
        total += reward
        if terminated or truncated:
            break
    return total


def random_batch(task: str, *, steps: int, seed: int) -> tuple[Tensor, Tensor]:
    """Return observations and the uniform random actions taken there: inputs before training."""
    stream = torch.Generator().manual_seed(stream_seed(seed, "sigma"))
    observations, actions = [], []
    with closing(make(task, seed=env_seed(seed, "sigma"))) as env:
        obs, _ = env.reset()
        for _ in range(steps):
            action = 2 * torch.rand(env.action_space.shape or (1,), generator=stream) - 1
            observations.append(torch.as_tensor(obs).clone())
            actions.append(action)
            obs, _, terminated, truncated, _ = env.step(action.numpy())
            if terminated or truncated:
                obs, _ = env.reset()
    return torch.stack(observations), torch.stack(actions)
