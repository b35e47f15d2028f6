"""The environments that an on-policy loop steps together."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import gymnasium

from lff.core.errors import BadInputError
from lff.core.seeding import env_seed
from lff.envs.processes import Subprocesses
from lff.envs.vector import EnvSlot, FromGymnasium, InProcess, Vector
from lff.training.evaluate import MakeEnv

if TYPE_CHECKING:
    from lff.training.run import RunConfig

EnvFunction = Callable[[int], gymnasium.Env[Any, Any]]
VectorFunction = Callable[[int], gymnasium.vector.VectorEnv[Any, Any, Any]]


def make_vector(
    config: "RunConfig",
    make_env: MakeEnv,
    *,
    env_fn: EnvFunction | None = None,
    vector_fn: VectorFunction | None = None,
) -> Vector:
    """Return the environments of a run: in this process, in others, or the user's own vector."""
    seed, count, repeat = config.seed, config.num_envs, config.action_repeat
    if vector_fn is not None:
        return _from_gymnasium(vector_fn, config)
    if config.compute.envs == "processes":
        if env_fn is not None:
            remedy = 'name it: env="package.module:function"'
            raise BadInputError("env_fn", env_fn, "left out with processes", remedy)
        return Subprocesses(config.env, seed=seed, num_envs=count, action_repeat=repeat)
    return InProcess([EnvSlot(make_env, seed=seed, index=index) for index in range(count)])


def _from_gymnasium(vector_fn: VectorFunction, config: "RunConfig") -> Vector:
    vector = FromGymnasium(vector_fn(env_seed(config.seed, "train")), seed=config.seed)
    if vector.num_envs != config.num_envs or config.action_repeat != 1:
        wanted = f"of {config.num_envs} environments, without action repeat"
        vector.close()
        raise BadInputError("the vector", vector.num_envs, wanted, "set num_envs to its number")
    return vector
