"""Several environments in lockstep: in this process, in worker processes, or Gymnasium's.

    >>> from lff.envs import make
    >>> def task(seed):
    ...     return make("probe/two-step", seed=seed)
    >>> both = InProcess([EnvSlot(task, seed=0, index=i) for i in range(2)])
    >>> both.reset().shape
    (2, 1)
    >>> step = both.step(np.zeros((2, 1), np.float32))
    >>> step.next_obs.ravel(), step.terminated
    (array([1., 1.], dtype=float32), array([False, False]))

A step always has the observation that an action led to, also where the environment has been reset
since: its value is needed to bootstrap through a time limit.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from lff.core.config import within
from lff.core.errors import BadInputError
from lff.core.seeding import env_seed
from lff.envs.base import Action, Env, Obs, Saved, State, check_spaces

logger = logging.getLogger(__name__)


class VectorStep(NamedTuple):
    """One step of every environment, one row each."""

    obs: NDArray[np.float32]
    """Observations to act on next: the first of an episode, if one has begun."""
    next_obs: NDArray[np.float32]
    """Observations that the actions led to."""
    reward: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    valid: NDArray[np.bool_]
    """False where there was no action: the environment has only been reset."""
    frames: NDArray[np.int64]
    """Environment steps played."""

    @classmethod
    def of(cls, obs: Any, next_obs: Any, *numbers: Any) -> "VectorStep":
        """Return a step of actions alone, from rows of reward, terminated, truncated, frames."""
        *ends, frames = numbers
        kinds = (np.float32, np.float32, np.float64, bool, bool, bool, np.int64)
        columns = (obs, next_obs, *ends, np.ones(len(obs)), frames)
        return cls(*(np.array(row, kind) for row, kind in zip(columns, kinds, strict=True)))


class Vector(ABC):
    """Environments that are stepped together."""

    num_envs: int
    obs_dim: int
    action_dim: int
    can_resume: bool
    """Whether :meth:`set_state` brings them back to where they were."""

    @abstractmethod
    def reset(self) -> NDArray[np.float32]:
        """Begin the first episode of each; return the observations."""

    @abstractmethod
    def step(self, action: NDArray[np.float32]) -> VectorStep:
        """Play one action in each; an episode that ends is followed by the next."""

    @abstractmethod
    def get_state(self) -> State:
        """Return what :meth:`set_state` needs, as a flat dict of arrays."""

    @abstractmethod
    def set_state(self, state: Saved) -> None:
        """Continue where :meth:`get_state` was called."""

    @abstractmethod
    def close(self) -> None:
        """Close them."""


class EnvSlot:
    """One environment among several: begins its episodes, each with a seed of its own.

    An environment that cannot save its state is brought back by playing the actions of its episode
    again.
    """

    def __init__(self, make_env: Callable[[int], Env], *, seed: int, index: int) -> None:
        self.env = env = make_env(env_seed(seed, f"train/{index}"))
        self._seed, self.index = seed, index
        self._episode = -1
        self._actions: list[Action] = []
        self._obs: Obs = np.zeros(env.observation_space.shape, np.float32)

    def begin(self) -> Obs:
        """Begin the next episode."""
        self._episode += 1
        self._actions = []
        name = f"train/{self.index}/{self._episode}"
        self._obs, _ = self.env.reset(seed=env_seed(self._seed, name))
        return self._obs

    def step(self, action: Action) -> tuple[Obs, Obs, float, bool, bool, int]:
        """Return the next observation to act on, that which was led to, reward, ends, frames."""
        led_to, reward, terminated, truncated, info = self.env.step(action)
        if not self.env.can_save_state:
            self._actions.append(np.array(action))
        self._obs = led_to
        obs = self.begin() if terminated or truncated else led_to
        return obs, led_to, reward, terminated, truncated, info["frames"]

    def get_state(self) -> State:
        """Return the number of the episode, and the environment's state or its actions so far."""
        own: State = {"episode": np.array([self._episode], np.int64)}
        if self.env.can_save_state:
            return own | {f"env/{name}": value for name, value in self.env.get_state().items()}
        shape = (len(self._actions), *self.env.action_space.shape)
        actions = np.array(self._actions, np.float32).reshape(shape)
        return own | {"actions": actions, "obs": self._obs.copy()}

    def set_state(self, state: Saved) -> None:
        self._episode = int(state["episode"][0]) - 1
        self.begin()
        if self.env.can_save_state:
            self.env.set_state(within(state, "env/"))
            return
        for action in state["actions"]:
            self.step(action)
        if not np.array_equal(self._obs, state["obs"], equal_nan=True):
            logger.warning(
                "%s does not repeat itself from a seed: training goes on, but not bit for bit as "
                "it would have without the interruption",
                self.env,
            )


class InProcess(Vector):
    """Environments of this process, one after the other."""

    can_resume = True

    def __init__(self, slots: Sequence[EnvSlot]) -> None:
        self._slots = [*slots]
        self.num_envs = len(self._slots)
        first = self._slots[0].env
        self.obs_dim = int(np.prod(first.observation_space.shape))
        self.action_dim = int(np.prod(first.action_space.shape))

    def reset(self) -> NDArray[np.float32]:
        return np.stack([slot.begin() for slot in self._slots])

    def step(self, action: NDArray[np.float32]) -> VectorStep:
        results = [slot.step(one) for slot, one in zip(self._slots, action, strict=True)]
        return VectorStep.of(*zip(*results, strict=True))

    def get_state(self) -> State:
        return {
            f"{slot.index}/{name}": value
            for slot in self._slots
            for name, value in slot.get_state().items()
        }

    def set_state(self, state: Saved) -> None:
        for slot in self._slots:
            slot.set_state(within(state, f"{slot.index}/"))

    def close(self) -> None:
        for slot in self._slots:
            slot.env.close()


class FromGymnasium(Vector):
    """A ``gymnasium.vector.VectorEnv`` of any mode; actions in [-1, 1], flat float32 observations.

    Each mode of Gymnasium has the observation that an action led to somewhere else:

    next step   it is what ``step`` returns; the step after it only resets, and ignores its action
    same step   it is in ``info["final_obs"]``; ``step`` returns the next episode's first
    disabled    it is what ``step`` returns; the caller must reset

    It cannot save its state: a run that is resumed begins new episodes.
    """

    can_resume = False

    def __init__(self, envs: gymnasium.vector.VectorEnv[Any, Any, Any], *, seed: int) -> None:
        self._envs, self._seed = envs, seed
        action: Any = envs.single_action_space
        obs: Any = envs.single_observation_space
        check_spaces(envs, "the vector", obs, action)
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
        self._starts += 1
        obs, _ = self._envs.reset(seed=env_seed(self._seed, f"train/{self._starts}"))
        self._resetting = np.zeros(self.num_envs, bool)
        return self._flat(obs)

    def step(self, action: NDArray[np.float32]) -> VectorStep:
        obs, reward, terminated, truncated, info = self._envs.step(self._control(action))
        ended = np.logical_or(terminated, truncated)
        now = next_obs = self._flat(obs)
        valid = ~self._resetting
        if self._mode is AutoresetMode.NEXT_STEP:
            self._resetting = ended
        elif ended.any() and self._mode is AutoresetMode.SAME_STEP:
            next_obs = now.copy()
            for i in np.flatnonzero(ended):
                next_obs[i] = np.asarray(info["final_obs"][i], np.float32).ravel()
        elif ended.any():
            now = self._flat(self._envs.reset(options={"reset_mask": ended})[0])
        step = VectorStep.of(now, next_obs, reward, terminated, truncated, valid)
        return step._replace(valid=valid)

    def get_state(self) -> State:
        """Return the number of starts: more cannot be saved."""
        return {"starts": np.array([self._starts])}

    def set_state(self, state: Saved) -> None:
        """Let the next :meth:`reset`, which must follow, begin other episodes than before."""
        self._starts = int(state["starts"][0])

    def close(self) -> None:
        self._envs.close()

    def _control(self, action: NDArray[np.float32]) -> NDArray[Any]:
        unit = np.clip(action.astype(np.float64), -1.0, 1.0)
        unit = unit.reshape(self.num_envs, *self._low.shape)
        control: NDArray[Any] = self._low + (unit + 1.0) * 0.5 * (self._high - self._low)
        return control.astype(self._dtype)

    def _flat(self, obs: Any) -> NDArray[np.float32]:
        return np.array(obs, np.float32).reshape(self.num_envs, -1)
