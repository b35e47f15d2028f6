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
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lff.core.seeding import env_seed
from lff.envs.base import Action, Env, Obs, State

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
    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None:
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
        """Make an environment; its episodes depend on seed and index alone."""
        self.env = env = make_env(env_seed(seed, f"train/{index}"))
        self._seed, self._index = seed, index
        self._episode = -1
        self._actions: list[Action] = []
        self._obs: Obs = np.zeros(env.observation_space.shape, np.float32)

    def begin(self) -> Obs:
        """Begin the next episode."""
        self._episode += 1
        self._actions = []
        name = f"train/{self._index}/{self._episode}"
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

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue where :meth:`get_state` was called."""
        self._episode = int(state["episode"][0]) - 1
        self.begin()
        if self.env.can_save_state:
            inside = {n.removeprefix("env/"): v for n, v in state.items() if n.startswith("env/")}
            self.env.set_state(inside)
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
        """Hold the slots; no episode has begun yet."""
        self._slots = [*slots]
        self.num_envs = len(self._slots)
        first = self._slots[0].env
        self.obs_dim = int(np.prod(first.observation_space.shape))
        self.action_dim = int(np.prod(first.action_space.shape))
        self._valid = np.ones(self.num_envs, bool)

    def reset(self) -> NDArray[np.float32]:
        """Begin the first episode of each; return the observations."""
        return np.stack([slot.begin() for slot in self._slots])

    def step(self, action: NDArray[np.float32]) -> VectorStep:
        """Play one action in each; an episode that ends is followed by the next."""
        results = [slot.step(one) for slot, one in zip(self._slots, action, strict=True)]
        obs, led_to, reward, terminated, truncated, frames = zip(*results, strict=True)
        return VectorStep(
            np.array(obs),
            np.array(led_to),
            np.array(reward, np.float64),
            np.array(terminated, bool),
            np.array(truncated, bool),
            self._valid,
            np.array(frames, np.int64),
        )

    def get_state(self) -> State:
        """Return the state of every slot, under its number."""
        return {
            f"{i}/{name}": value
            for i, slot in enumerate(self._slots)
            for name, value in slot.get_state().items()
        }

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue where :meth:`get_state` was called."""
        for i, slot in enumerate(self._slots):
            start = f"{i}/"
            slot.set_state(
                {n.removeprefix(start): v for n, v in state.items() if n.startswith(start)}
            )

    def close(self) -> None:
        """Close every environment."""
        for slot in self._slots:
            slot.env.close()
