"""Gymnasium's environments with continuous actions, ``gym/<id>``: MuJoCo v5 and any other.

    >>> env = make("HalfCheetah-v5", seed=0)
    >>> obs, _ = env.reset()
    >>> obs.shape, obs.dtype.name, env.can_save_state
    ((17,), 'float32', True)

The state of Gymnasium's own MuJoCo environments can be saved; of others only their authors know
what it is, so ``can_save_state`` is False unless they have ``get_state`` and ``set_state``.
"""

import atexit
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.wrappers import OrderEnforcing, TimeLimit
from numpy.typing import NDArray

from lff.core.errors import BadInputError
from lff.envs import base, rendering
from lff.envs.base import OLD_ATTRIBUTE, Obs, State, check_keys, check_seed
from lff.envs.names import missing_extra, unknown_task
from lff.envs.random_state import generator_from_arrays, generator_to_arrays

FAMILY = "gym"
_OWN_MUJOCO = "gymnasium.envs.mujoco."


def make(task: str, *, seed: int, action_repeat: int = 1, render: bool = False) -> "Adapter":
    """Return the environment that Gymnasium registers under the id ``task``."""
    seed = check_seed(seed)
    mode = "rgb_array" if render else None
    try:
        if render and _is_mujoco(task):
            rendering.choose_backend()
        with known_notice_left_out() if _is_mujoco(task) else nullcontext():
            env = gymnasium.make(task, render_mode=mode, disable_env_checker=True)
    except gymnasium.error.UnregisteredEnv as error:
        raise unknown_task("gym", task, gymnasium.registry, of="Gymnasium") from error
    except (gymnasium.error.DependencyNotInstalled, ModuleNotFoundError) as error:
        if _is_mujoco(task) or "mujoco" in str(error).lower():
            raise missing_extra("mujoco", "gym") from error
        raise BadInputError(
            "task", f"gym/{task}", "installed", " ".join(str(error).split())
        ) from error
    return Adapter(env, f"gym/{task}", seed=seed, action_repeat=action_repeat)


class Adapter(base.Env):
    """Any Gymnasium environment with Box spaces, made flat, float32 and [-1, 1]."""

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        name: str,
        *,
        seed: int,
        action_repeat: int,
    ) -> None:
        obs, action = _check_spaces(env, name)
        flat = spaces.Box(
            obs.low.ravel().astype(np.float32),
            obs.high.ravel().astype(np.float32),
            dtype=np.float32,
        )
        super().__init__(flat, action.low, action.high, action_repeat=action_repeat)
        self.action_space.seed(seed)
        self._env, self._name, self._action_dtype = env, name, action.dtype
        self._first_seed: int | None = seed
        self._obs = np.zeros(flat.shape, np.float32)
        self._is_mujoco = _is_own_mujoco(env)
        self._keeper = None if self._is_mujoco else _keeper(env)
        self.can_save_state = self._is_mujoco or self._keeper is not None
        self.metadata, self.render_mode = env.metadata, env.render_mode
        self._drawn = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Obs, dict[str, Any]]:
        """Start an episode; the first one uses the seed of ``make`` unless another is given."""
        if seed is None:
            seed = self._first_seed
        self._first_seed = None
        super().reset(seed=seed, options=options)
        obs, info = self._env.reset(
            seed=None if seed is None else check_seed(seed), options=options
        )
        self._obs = _flat(obs)
        self._running = True
        return self._obs.copy(), info

    def _frame(self, control: NDArray[Any]) -> tuple[Obs, float, bool, bool, dict[str, Any]]:
        obs, reward, terminated, truncated, info = self._env.step(
            control.astype(self._action_dtype)
        )
        self._obs = _flat(obs)
        return self._obs.copy(), float(reward), bool(terminated), bool(truncated), info

    def render(self) -> Any:
        """Return the frame of the wrapped environment."""
        frame = self._env.render()
        if not self._drawn:
            # closed before the driver is (registered after it): or it prints errors at exit
            atexit.register(self.close)
            self._drawn = True
        return frame

    def close(self) -> None:
        """Close the wrapped environment."""
        atexit.unregister(self.close)
        self._env.close()

    def get_state(self) -> State:
        """Return simulation, random streams, counters, observation and the environment's numbers.

        An environment of your own is asked for its state; its arrays get the prefix ``own.``.
        """
        if not self.can_save_state:
            raise self._no_state()
        self._touch()
        inside = self._env.unwrapped
        return {
            **(_mujoco_state(inside) if self._is_mujoco else _own_state(self._keeper)),
            **generator_to_arrays(inside.np_random, "np_random"),
            **generator_to_arrays(self.action_space.np_random, "action_space"),
            "counters": np.array([self._elapsed(), self._running], np.int64),
            "obs": self._obs.copy(),
        }

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue where :meth:`get_state` of the same task, of any seed, was called."""
        inside: Any = self._env.unwrapped
        # what somebody's own environment keeps, and in which shapes, is its own business
        ours = {name: value for name, value in state.items() if not name.startswith("own.")}
        expected = self.get_state().items()
        check_keys(ours, {name: v for name, v in expected if not name.startswith("own.")})
        if self._is_mujoco:
            _restore_mujoco(inside, state)
        elif self._keeper is not None:
            names = [name for name in state if name.startswith("own.")]
            self._keeper.set_state({name.removeprefix("own."): state[name] for name in names})
        generator_from_arrays(inside.np_random, "np_random", state)
        generator_from_arrays(self.action_space.np_random, "action_space", state)
        elapsed, running = (int(n) for n in state["counters"])
        for wrapper in _wrappers(self._env):
            if isinstance(wrapper, TimeLimit):
                vars(wrapper)["_elapsed_steps"] = elapsed  # typed as None there
        self._running = bool(running)
        self._obs = np.array(state["obs"], np.float32)

    def _touch(self) -> None:
        """Play a first reset if there was none, and take its draws back: no state exists before."""
        if self._first_seed is None:
            return
        seed = self._first_seed
        self._env.reset(seed=seed)
        self._env.unwrapped.np_random, _ = gymnasium.utils.seeding.np_random(seed)
        self._first_seed = None

    def _elapsed(self) -> int:
        limits = [w for w in _wrappers(self._env) if isinstance(w, TimeLimit)]
        return int(limits[0]._elapsed_steps or 0) if limits else 0

    def __str__(self) -> str:
        return self._name


def _check_spaces(env: gymnasium.Env[Any, Any], name: str) -> tuple[spaces.Box, spaces.Box]:
    obs, action = env.observation_space, env.action_space
    if not isinstance(action, spaces.Box) or not action.is_bounded():
        remedy = "use a task with bounded continuous actions, gym/Pendulum-v1, say"
        raise BadInputError(f"the actions of {name}", action, "a bounded Box", remedy)
    if not isinstance(obs, spaces.Box):
        remedy = "wrap the environment in gymnasium.wrappers.FlattenObservation"
        raise BadInputError(f"the observations of {name}", obs, "a Box", remedy)
    return obs, action


def _flat(obs: Any) -> NDArray[np.float32]:
    return np.array(obs, dtype=np.float32).ravel()


def _wrappers(env: gymnasium.Env[Any, Any]) -> list[gymnasium.Env[Any, Any]]:
    found: list[gymnasium.Env[Any, Any]] = []
    while isinstance(env, gymnasium.Wrapper):
        found.append(env)
        env = env.env
    return found


@contextmanager
def known_notice_left_out() -> Iterator[None]:
    """Drop MuJoCo's notice about an old attribute of Gymnasium's cheetah, which users cannot fix.

    MuJoCo writes it to the console and to MUJOCO_LOG.TXT; its other notices become warnings.
    """
    import mujoco

    def tell(message: str) -> None:
        if OLD_ATTRIBUTE not in message:
            warnings.warn(f"MuJoCo: {message.strip()}", RuntimeWarning, stacklevel=2)

    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(tell)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)


def _is_mujoco(task: str) -> bool:
    spec = gymnasium.registry.get(task)
    return spec is not None and str(spec.entry_point).startswith(_OWN_MUJOCO[:-1])


def _is_own_mujoco(env: gymnasium.Env[Any, Any]) -> bool:
    """Return whether nothing but Gymnasium's own code keeps state here."""
    return _plain(env) and type(env.unwrapped).__module__.startswith(_OWN_MUJOCO)


def _plain(env: gymnasium.Env[Any, Any]) -> bool:
    """Return whether the wrappers around an environment keep nothing but the time limit."""
    return all(isinstance(w, TimeLimit | OrderEnforcing) for w in _wrappers(env))


def _keeper(env: gymnasium.Env[Any, Any]) -> Any:
    """Return the object that saves the state of somebody's own environment, or None."""
    for candidate in (env, env.unwrapped) if _plain(env) else (env,):
        if hasattr(candidate, "get_state") and hasattr(candidate, "set_state"):
            return candidate if getattr(candidate, "can_save_state", True) else None
    return None


def _own_state(env: Any) -> State:
    return {f"own.{name}": np.asarray(value) for name, value in env.get_state().items()}


def _mujoco_state(env: Any) -> State:
    # imported late: it needs mujoco, which comes with the extra
    from lff.envs.physics import physics_to_arrays

    numbers = {f"env.{name}": np.array([value]) for name, value in _numbers(env).items()}
    return {**physics_to_arrays(env.model, env.data), **numbers}


def _restore_mujoco(env: Any, state: Mapping[str, NDArray[Any]]) -> None:
    from lff.envs.physics import physics_from_arrays

    physics_from_arrays(env.model, env.data, state)
    for name, value in _numbers(env).items():
        saved = state[f"env.{name}"][0]
        setattr(env, name, saved.copy() if isinstance(value, np.ndarray) else type(value)(saved))


def _numbers(env: Any) -> dict[str, Any]:
    """Return the fields of an environment that are numbers or arrays of them: goals, say."""
    return {
        name: value
        for name, value in sorted(vars(env).items())
        if isinstance(value, bool | int | float | np.number)
        or (isinstance(value, np.ndarray) and value.dtype.kind in "biuf")
    }
