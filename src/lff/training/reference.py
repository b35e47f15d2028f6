"""Random- and zero-policy returns, to read every other return against.

Standing still scores about 500 on quadruped-walk: a curve without these two numbers says little.
"""

import math

import numpy as np

from lff.core.seeding import env_seed
from lff.envs.base import Env
from lff.store import RunDir, write_json

LONGEST = 10_000
"""Actions after which an episode is left: some environments have no end of their own."""


def reference_returns(env: Env, *, episodes: int, seed: int) -> dict[str, list[float]]:
    """Return the returns of some episodes of the uniform random policy and of the zero action."""
    return {
        policy: [
            _play(env, policy, env_seed(seed, f"reference/{policy}/{episode}"))
            for episode in range(episodes)
        ]
        for policy in ("random", "zero")
    }


def write_reference(run: RunDir, env: Env, *, episodes: int, seed: int) -> None:
    """Write the returns into the run directory, once."""
    if not run.reference_file.exists():
        found = reference_returns(env, episodes=episodes, seed=seed)
        finite = {p: [r if math.isfinite(r) else None for r in rs] for p, rs in found.items()}
        write_json(run.reference_file, finite)  # the loop reports an environment that gives NaN


def _play(env: Env, policy: str, seed: int) -> float:
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
