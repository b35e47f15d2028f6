"""The DeepMind Control Suite, ``dmc/<domain>-<task>``: a thin wrapper.

    >>> env = make("cheetah-run", seed=0)
    >>> obs, _ = env.reset()
    >>> obs.shape, obs.dtype.name, env.action_space.shape
    ((17,), 'float32', (6,))

The seed reaches the task's random state, so that runs and evaluations see different episodes (in
the authors' code all of them share one stream).  A time limit truncates; an episode terminates
only where dm_control ends it with discount 0.
"""

import atexit
import logging
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from lff.core.errors import BadInputError
from lff.envs import base, rendering
from lff.envs.base import OLD_ATTRIBUTE, Obs, State, check_keys, check_seed
from lff.envs.names import missing_extra, unknown_task
from lff.envs.random_state import (
    generator_from_arrays,
    generator_to_arrays,
    legacy_from_arrays,
    legacy_to_arrays,
)


class _KnownNotice(logging.Filter):
    """Drops MuJoCo's notice about an old attribute of the suite's cheetah."""

    def filter(self, record: logging.LogRecord) -> bool:
        return OLD_ATTRIBUTE not in record.getMessage()


logging.getLogger("absl").addFilter(_KnownNotice())

FAMILY = "dmc"
# its episodes upload a terrain to the graphics memory, rendered or not
_NEEDS_GL = ("quadruped-escape",)


def make(task: str, *, seed: int, action_repeat: int = 1, render: bool = False) -> "ControlSuite":
    """Return ``<domain>-<task>`` of the suite."""
    if render:
        rendering.choose_backend()
    environment = load(task, seed=seed)
    return ControlSuite(environment, task, seed=seed, action_repeat=action_repeat, render=render)


def load(task: str, *, seed: int, family: str = FAMILY) -> Any:
    """Return dm_control's own environment; ``family`` is named in the error of an unknown task."""
    seed = check_seed(seed)
    if task in _NEEDS_GL:
        rendering.choose_backend()
        _check_backend(task)
    names = {f"{domain}-{name}": (domain, name) for domain, name in _suite().ALL_TASKS}
    if task not in names:
        raise unknown_task(family, task, names, of="dm_control.suite")
    domain, name = names[task]
    return _suite().load(domain, name, task_kwargs={"random": seed})


class ControlSuite(base.Env):
    """A task of dm_control.suite; observations are concatenated in the order of its spec."""

    can_save_state = True

    def __init__(
        self,
        environment: Any,
        task: str,
        *,
        seed: int,
        action_repeat: int,
        render: bool,
        family: str = FAMILY,
    ) -> None:
        self._env, self._name = environment, f"{family}/{task}"
        spec = environment.action_spec()
        # a motor without limits (lqr) has ±1e10 there: its unit is its range
        limited = np.broadcast_to(spec.maximum < 1e10, spec.shape)
        low, high = np.where(limited, spec.minimum, -1.0), np.where(limited, spec.maximum, 1.0)
        sizes = [int(np.prod(part.shape)) for part in environment.observation_spec().values()]
        obs_space = spaces.Box(-np.inf, np.inf, (sum(sizes),), np.float32)
        super().__init__(obs_space, low, high, action_repeat=action_repeat)
        self.action_space.seed(seed)
        self._obs: NDArray[np.float32] = np.zeros(sum(sizes), np.float32)
        self._touch()
        self._cameras: dict[str, rendering.Camera] = {}
        self.render_mode = "rgb_array" if render else None
        self.metadata = {
            "render_modes": ["rgb_array"],
            "render_fps": round(1 / environment.control_timestep()),
        }

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Obs, dict[str, Any]]:
        """Start an episode; a seed starts the task's random stream anew."""
        super().reset(seed=seed, options=options)
        if seed is not None:
            self._env.task.random.seed(check_seed(seed))
        self._obs = _flat(self._env.reset().observation)
        self._running = True
        self._refresh()
        return self._obs.copy(), {}

    def _frame(self, control: NDArray[Any]) -> tuple[Obs, float, bool, bool, dict[str, Any]]:
        step = self._env.step(control)
        self._obs = _flat(step.observation)
        terminated = step.last() and step.discount == 0
        truncated = step.last() and not terminated
        return self._obs.copy(), float(step.reward), terminated, truncated, {}

    def render(self) -> NDArray[np.uint8] | None:
        """Return the view of the task's first camera, 480 x 480 x 3."""
        if self.render_mode is None:
            return None
        physics = self._env.physics
        first = 0 if physics.model.ncam else -1
        return self._camera("video", width=480, height=480, camera=first).render(physics.data.ptr)

    def _camera(
        self, name: str, *, width: int, height: int, camera: int, fast: bool = False
    ) -> rendering.Camera:
        """Return the camera of this name, set up when it is first asked for."""
        if name not in self._cameras:
            self._cameras[name] = rendering.Camera(
                self._env.physics.model.ptr, width=width, height=height, camera=camera, fast=fast
            )
            # closed before the driver is (registered after it): or it prints errors at exit
            atexit.unregister(self.close)
            atexit.register(self.close)
        return self._cameras[name]

    def _refresh(self) -> None:
        for camera in self._cameras.values():
            camera.refresh()

    def close(self) -> None:
        """Free what the driver holds."""
        atexit.unregister(self.close)
        while self._cameras:
            self._cameras.popitem()[1].close()
        self._env.physics.free()

    def get_state(self) -> State:
        """Return simulation, task, random streams, counters and observation."""
        env = self._env
        return {
            **_physics_module().physics_to_arrays(env.physics.model.ptr, env.physics.data.ptr),
            **{f"task.{name}": np.array([value]) for name, value in _numbers(env.task).items()},
            **legacy_to_arrays(env.task.random, "random"),
            **generator_to_arrays(self.action_space.np_random, "action_space"),
            # dm_control keeps these two private, and offers nothing else to set them
            "counters": np.array([env._step_count, env._reset_next_step, self._running], np.int64),
            "obs": self._obs.copy(),
        }

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue where :meth:`get_state` of the same task, of any seed, was called."""
        check_keys(state, self.get_state())
        env = self._env
        _physics_module().physics_from_arrays(env.physics.model.ptr, env.physics.data.ptr, state)
        for name, value in _numbers(env.task).items():
            setattr(env.task, name, type(value)(state[f"task.{name}"][0]))
        legacy_from_arrays(env.task.random, "random", state)
        generator_from_arrays(self.action_space.np_random, "action_space", state)
        step_count, reset_next_step, running = (int(n) for n in state["counters"])
        env._step_count, env._reset_next_step = step_count, bool(reset_next_step)
        self._running = bool(running)
        self._obs = np.array(state["obs"], np.float32)
        self._refresh()

    def _touch(self) -> None:
        """Play one reset and take its draws back: some tasks set fields in their first only."""
        random = legacy_to_arrays(self._env.task.random, "random")
        self._env.reset()
        legacy_from_arrays(self._env.task.random, "random", random)
        self._env._reset_next_step = True

    def __str__(self) -> str:
        return self._name


def _flat(observation: Mapping[str, Any]) -> NDArray[np.float32]:
    parts = [np.ravel(part) for part in observation.values()]
    return np.concatenate(parts, dtype=np.float32, casting="same_kind")


def _numbers(task: Any) -> dict[str, Any]:
    """Return a task's fields that are numbers: the dog's weight and height, say."""
    fields = sorted(vars(task).items())
    return {name: value for name, value in fields if isinstance(value, int | float | np.number)}


def _suite() -> Any:
    try:
        with warnings.catch_warnings():
            # without a screen the first backend that dm_control tries says so
            warnings.filterwarnings("ignore", message=".*DISPLAY")
            from dm_control import suite
    except ModuleNotFoundError as error:
        raise missing_extra("dm_control", "dmc") from error
    return suite


def _check_backend(task: str) -> None:
    """Raise if dm_control was imported before the backend was chosen, and chose another."""
    _suite()
    from dm_control import _render

    chosen = rendering.choose_backend()
    if chosen != _render.BACKEND:
        remedy = f"set MUJOCO_GL={chosen} before the first environment is made"
        raise BadInputError(f"dm_control's backend for {task}", _render.BACKEND, chosen, remedy)


def _physics_module() -> Any:
    # imported late: it needs mujoco, which comes with the extra
    from lff.envs import physics

    return physics
