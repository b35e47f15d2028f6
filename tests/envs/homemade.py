"""Environments as a user would write them, for ``package.module:function``."""

import gymnasium
import numpy as np
from gymnasium import spaces


class Drift(gymnasium.Env):
    """A point that drifts; float64 observations and actions in [0, 10]."""

    observation_space = spaces.Box(-np.inf, np.inf, (2, 2), np.float64)
    action_space = spaces.Box(0.0, 10.0, (1,), np.float64)

    def reset(self, *, seed=None, options=None):  # noqa: ARG002
        super().reset(seed=seed)
        self.place = self.np_random.normal(size=(2, 2))
        return self.place.copy(), {}

    def step(self, action):
        self.place = self.place + action[0] + self.np_random.normal()
        return self.place.copy(), float(action[0]), False, False, {}


class SavedDrift(Drift):
    def get_state(self):
        return {"place": self.place.copy()}

    def set_state(self, state):
        self.place = state["place"].copy()


class Counting(gymnasium.Wrapper):
    """A wrapper with a state of its own."""


def plain(*, seed):
    return Drift()


def saved(*, seed):
    return gymnasium.wrappers.TimeLimit(SavedDrift(), 20)


def wrapped(*, seed):
    return Counting(SavedDrift())


def nothing(*, seed):
    return None


def dictionary(*, seed):
    env = Drift()
    env.observation_space = spaces.Dict({"place": Drift.observation_space})
    return env


def unbounded(*, seed):
    env = Drift()
    env.action_space = spaces.Box(-np.inf, np.inf, (1,))
    return env


NO_FUNCTION = 3
