"""The Control Suite from pixels, ``dmc-pixels/<domain>-<task>``.

An observation is the last ``frame_stack`` frames as one uint8 array, channels first: red, green
and blue of the oldest frame, ..., red, green and blue of the newest.  A frame is rendered once per
step, after the repeated actions; the first one of an episode fills the stack.
"""

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from lff.core.errors import BadInputError
from lff.envs import dmc, rendering
from lff.envs.base import Info, Obs, Saved, State
from lff.envs.views import PixelView

FAMILY = "dmc-pixels"


def shapes(task: str, view: PixelView | None = None) -> tuple[tuple[int, ...], int]:
    """Return the shape of observations and the width of actions; this needs no OpenGL."""
    view = PixelView() if view is None else view
    environment = dmc.load(task, seed=0, family=FAMILY)
    _check_camera(view, environment.physics.model, task)
    return view.shape, int(np.prod(environment.action_spec().shape))


class ControlSuitePixels(dmc.ControlSuite):
    """``<domain>-<task>`` of the suite, observed through a camera as stacked frames."""

    family = FAMILY

    def __init__(
        self,
        task: str,
        *,
        seed: int,
        action_repeat: int = 1,
        render: bool = False,
        view: PixelView | None = None,
    ) -> None:
        rendering.choose_backend()
        super().__init__(task, seed=seed, action_repeat=action_repeat, render=render)
        self.view = view = PixelView() if view is None else view
        self._camera_id = _check_camera(view, self._env.physics.model, task)
        self.observation_space = spaces.Box(0, 255, view.shape, np.uint8)
        self._frames = np.zeros(view.shape, np.uint8)
        edge = (view.drawn_size - view.size) // 2
        self._cut = slice(edge, edge + view.size)

    @property
    def state_obs(self) -> NDArray[np.float32]:
        """The current observation of ``dmc/...``."""
        return self._obs.copy()

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Obs, Info]:
        _, info = super().reset(seed=seed, options=options)
        self._frames[:] = np.tile(self.frame(), (self.view.frame_stack, 1, 1))
        return self._frames.copy(), info

    def _observed(self, obs: Obs) -> Obs:
        del obs  # the state, which ControlSuite keeps
        self._frames[:-3] = self._frames[3:]
        self._frames[-3:] = self.frame()
        return self._frames.copy()

    def frame(self) -> NDArray[np.uint8]:
        """Render the current frame: 3 x size x size, red, green, blue."""
        size, fast = self.view.drawn_size, self.view.fast_render
        frame = self._draw("obs", size=size, camera=self._camera_id, fast=fast)
        return frame[self._cut, self._cut].transpose(2, 0, 1)

    def get_state(self) -> State:
        return {**super().get_state(), "frames": self._frames.copy()}

    def set_state(self, state: Saved) -> None:
        super().set_state(state)
        self._frames[:] = state["frames"]


make = ControlSuitePixels


def _check_camera(view: PixelView, model: Any, task: str) -> int:
    """Return the camera's number, -1 (a free one) for a task that has none."""
    if not model.ncam and view.camera is None:
        return -1
    if view.camera_id >= model.ncam:
        names = ", ".join(
            f"{number} ({model.id2name(number, 'camera')})" for number in range(model.ncam)
        )
        raise BadInputError(
            "camera", view.camera, f"a camera of {task}", f"use {names}" if names else "leave it"
        )
    return view.camera_id
