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

from lff.core.errors import BadInputError, require_extra
from lff.envs import base, rendering, states
from lff.envs.base import OLD_ATTRIBUTE, Info, Obs, Saved, State, check_keys, check_seed

logging.getLogger("absl").addFilter(lambda record: OLD_ATTRIBUTE not in record.getMessage())

FAMILY = "dmc"
# its episodes upload a terrain to the graphics memory, rendered or not
_NEEDS_GL = ("quadruped-escape",)


def load(task: str, *, seed: int, family: str = FAMILY) -> Any:
    """Return dm_control's own environment; ``family`` is named in the error of an unknown task."""
    seed = check_seed(seed)
    if task in _NEEDS_GL:
        rendering.choose_backend()
        _check_backend(task)
    names = {f"{domain}-{name}": (domain, name) for domain, name in _suite().ALL_TASKS}
    if task not in names:
        raise base.unknown_task(family, task, names, of="dm_control.suite")
    domain, name = names[task]
    return _suite().load(domain, name, task_kwargs={"random": seed})


class ControlSuite(base.Env):
    """``<domain>-<task>`` of the suite; observations are concatenated in the order of its spec."""

    can_save_state = True
    family = FAMILY

    def __init__(
        self, task: str, *, seed: int, action_repeat: int = 1, render: bool = False
    ) -> None:
        if render:
            rendering.choose_backend()
        self._name = f"{self.family}/{task}"
        self._env = environment = load(task, seed=seed, family=self.family)
        spec = environment.action_spec()
        # a motor without limits (lqr) has ±1e10 there: its unit is its range
        limited = np.broadcast_to(spec.maximum < 1e10, spec.shape)
        low, high = np.where(limited, spec.minimum, -1.0), np.where(limited, spec.maximum, 1.0)
        sizes = [int(np.prod(part.shape)) for part in environment.observation_spec().values()]
        obs_space = spaces.Box(-np.inf, np.inf, (sum(sizes),), np.float32)
        super().__init__(obs_space, low, high, action_repeat=action_repeat)
        self.action_space.seed(seed)
        self._obs: NDArray[np.float32] = np.zeros(sum(sizes), np.float32)
        # play one reset and undo its draws: some tasks set fields in their first only
        random = states.legacy_to_arrays(environment.task.random, "random")
        environment.reset()
        states.legacy_from_arrays(environment.task.random, "random", random)
        environment._reset_next_step = True
        self._cameras: dict[str, rendering.Camera] = {}
        self.render_mode = "rgb_array" if render else None
        rate = round(1 / environment.control_timestep())
        self.metadata = {"render_modes": ["rgb_array"], "render_fps": rate}

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Obs, Info]:
        super().reset(seed=seed, options=options)
        if seed is not None:
            self._env.task.random.seed(check_seed(seed))
        self._obs = _flat(self._env.reset().observation)
        self._running = True
        self._refresh()
        return self._obs.copy(), {}

    def _frame(self, control: NDArray[Any]) -> tuple[Obs, float, bool, bool, Info]:
        step = self._env.step(control)
        self._obs = _flat(step.observation)
        terminated = step.last() and step.discount == 0
        truncated = step.last() and not terminated
        return self._obs.copy(), float(step.reward), terminated, truncated, {}

    def render(self) -> NDArray[np.uint8] | None:
        if self.render_mode is None:
            return None
        first = 0 if self._env.physics.model.ncam else -1
        return self._draw("video", size=480, camera=first)

    def _draw(self, name: str, *, size: int, camera: int, fast: bool = False) -> NDArray[np.uint8]:
        """Draw by the camera of this name, which is set up when it is first asked for."""
        physics = self._env.physics
        if name not in self._cameras:
            model = physics.model.ptr
            self._cameras[name] = rendering.Camera(model, size=size, camera=camera, fast=fast)
            # closed before the driver is (registered after it): or it prints errors at exit
            atexit.unregister(self.close)
            atexit.register(self.close)
        return self._cameras[name].render(physics.data.ptr)

    def _refresh(self) -> None:
        for camera in self._cameras.values():
            camera.refresh()

    def close(self) -> None:
        atexit.unregister(self.close)
        while self._cameras:
            self._cameras.popitem()[1].close()
        self._env.physics.free()

    def get_state(self) -> State:
        env = self._env
        return {
            **states.physics_to_arrays(env.physics.model.ptr, env.physics.data.ptr),
            **states.fields_to_arrays(env.task, "task"),
            **states.legacy_to_arrays(env.task.random, "random"),
            **states.generators_to_arrays(action_space=self.action_space.np_random),
            # dm_control keeps these two private, and offers nothing else to set them
            "counters": np.array([env._step_count, env._reset_next_step, self._running], np.int64),
            "obs": self._obs.copy(),
        }

    def set_state(self, state: Saved) -> None:
        check_keys(state, self.get_state())
        env = self._env
        states.physics_from_arrays(env.physics.model.ptr, env.physics.data.ptr, state)
        states.fields_from_arrays(env.task, "task", state)
        states.legacy_from_arrays(env.task.random, "random", state)
        states.generators_from_arrays(state, action_space=self.action_space.np_random)
        step_count, reset_next_step, running = (int(n) for n in state["counters"])
        env._step_count, env._reset_next_step = step_count, bool(reset_next_step)
        self._running = bool(running)
        self._obs = np.array(state["obs"], np.float32)
        self._refresh()

    def __str__(self) -> str:
        return self._name


make = ControlSuite


def _flat(observation: Mapping[str, Any]) -> NDArray[np.float32]:
    parts = [np.ravel(part) for part in observation.values()]
    return np.concatenate(parts, dtype=np.float32, casting="same_kind")


def _suite() -> Any:
    require_extra("dmc", "dm_control", "mujoco", purpose="the DeepMind Control Suite")
    with warnings.catch_warnings():
        # without a screen the first backend that dm_control tries says so
        warnings.filterwarnings("ignore", message=".*DISPLAY")
        from dm_control import suite
    return suite


def _check_backend(task: str) -> None:
    """Raise if dm_control was imported before the backend was chosen, and chose another."""
    _suite()
    from dm_control import _render

    chosen = rendering.choose_backend()
    if chosen != _render.BACKEND:
        remedy = f"set MUJOCO_GL={chosen} before the first environment is made"
        raise BadInputError(f"dm_control's backend for {task}", _render.BACKEND, chosen, remedy)
