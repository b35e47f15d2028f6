"""What doing nothing and doing anything are worth: returns to read every other return against.

Standing still scores about 500 on quadruped-walk: a curve without these two numbers says little.
"""

from pathlib import Path
from typing import Any

import numpy as np

from lff.core.seeding import env_seed
from lff.envs.base import Env
from lff.store import RunDir, read_json, write_json
from lff.training.evaluate import MakeEnv

FILE = "reference.json"


def reference_returns(make_env: MakeEnv, *, episodes: int, seed: int) -> dict[str, list[float]]:
    """Return the returns of some episodes of the uniform random policy and of the zero action."""
    found: dict[str, list[float]] = {}
    for policy in ("random", "zero"):
        env = make_env(env_seed(seed, f"reference/{policy}"))
        try:
            found[policy] = [
                _play(env, policy, env_seed(seed, f"reference/{policy}/{episode}"))
                for episode in range(episodes)
            ]
        finally:
            env.close()
    return found


def keep_reference(run: RunDir, make_env: MakeEnv, *, episodes: int, seed: int) -> None:
    """Write the returns into the run directory, once."""
    path = run.evaluations / FILE
    if not path.exists():
        write_json(path, reference_returns(make_env, episodes=episodes, seed=seed))


def read_reference(folder: Path) -> dict[str, Any]:
    """Return what a run directory knows of them; empty if it knows nothing."""
    path = RunDir(folder).evaluations / FILE
    return read_json(path) if path.exists() else {}


def _play(env: Env, policy: str, seed: int) -> float:
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    size = env.action_space.shape or (1,)
    total, ended = 0.0, False
    while not ended:
        action = rng.uniform(-1, 1, size) if policy == "random" else np.zeros(size)
        _, reward, terminated, truncated, _ = env.step(action.astype(np.float32))
        total += reward
        ended = terminated or truncated
    return total
