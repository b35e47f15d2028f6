"""Which environments PPO's loop steps together, and where they live."""

from collections.abc import Callable
from typing import Any

import gymnasium

from lff.core.errors import BadInputError
from lff.core.seeding import env_seed
from lff.envs.autoreset import FromGymnasium
from lff.envs.processes import Subprocesses
from lff.envs.vector import EnvSlot, InProcess, Vector
from lff.training.any_config import AnyTrainConfig
from lff.training.evaluate import MakeEnv
from lff.training.ppo_config import PPOTrainConfig

EnvFunction = Callable[[int], gymnasium.Env[Any, Any]]
VectorFunction = Callable[[int], gymnasium.vector.VectorEnv[Any, Any, Any]]


def chosen_vector(
    config: AnyTrainConfig,
    make_env: MakeEnv,
    *,
    env_fn: EnvFunction | None = None,
    vector_fn: VectorFunction | None = None,
) -> Callable[[], Vector]:
    """Return what makes the environments of a run; whatever cannot be made is refused now."""
    if not isinstance(config, PPOTrainConfig):
        if vector_fn is not None:
            remedy = "leave it out; SAC acts in one environment"
            raise BadInputError("vector_fn", vector_fn, "given for PPO only", remedy)
        return _no_vector
    seed, count, repeat = config.seed, config.num_envs, config.action_repeat
    if vector_fn is not None:
        return lambda: _from_gymnasium(vector_fn, config)
    if config.vector == "processes":
        if env_fn is not None:
            remedy = 'name it: env="package.module:function"'
            raise BadInputError("env_fn", env_fn, "left out with processes", remedy)
        return lambda: Subprocesses(config.env, seed=seed, num_envs=count, action_repeat=repeat)
    return lambda: InProcess([EnvSlot(make_env, seed=seed, index=index) for index in range(count)])


def _from_gymnasium(vector_fn: VectorFunction, config: PPOTrainConfig) -> Vector:
    found = FromGymnasium(vector_fn(env_seed(config.seed, "train")), seed=config.seed)
    if found.num_envs != config.num_envs or config.action_repeat != 1:
        wanted = f"of {config.num_envs} environments, without action repeat"
        found.close()
        raise BadInputError("the vector", found.num_envs, wanted, "set num_envs to its number")
    return found


def _no_vector() -> Vector:
    raise AssertionError("SAC's loop makes its own environment")
