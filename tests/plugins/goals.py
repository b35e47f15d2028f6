"""A goal task that is learned in seconds: a point on a square goes to where it is told."""

import gymnasium
import numpy as np
from gymnasium import spaces

LIMIT = 12
"""Steps of an episode; a point needs five at the most."""
NEAR = 0.2


class PointToGoal(gymnasium.Env):
    """The reward is 0 near the goal and -1 elsewhere, so that little is learned without HER."""

    def __init__(self, *, discrete=False):
        part = spaces.Box(-1.0, 1.0, (2,), np.float32)
        names = ("observation", "achieved_goal", "desired_goal")
        self.observation_space = spaces.Dict(dict.fromkeys(names, part))
        self.discrete = discrete
        self.action_space = spaces.Discrete(4) if discrete else spaces.Box(-1.0, 1.0, (2,))

    def reset(self, *, seed=None, options=None):  # noqa: ARG002
        super().reset(seed=seed)
        self.steps = 0
        self.point, self.goal = self.np_random.uniform(-1, 1, (2, 2)).astype(np.float32)
        return self._obs(), {}

    def step(self, action):
        move = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])[action] if self.discrete else action
        self.point = np.clip(self.point + 0.4 * np.asarray(move, np.float32), -1, 1)
        self.steps += 1
        reward = float(self.compute_reward(self.point, self.goal, {}))
        return self._obs(), reward, False, self.steps >= LIMIT, {"is_success": reward == 0}

    def compute_reward(self, achieved_goal, desired_goal, info):  # noqa: ARG002
        distance = np.linalg.norm(achieved_goal - desired_goal, axis=-1)
        return (distance < NEAR).astype(np.float32) - 1

    def _obs(self):
        return {"observation": self.point, "achieved_goal": self.point, "desired_goal": self.goal}


def success_rate(model, *, episodes=50):
    """Return in what share of the episodes the point is near its goal at the end."""
    env, found = PointToGoal(), 0
    for episode in range(episodes):
        (obs, _), ended = env.reset(seed=1000 + episode), False
        while not ended:
            action, _ = model.predict(obs, deterministic=True)
            obs, reward, _, ended, _ = env.step(action)
        found += reward == 0
    return found / episodes
