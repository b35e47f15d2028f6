"""Gymnasium's vector environments, in each of their autoreset modes.

Gymnasium 1.1 and later have three modes, and in each the observation that an action led to is
somewhere else:

next step   it is what ``step`` returns; the step after it only resets, and its action is ignored
same step   it is in ``info["final_obs"]``; ``step`` returns the next episode's first
disabled    it is what ``step`` returns; the caller must reset
"""

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from lff.core.errors import BadInputError
from lff.core.seeding import env_seed
from lff.envs.base import State
from lff.envs.vector import Vector, VectorStep


class FromGymnasium(Vector):
    """A ``gymnasium.vector.VectorEnv`` of any mode; actions in [-1, 1], flat float32 observations.

    It cannot save its state: a run that is resumed begins new episodes.
    """

    can_resume = False

    def __init__(self, envs: gymnasium.vector.VectorEnv[Any, Any, Any], *, seed: int) -> None:
        """Look at the spaces and at the mode; nothing is reset yet."""
        self._envs, self._seed = envs, seed
        action, obs = envs.single_action_space, envs.single_observation_space
        if not isinstance(action, spaces.Box) or not action.is_bounded():
            remedy = "use tasks with bounded continuous actions"
            raise BadInputError("the actions of the vector", action, "a bounded Box", remedy)
        if not isinstance(obs, spaces.Box):
            remedy = "use gymnasium.wrappers.vector.FlattenObservation"
            raise BadInputError("the observations of the vector", obs, "a Box", remedy)
        mode = envs.metadata.get("autoreset_mode")
        if not isinstance(mode, AutoresetMode):
            remedy = 'set metadata["autoreset_mode"], as Gymnasium 1.1 and later do'
            raise BadInputError("the vector's autoreset mode", mode, "one of Gymnasium's", remedy)
        self._mode, self._dtype = mode, action.dtype
        self._low, self._high = action.low.astype(np.float64), action.high.astype(np.float64)
        self.num_envs = envs.num_envs
        self.obs_dim = int(np.prod(obs.shape))
        self.action_dim = int(np.prod(action.shape))
        self._resetting = np.zeros(self.num_envs, bool)
        self._starts = 0

    def reset(self) -> NDArray[np.float32]:
        """Begin the first episode of each; return the observations."""
        self._starts += 1
        obs, _ = self._envs.reset(seed=env_seed(self._seed, f"train/{self._starts}"))
        self._resetting = np.zeros(self.num_envs, bool)
        return self._flat(obs)

    def step(self, action: NDArray[np.float32]) -> VectorStep:
        """Play one action in each; an episode that ends is followed by the next."""
        obs, reward, terminated, truncated, info = self._envs.step(self._control(action))
        ended = np.logical_or(terminated, truncated)
        next_obs = self._flat(obs)
        valid = ~self._resetting
        if self._mode is AutoresetMode.NEXT_STEP:
            now = next_obs
            self._resetting = ended
        elif not ended.any():
            now = next_obs
        elif self._mode is AutoresetMode.SAME_STEP:
            now = next_obs.copy()
            for i in np.flatnonzero(ended):
                next_obs[i] = np.asarray(info["final_obs"][i], np.float32).ravel()
        else:
            reset, _ = self._envs.reset(options={"reset_mask": ended})
            now = self._flat(reset)
        return VectorStep(
            now,
            next_obs,
            np.asarray(reward, np.float64),
            np.asarray(terminated, bool),
            np.asarray(truncated, bool),
            valid,
            valid.astype(np.int64),
        )

    def get_state(self) -> State:
        """Return the number of starts: more cannot be saved."""
        return {"starts": np.array([self._starts])}

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Let the next :meth:`reset`, which must follow, begin other episodes than before."""
        self._starts = int(state["starts"][0])

    def close(self) -> None:
        """Close it."""
        self._envs.close()

    def _control(self, action: NDArray[np.float32]) -> NDArray[Any]:
        """Clip to [-1, 1] and rescale to the simulator's own range."""
        unit = np.clip(action.astype(np.float64), -1.0, 1.0)
        unit = unit.reshape(self.num_envs, *self._low.shape)
        return (self._low + (unit + 1.0) * 0.5 * (self._high - self._low)).astype(self._dtype)

    def _flat(self, obs: Any) -> NDArray[np.float32]:
        return np.array(obs, np.float32).reshape(self.num_envs, -1)
