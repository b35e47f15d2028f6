"""Environments that observe images, registered for ``gym-pixels/tests.envs.images:Id``."""

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.wrappers import AddRenderObservation


class Square(gymnasium.Env):
    """A bright square that the action moves along a dark strip; its state can be saved."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012
    action_space = spaces.Box(-2.0, 2.0, (1,))

    def __init__(self, render_mode=None, channels=3, height=12):
        self.render_mode = render_mode
        self.observation_space = spaces.Box(0, 255, (height, 24, channels), np.uint8)

    def reset(self, *, seed=None, options=None):  # noqa: ARG002
        super().reset(seed=seed)
        self.place = float(self.np_random.uniform(4, 16))
        return self._draw(), {}

    def step(self, action):
        self.place = float(np.clip(self.place + action[0], 0, 20))
        return self._draw(), -abs(self.place - 10), False, False, {}

    def _draw(self):
        image = np.full(self.observation_space.shape, 10, np.uint8)
        column = round(self.place)
        image[4:8, column : column + 4] = 250
        return image

    def render(self):
        return self._draw()

    def get_state(self):
        return {"place": np.array([self.place])}

    def set_state(self, state):
        self.place = float(state["place"][0])


class Broken(Square):
    """Fails at its seventh step."""

    steps = 0

    def step(self, action):
        self.steps += 1
        return *super().step(action)[:1], 1 / (7 - self.steps), False, False, {}


def reacher(render_mode="rgb_array"):
    """Gymnasium's Reacher through its own renderer, without shadows, which take most of a frame."""
    options = {"width": 48, "height": 40, "max_episode_steps": 25, "disable_env_checker": True}
    env = gymnasium.make("Reacher-v5", render_mode=render_mode, **options)
    quality = env.unwrapped.model.vis.quality
    quality.shadowsize = quality.offsamples = 0
    return AddRenderObservation(env)


def square(*, seed):
    return Square()


def broken(*, seed):
    return gymnasium.wrappers.FlattenObservation(Broken())


gymnasium.register("Square-v0", entry_point=Square, max_episode_steps=20)
gymnasium.register("Grey-v0", entry_point=Square, kwargs={"channels": 1}, max_episode_steps=20)
gymnasium.register("Stacked-v0", entry_point=Square, kwargs={"channels": 9})
gymnasium.register("Broken-v0", entry_point=Broken)
gymnasium.register("ReacherPixels-v0", entry_point=reacher)
