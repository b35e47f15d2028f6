"""Gymnasium's environments that observe images, ``gym-pixels/<id>``.

Any environment with observations (height, width, channels) of bytes, one channel or three, and
bounded continuous actions.  Frames are resized to the side that the view asks for and stacked as
those of ``dmc-pixels/``: channels first, the newest last, the first one of an episode repeated.
"""

import importlib.util
from contextlib import suppress
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from lff.core.errors import BadInputError, require_extra
from lff.envs import gym, rendering
from lff.envs.base import Obs, check_seed, check_spaces, is_image
from lff.envs.views import PixelView

FAMILY = "gym-pixels"


def make(
    task: str,
    *,
    seed: int,
    action_repeat: int = 1,
    render: bool = False,
    view: PixelView | None = None,
) -> "PixelAdapter":
    """Return the environment that Gymnasium registers under the id ``task``."""
    seed, name = check_seed(seed), f"{FAMILY}/{task}"
    require_extra("dmc", "PIL", purpose=name)
    if importlib.util.find_spec("mujoco") is not None:
        with suppress(BadInputError):  # it may draw by something else
            rendering.choose_backend()
    env = gym.load(task, FAMILY, render=render)
    view = PixelView() if view is None else view
    return PixelAdapter(env, name, seed=seed, action_repeat=action_repeat, view=view)


class PixelAdapter(gym.Adapter):
    """An environment that observes images, as stacked frames."""

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        name: str,
        *,
        seed: int,
        action_repeat: int,
        view: PixelView,
    ) -> None:
        if view.camera is not None or view.fast_render:
            remedy = "leave them out: they are of dmc-pixels/ alone"
            raise BadInputError("camera and fast_render", view, f"unset for {name}", remedy)
        self.view = view
        super().__init__(env, name, seed=seed, action_repeat=action_repeat)
        renderer: Any = getattr(env.unwrapped, "mujoco_renderer", None)
        viewer = getattr(renderer, "viewer", None)
        if viewer is not None and "lookat" not in (renderer.default_cam_config or {}):
            # Gymnasium aims a free camera at where things were, unseeded, when it was made
            viewer.cam.lookat[:] = renderer.model.stat.center

    def _space(self, env: gymnasium.Env[Any, Any], name: str) -> spaces.Box:
        obs: Any = env.observation_space
        check_spaces(env, name, obs, env.action_space, pixels=True)
        if not is_image(obs) or len(obs.shape) != 3 or obs.shape[2] not in (1, 3):
            remedy = (
                f"use gym/{name.partition('/')[2]}, or wrap it in AddRenderObservation"
                if not is_image(obs)
                else "leave its own stacking or reordering of frames out"
            )
            wanted = "uint8 (height, width, 1 or 3)"
            raise BadInputError(f"the observations of {name}", obs, wanted, remedy)
        return spaces.Box(0, 255, self.view.shape, np.uint8)

    def _observed(self, obs: Any) -> Obs:
        self._obs = np.concatenate((self._obs[3:], self._image(obs)))
        return self._obs.copy()

    def _first(self, obs: Any) -> Obs:
        self._obs = np.tile(self._image(obs), (self.view.frame_stack, 1, 1))
        return self._obs.copy()

    def _image(self, obs: Any) -> NDArray[np.uint8]:
        """Return a frame of the view's size, 3 x size x size; grey becomes three channels."""
        from PIL import Image

        drawn, size = self.view.drawn_size, self.view.size
        image = Image.fromarray(np.asarray(obs).squeeze(2) if obs.shape[2] == 1 else obs)
        image = image.convert("RGB").resize((drawn, drawn), Image.Resampling.BOX)
        edge = (drawn - size) // 2
        return np.asarray(image)[edge : edge + size, edge : edge + size].transpose(2, 0, 1)
