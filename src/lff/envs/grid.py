"""The gridworlds as Gymnasium environments with five discrete actions.

    gymnasium.make("lff.envs.grid:lff/LavaGrid-v0", seed=0)
    gymnasium.make("lff.envs.grid:lff/Grid16SmoothObs-v0")

The part before the colon is what Gymnasium imports, and what registers both.  They are for agents
that take discrete actions; SAC and PPO of this package act in [-1, 1].
"""

from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from lff.core.errors import BadInputError
from lff.envs.base import check_seed
from lff.tabular import ObservedMDP, grid16_smooth, lava_grid
from lff.tabular.gridworld import EMPTY, GOAL, LAVA, START, WALL
from lff.tabular.gridworld import Lava as Lava

COLOURS = {
    EMPTY: (255, 255, 255),
    WALL: (128, 128, 128),
    LAVA: (214, 69, 65),
    GOAL: (67, 160, 71),
    START: (144, 202, 249),
}
AGENT = (33, 33, 33)
PIXELS = 8
"""Side of a cell in a frame."""
LAVA_STEPS = 200


class GridEnv(gymnasium.Env[NDArray[np.float32], np.int64]):
    """An exact MDP that is walked through: its observations, rewards and chances."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012  Gymnasium's own

    def __init__(
        self, task: ObservedMDP, *, render_mode: Literal["rgb_array"] | None = None
    ) -> None:
        if render_mode not in (None, "rgb_array"):
            raise BadInputError("render_mode", render_mode, "rgb_array or None", "use rgb_array")
        self.task, self.horizon, self.render_mode = task, task.horizon, render_mode
        low, high = float(task.obs.min()), float(task.obs.max())
        self.observation_space = spaces.Box(low, high, task.obs.shape[1:], np.float32)
        self.action_space = spaces.Discrete(task.mdp.actions)
        self._at: int | None = None
        self._time = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._time = 0
        self._at = int(self.np_random.choice(self.task.mdp.states, p=self.task.mdp.start))
        return self.task.obs[self._at].copy(), {"state": self._at}

    def step(
        self, action: np.int64 | int
    ) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Earn the reward of this cell and go on; an episode never terminates, only ends."""
        if self._at is None:
            raise BadInputError("step", "no episode", "called within one", "call reset() first")
        if not self.action_space.contains(action):
            raise BadInputError("action", action, "an integer from 0 to 4", "use action_space")
        mdp, sampled = self.task.mdp, self.task.sampled
        reward = float(mdp.R[self._at, action])
        chance = sampled.probability[self._at, action]
        slot = self.np_random.choice(len(chance), p=chance / chance.sum())
        self._at = int(sampled.next_state[self._at, action, slot])
        self._time += 1
        ended = self.horizon is not None and self._time >= self.horizon
        return self.task.obs[self._at].copy(), reward, False, ended, {"state": self._at}

    def render(self) -> NDArray[np.uint8] | None:
        if self.render_mode is None:
            return None
        grid = self.task.grid
        frame = np.array([[COLOURS[tile] for tile in row] for row in grid.tiles], dtype=np.uint8)
        frame = frame.repeat(PIXELS, axis=0).repeat(PIXELS, axis=1)
        if self._at is not None:
            row, column = divmod(self._at, grid.shape[1])
            top, left = PIXELS * row + 2, PIXELS * column + 2
            frame[top : top + PIXELS - 4, left : left + PIXELS - 4] = AGENT
        return frame


def make_lava(
    *, seed: int = 0, size: int = 64, lava: Lava = "absorbs", render_mode: Any = None
) -> GridEnv:
    """Return the maze of Figure 16; the seed draws the map."""
    grid = lava_grid(size, seed=check_seed(seed))
    mdp = grid.mdp(lava=lava)
    task = ObservedMDP(grid, mdp, grid.coordinates(), mdp.P, LAVA_STEPS)
    return GridEnv(task, render_mode=render_mode)


def make_grid16(*, seed: int = 0, render_mode: Any = None, **options: Any) -> GridEnv:
    """Return Grid16smoothobs; options are those of :func:`lff.tabular.grid16_smooth`."""
    return GridEnv(grid16_smooth(seed=check_seed(seed), **options), render_mode=render_mode)


gymnasium.register(id="lff/LavaGrid-v0", entry_point="lff.envs.grid:make_lava")
gymnasium.register(id="lff/Grid16SmoothObs-v0", entry_point="lff.envs.grid:make_grid16")
