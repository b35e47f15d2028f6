"""Environments that a fault test names on the command line, ``tests.faults.environments:NAME``."""

import os
import signal
from pathlib import Path

import gymnasium
import numpy as np

from lff.core.seeding import env_seed

EPISODE = 35
BAD_STEP = 150
DYING_EVALUATION = env_seed(0, "evaluation/100/0")


class Swing(gymnasium.Env):
    """A noisy swing that cannot save its state."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,), np.float32)
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)
    episode = EPISODE

    def __init__(self):
        self.count = self.age = 0

    def reset(self, *, seed=None, options=None):  # noqa: ARG002
        super().reset(seed=seed)
        self.seed, self.place, self.count = seed, self.np_random.normal(size=2), 0
        return self.place.astype(np.float32), {}

    def step(self, action):
        angle, speed = self.place
        speed += 0.1 * (action[0] - np.sin(angle)) + 0.01 * self.np_random.normal()
        self.place = np.array([angle + 0.1 * speed, speed])
        self.count += 1
        self.age += 1
        obs, reward = self.spoil(self.place.astype(np.float32), float(np.cos(angle)))
        return obs, reward, False, self.count == self.episode, {}

    def spoil(self, obs, reward):
        return obs, reward


class SavedSwing(Swing):
    def get_state(self):
        return {"place": self.place.copy(), "count": np.array(self.count)}

    def set_state(self, state):
        self.place, self.count = state["place"].copy(), int(state["count"])


class Spoiled(Swing):
    """Good until a step of its life, then bad in one way."""

    def __init__(self, way):
        super().__init__()
        self.way = way

    def spoil(self, obs, reward):
        return self.way(obs, reward) if self.age >= BAD_STEP else (obs, reward)


class DiesInEvaluation(SavedSwing):
    """Kills its process in the middle of the first evaluation, once."""

    def spoil(self, obs, reward):
        scar = Path("scar")
        if self.seed == DYING_EVALUATION and self.count == 20 and not scar.exists():
            scar.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return obs, reward


def swing(*, seed):
    return Swing()


def saved(*, seed):
    return SavedSwing()


def dying(*, seed):
    return DiesInEvaluation()


def endless(*, seed):
    env = Swing()
    env.episode = -1
    return env


def bad_observation(*, seed):
    return Spoiled(lambda obs, reward: (obs * np.nan, reward))


def bad_reward(*, seed):
    return Spoiled(lambda obs, _: (obs, np.nan))


def float32_overflow(*, seed):
    """Finite for Python, infinite in the replay."""
    return Spoiled(lambda obs, _: (obs, 1e300))


def huge_reward(*, seed):
    """Finite in the replay; its square, in the loss, is not."""
    return Spoiled(lambda obs, _: (obs, 1e30))


def raising(*, seed):
    def fail(obs, reward):
        raise ArithmeticError("the swing broke")

    return Spoiled(fail)
