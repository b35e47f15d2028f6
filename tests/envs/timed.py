"""A chain whose values are known, and shown: an observation is the value of where one stands.

From place k it goes on for LENGTH - k more steps with a reward of 1 each, so that
V(k) = (1 - γ^(LENGTH - k)) / (1 - γ); then it terminates.  A time limit may come first.  What is
seen at the end is WRONG, and must not be used; what is seen at a time limit is V, and must be.
"""

import gymnasium
import numpy as np
from gymnasium import spaces

GAMMA, LENGTH, LIMIT, WRONG = 0.9, 10, 4, 99.0


def value(place):
    return (1 - GAMMA ** (LENGTH - place)) / (1 - GAMMA)


class Chain(gymnasium.Env):
    observation_space = spaces.Box(-np.inf, np.inf, (1,), np.float32)
    action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(self, *, seed=None, options=None):  # noqa: ARG002
        super().reset(seed=seed)
        self.place = int(self.np_random.integers(LENGTH))
        return np.array([value(self.place)], np.float32), {}

    def step(self, action):  # noqa: ARG002
        self.place += 1
        ended = self.place == LENGTH
        seen = WRONG if ended else value(self.place)
        return np.array([seen], np.float32), 1.0, ended, False, {}


def chain(*, seed):
    return gymnasium.wrappers.TimeLimit(Chain(), LIMIT)
