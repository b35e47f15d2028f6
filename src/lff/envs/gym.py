"""Gymnasium's environments with continuous actions, ``gym/<id>``, and those of your own.

    >>> env = make("HalfCheetah-v5", seed=0)
    >>> obs, _ = env.reset()
    >>> obs.shape, obs.dtype.name, env.can_save_state
    ((17,), 'float32', True)

The state of Gymnasium's own MuJoCo environments can be saved; of others only their authors know
what it is, so ``can_save_state`` is False unless they have ``get_state`` and ``set_state``.
"""

import atexit
import importlib
import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.wrappers import AddRenderObservation, OrderEnforcing, TimeLimit
from numpy.typing import NDArray

from lff.core import errors
from lff.core.checks import nearest
from lff.core.config import within
from lff.core.errors import BadInputError, BadTypeError, EnvCrashError, RunError, require_extra
from lff.core.imports import check_module, module_of
from lff.envs import base, rendering, states
from lff.envs.base import Info, Obs, Saved, State, check_seed, check_spaces

FAMILY = "gym"
_OWN_MUJOCO = "gymnasium.envs.mujoco."
_STATELESS = (TimeLimit, OrderEnforcing, AddRenderObservation)
"""Wrappers that keep nothing, but for the time limit's counter."""


def make(task: str, *, seed: int, action_repeat: int = 1, render: bool = False) -> "Adapter":
    """Return the environment that Gymnasium registers under the id ``task``."""
    seed, name = check_seed(seed), f"{FAMILY}/{task}"
    return Adapter(load(task, FAMILY, render=render), name, seed=seed, action_repeat=action_repeat)


def load(task: str, family: str, *, render: bool) -> gymnasium.Env[Any, Any]:
    """Return what Gymnasium makes of an id, ``module:Id`` for one that a module registers."""
    if module_of(f"{family}/{task}") is not None:
        check_module("task", task)
    # left out if not asked for: an environment may not take it, or choose by itself
    options: dict[str, Any] = {"render_mode": "rgb_array"} if render else {}
    name = f"{family}/{task}"
    with base.blame(name, "its constructor"):
        try:
            if _is_mujoco(task):
                require_extra("gym", "mujoco", "imageio", purpose=name)
                if render:
                    rendering.choose_backend()
            with known_notice_left_out() if _is_mujoco(task) else nullcontext():
                return gymnasium.make(task, **options, disable_env_checker=True)
        except gymnasium.error.UnregisteredEnv as error:
            module = task.rpartition(":")[0]
            names = [f"{module}:{known}" if module else known for known in gymnasium.registry]
            raise base.unknown_task(family, task, names, of="Gymnasium") from error
        except (gymnasium.error.DependencyNotInstalled, ModuleNotFoundError) as error:
            remedy, wanted = errors.one_line(error), "a task whose packages are installed"
            raise BadInputError("task", name, wanted, remedy) from error
        except gymnasium.error.Error as error:  # an id of another form
            remedy = errors.one_line(error) or "write gym/HalfCheetah-v5"
            raise BadInputError("task", name, "an id of Gymnasium's", remedy) from error


def make_own(task: str, *, seed: int, action_repeat: int = 1, render: bool = False) -> "Adapter":
    """Return what ``package.module:function``, called with ``seed``, makes, adapted likewise."""
    seed = check_seed(seed)
    function = _function(task)
    try:
        inspect.signature(function).bind(seed=seed)
    except TypeError:
        raise BadInputError("task", task, "a function that takes seed=", "add seed") from None
    except ValueError:
        pass  # a callable without a signature: let it try
    with base.blame(task, "its function"):
        env = function(seed=seed)
    if not isinstance(env, gymnasium.Env):
        raise BadTypeError(f"what {task} returns", env, "a gymnasium.Env", "return one")
    if render and env.render_mode != "rgb_array":
        remedy = 'let the function set render_mode = "rgb_array"'
        raise BadInputError(f"the render_mode of {task}", env.render_mode, "rgb_array", remedy)
    return Adapter(env, task, seed=seed, action_repeat=action_repeat)


def _function(task: str) -> Callable[..., Any]:
    check_module("task", task)
    path, _, name = task.partition(":")
    with base.blame(task, "the import of its module"):
        try:
            module = importlib.import_module(path)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{path}.".startswith(f"{error.name}."):
                raise  # a module that the function's module needs: its own error says more
            remedy = "install it, put it on PYTHONPATH, or add --path and its folder"
            raise BadInputError("task", task, "package.module:function", remedy) from error
    function = getattr(module, name, None)
    if not callable(function):
        names = [n for n in dir(module) if not n.startswith("_") and callable(getattr(module, n))]
        remedy = nearest(name, names or ["package.module:make_env"])
        raise BadInputError("task", task, f"a function in {path}", remedy)
    return function  # type: ignore[no-any-return]


class Adapter(base.Env):
    """Any Gymnasium environment with Box spaces, made flat, float32 and [-1, 1]."""

    def __init__(
        self, env: gymnasium.Env[Any, Any], name: str, *, seed: int, action_repeat: int
    ) -> None:
        action: Any = env.action_space
        space = self._space(env, name)
        super().__init__(space, action.low, action.high, action_repeat=action_repeat)
        self.action_space.seed(seed)
        self._env, self._name, self._action_dtype = env, name, action.dtype
        self._first_seed: int | None = seed
        self._obs: NDArray[Any] = np.zeros(space.shape, space.dtype)
        wrappers = _wrappers(env)
        self._limits = [w for w in wrappers if isinstance(w, TimeLimit)]
        plain = all(isinstance(w, _STATELESS) for w in wrappers)
        self._is_mujoco = plain and type(env.unwrapped).__module__.startswith(_OWN_MUJOCO)
        self._keeper: Any = None if self._is_mujoco else _keeper(env, plain=plain)
        self.can_save_state = self._is_mujoco or self._keeper is not None
        self.metadata, self.render_mode = env.metadata, env.render_mode
        self._drawn = False

    def _space(self, env: gymnasium.Env[Any, Any], name: str) -> spaces.Box:
        """Return the space of the adapted observations."""
        obs: Any = env.observation_space
        check_spaces(env, name, obs, env.action_space)
        low, high = (end.ravel().astype(np.float32) for end in (obs.low, obs.high))
        return spaces.Box(low, high, dtype=np.float32)

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Obs, Info]:
        if seed is None:
            seed = self._first_seed
        self._first_seed = None
        super().reset(seed=seed, options=options)
        given = None if seed is None else check_seed(seed)
        with base.blame(self._name, "reset"):
            obs, info = self._env.reset(seed=given, options=options)
        self._running = True
        return self._first(obs), info

    def _frame(self, control: NDArray[Any]) -> tuple[Obs, float, bool, bool, Info]:
        action = control.astype(self._action_dtype)
        try:  # not a context manager, which costs a microsecond at every step
            obs, reward, terminated, truncated, info = self._env.step(action)
        except (BadInputError, RunError):
            raise
        except Exception as error:
            raise EnvCrashError(self._name, "step", error) from error
        return obs, float(reward), bool(terminated), bool(truncated), info

    def _observed(self, obs: Any) -> Obs:
        self._obs = np.array(obs, dtype=np.float32).ravel()
        return self._obs.copy()

    def _first(self, obs: Any) -> Obs:
        """Return the first observation of an episode."""
        return self._observed(obs)

    def render(self) -> Any:
        frame = self._env.render()
        if not self._drawn:
            # closed before the driver is (registered after it): or it prints errors at exit
            atexit.register(self.close)
            self._drawn = True
        return frame

    def close(self) -> None:
        atexit.unregister(self.close)
        self._env.close()

    def get_state(self) -> State:
        """Return simulation, random streams, counters, observation and the environment's numbers.

        An environment of your own is asked for its state; its arrays get the prefix ``own.``.
        """
        if not self.can_save_state:
            return super().get_state()
        if self._first_seed is not None:  # no state exists before a reset: play one, undo its draws
            self._env.reset(seed=self._first_seed)
            self._env.unwrapped.np_random, _ = gymnasium.utils.seeding.np_random(self._first_seed)
            self._first_seed = None
        inside: Any = self._env.unwrapped
        if self._is_mujoco:
            own = states.physics_to_arrays(inside.model, inside.data)
            own |= states.fields_to_arrays(inside, "env", arrays=True)
        else:
            own = {f"own.{n}": np.asarray(v) for n, v in self._keeper.get_state().items()}
        elapsed = int(self._limits[0]._elapsed_steps or 0) if self._limits else 0
        return {
            **own,
            **states.generators_to_arrays(**self._generators),
            "counters": np.array([elapsed, self._running], np.int64),
            "obs": self._obs.copy(),
        }

    def set_state(self, state: Saved) -> None:
        inside: Any = self._env.unwrapped
        # what somebody's own environment keeps, and in which shapes, is its own business
        ours = {name: value for name, value in state.items() if not name.startswith("own.")}
        expected = self.get_state().items()
        base.check_keys(ours, {name: v for name, v in expected if not name.startswith("own.")})
        if self._is_mujoco:
            states.physics_from_arrays(inside.model, inside.data, state)
            states.fields_from_arrays(inside, "env", state, arrays=True)
        else:
            self._keeper.set_state(within(state, "own."))
        states.generators_from_arrays(state, **self._generators)
        elapsed, running = (int(n) for n in state["counters"])
        for limit in self._limits:
            vars(limit)["_elapsed_steps"] = elapsed  # typed as None there
        self._running = bool(running)
        self._obs = np.array(state["obs"], self._obs.dtype)

    @property
    def _generators(self) -> dict[str, np.random.Generator]:
        inside = self._env.unwrapped.np_random
        return {"np_random": inside, "action_space": self.action_space.np_random}

    def __str__(self) -> str:
        return self._name


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
        if base.OLD_ATTRIBUTE not in message:
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


def _keeper(env: gymnasium.Env[Any, Any], *, plain: bool) -> Any:
    """Return the object that saves the state of somebody's own environment, or None.

    ``plain``: the wrappers around it keep nothing but the time limit.
    """
    for candidate in (env, env.unwrapped) if plain else (env,):
        if hasattr(candidate, "get_state") and hasattr(candidate, "set_state"):
            return candidate if getattr(candidate, "can_save_state", True) else None
    return None
