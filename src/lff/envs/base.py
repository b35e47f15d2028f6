"""The interface of every environment: array observations, actions in [-1, 1], a state to save.

A state is a flat dict of numpy arrays, so that a checkpoint can hold it without pickle.
"""

import difflib
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from lff.core.checks import check_size
from lff.core.errors import BadInputError, BadTypeError, EnvCrashError, RunError

Obs = NDArray[np.float32] | NDArray[np.uint8]
Action = NDArray[np.float32]
State = dict[str, NDArray[Any]]
Saved = Mapping[str, NDArray[Any]]
"""A state that was stored."""
Info = dict[str, Any]

# numpy's RandomState, which dm_control draws from, takes no larger seed
MAX_SEED = 2**32 - 1
OLD_ATTRIBUTE = "'settotalmass' is deprecated"
"""Part of a notice that MuJoCo prints for the cheetahs, and that users cannot fix."""


class Env(gymnasium.Env[Obs, Action]):
    """A Gymnasium environment with action repeat, whose state can be saved where possible.

    Actions are clipped to [-1, 1] and rescaled to the simulator's own range.  Rewards of repeated
    frames are summed; the repeat stops at the last frame of an episode, and ``info["frames"]``
    says how many were played.
    """

    can_save_state: bool
    """Whether :meth:`get_state` and :meth:`set_state` restore it bit for bit, mid-episode too."""
    action_repeat: int
    """Simulator frames per step."""

    def __init__(
        self, obs_space: spaces.Box, low: NDArray[Any], high: NDArray[Any], *, action_repeat: int
    ) -> None:
        self.action_repeat = check_size("action_repeat", action_repeat)
        self.observation_space: Any = obs_space
        self.action_space: Any = spaces.Box(-1.0, 1.0, low.shape, np.float32)
        self._low, self._high = low.astype(np.float64), high.astype(np.float64)
        self._rescale = bool((self._low != -1).any() or (self._high != 1).any())
        self._running = False

    @property
    def control_range(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The simulator's own range of actions, (low, high), that [-1, 1] is rescaled to."""
        return self._low.copy(), self._high.copy()

    def step(self, action: Action) -> tuple[Obs, float, bool, bool, Info]:
        """Play ``action_repeat`` frames with this action; return the last observation."""
        if not self._running:
            remedy = "call reset() first"
            raise BadInputError("step", "no running episode", "called within an episode", remedy)
        control = self._control(action)
        total = 0.0
        for frames in range(1, self.action_repeat + 1):  # noqa: B007
            obs, reward, terminated, truncated, info = self._frame(control)
            total += reward
            if terminated or truncated:
                self._running = False
                break
        return self._observed(obs), total, terminated, truncated, {**info, "frames": frames}

    @abstractmethod
    def _frame(self, control: NDArray[Any]) -> tuple[Obs, float, bool, bool, Info]:
        """Advance the simulator by one frame, with a control in its own range."""

    def _observed(self, obs: Obs) -> Obs:
        """Return the observation of a step, given its last frame's: a hook for pixels."""
        return obs

    def get_state(self) -> State:
        """Return everything the next frames depend on, as a flat dict of arrays."""
        remedy = "check can_save_state first"
        raise BadInputError("environment", self, "one that can save its state", remedy)

    @abstractmethod
    def set_state(self, state: Saved) -> None:
        """Continue where :meth:`get_state` of an equal environment, of any seed, was called."""

    def _control(self, action: Action) -> NDArray[Any]:
        value = np.asarray(action, dtype=np.float64)
        if value.shape != self._low.shape:
            wanted = f"an array of shape {self._low.shape}"
            raise BadInputError("action", value, wanted, "use env.action_space")
        value = np.minimum(np.maximum(value, -1.0), 1.0)  # half the time of np.clip at this size
        if self._rescale:
            value = self._low + (value + 1.0) * 0.5 * (self._high - self._low)
        return value


class Reusable:
    """One environment for many evaluations, each of which starts as if it were newly made.

    An environment that can save its state returns to its first one; any other is made again.
    """

    def __init__(self, make_env: Callable[[int], Env], *, seed: int) -> None:
        """Make the environment; ``env`` tells its spaces before the first use."""
        self._make_env = make_env
        self.env = make_env(seed)
        self._first = self.env.get_state() if self.env.can_save_state else None

    def fresh(self, seed: int) -> Env:
        """Return the environment in its first state; reset it with a seed before stepping."""
        if self._first is not None:
            self.env.set_state(self._first)
        else:
            self.env.close()
            self.env = self._make_env(seed)
        return self.env

    def close(self) -> None:
        """Close the environment."""
        self.env.close()


def check_seed(seed: object) -> int:
    """Return a seed that every simulator takes, or raise."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise BadTypeError("seed", seed, "an integer", "use for example seed=0")
    if not 0 <= seed <= MAX_SEED:
        raise BadInputError("seed", seed, f"in [0, {MAX_SEED}]", "use for example seed=0")
    return int(seed)


@contextmanager
def blame(name: str, doing: str) -> Iterator[None]:
    """Report an exception inside somebody's environment as one that is not ours."""
    try:
        yield
    except (BadInputError, RunError):
        raise
    except Exception as error:
        raise EnvCrashError(name, doing, error) from error


def is_image(obs: Any) -> bool:
    """Return whether a space is one of images: bytes, in rows and columns."""
    return isinstance(obs, spaces.Box) and obs.dtype == np.uint8 and len(obs.shape) > 1


def check_spaces(env: Any, name: str, obs: Any, action: Any, *, pixels: bool = False) -> None:
    """Refuse observations that are not a Box, and actions that are not a bounded one."""
    if is_image(obs) and not pixels:
        task = name.removeprefix("gym/")
        module = task if name != task else "module:Id, after you have registered it"
        remedy = f"use gym-pixels/{module}"
        raise BadInputError(f"the observations of {name}", obs, "vectors, not images", remedy)
    if not isinstance(action, spaces.Box) or not action.is_bounded():
        remedy = "use a task with bounded continuous actions, gym/Pendulum-v1, say"
        raise BadInputError(f"the actions of {name}", action, "a bounded Box", remedy)
    if not isinstance(obs, spaces.Box):
        vector = ".vector" if isinstance(env, gymnasium.vector.VectorEnv) else ""
        remedy = f"wrap it in gymnasium.wrappers{vector}.FlattenObservation"
        raise BadInputError(f"the observations of {name}", obs, "a Box", remedy)


def unknown_task(family: str, task: str, names: Iterable[str], *, of: str) -> BadInputError:
    """Return the error for a task that ``of`` does not have; it names up to three that it has."""
    known = sorted(names)
    close = difflib.get_close_matches(task, known, n=3, cutoff=0.4)
    listed = ", ".join(f"{family}/{name}" for name in close or known[:3])
    remedy = f"did you mean {listed}?" if close else f"use {listed}, say"
    if family.startswith("gym") and ":" not in task:
        remedy += f" An id that another package registers is {family}/module:{task}"
    return BadInputError("task", f"{family}/{task}", f"a task of {of}", remedy)


def check_keys(state: Saved, expected: Saved) -> None:
    """Raise unless ``state`` has the names and shapes of one that this environment would save."""
    remedy = "restore it into the task and library versions that saved it"
    if state.keys() != expected.keys():
        odd = sorted(state.keys() ^ expected.keys())
        raise BadInputError("state", odd, f"made of {', '.join(expected)}", remedy)
    for name, value in expected.items():
        if np.shape(state[name]) != value.shape:
            shape = np.shape(state[name])
            raise BadInputError(f"state[{name!r}]", shape, f"of shape {value.shape}", remedy)
