"""Grid16smoothobs, the gridworld of Figure 13: 256 cells seen through smooth random observations.

The name is of Kumar et al. (2021), whose public code has its parts but not the task itself; this
is the reconstruction that agrees with the paper's mean Q* of about 15 at γ = 0.95.  One oddity of
that code is kept because it shapes the observations, another is an option:

1. The smoothing works in place: a cell's new observation is used by the cells after it.
2. ``sampling="deterministic"``: transitions are sampled without the 5 % chance of another action
   that is part of the exact MDP, and hence of Q*.
"""

import random
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from lff.core.checks import check_choice, check_size
from lff.tabular.gridworld import GOAL, START, WALL, Grid, from_cells
from lff.tabular.mdp import MDP, Transitions

SIZE, OBS_DIM, WALL_SHARE, SLIP, SWEEPS = 16, 16, 0.2, 0.05, 10
GAMMA, HORIZON = 0.95, 50
Sampling = Literal["deterministic", "as the MDP"]


@dataclass(frozen=True, eq=False)
class ObservedMDP:
    """An exact MDP, what its states look like, and how transitions are drawn from it."""

    grid: Grid
    mdp: MDP
    obs: Float[np.ndarray, "state obs"]
    """Float32, one row per state."""
    sampled: Transitions
    """Transitions of the sampler: the MDP's unless the sampler is faulty."""
    horizon: int | None
    """Steps of an episode."""


def grid16_smooth(
    *,
    seed: int = 0,
    gamma: float = GAMMA,
    obs_dim: int = OBS_DIM,
    smoothing: int = SWEEPS,
    sampling: Sampling = "as the MDP",
) -> ObservedMDP:
    """Build the task; its walls, goal and observations depend on the seed alone."""
    check_choice("sampling", sampling, ("deterministic", "as the MDP"))
    grid = _draw_grid(seed)
    steps = grid.moves()[..., None]
    certain = Transitions(steps, np.ones(steps.shape))
    noisy = certain.mixed(SLIP)
    cells = grid.cells()
    goal, start = (cells[grid.at(tile)][0] for tile in (GOAL, START))
    distance = np.abs(cells - goal).sum(axis=-1)
    reward = np.maximum(0.0, 1 - distance / np.abs(start - goal).sum())
    mdp = MDP(noisy, reward, gamma, grid.at(START).astype(float))
    obs = np.random.RandomState(seed).randn(grid.states, check_size("obs_dim", obs_dim))
    obs = smooth(obs.astype(np.float32), noisy, sweeps=smoothing)
    return ObservedMDP(grid, mdp, obs, certain if sampling == "deterministic" else noisy, HORIZON)


def smooth(
    obs: Float[np.ndarray, "state obs"], P: Transitions, *, sweeps: int
) -> Float[np.ndarray, "state obs"]:
    """Replace each state's observation by the mean over its successors, in place, several times."""
    smoothed = obs.copy()
    actions = P.next_state.shape[1]
    mean = P.matrix().sum(axis=1) / actions
    for _ in range(sweeps):
        for state in range(len(smoothed)):
            smoothed[state] = mean[state].dot(smoothed)
    return smoothed


def _draw_grid(seed: int) -> Grid:
    """Draw walls and candidates for the goal, and take the one farthest from the start.

    Python's generator and this order of the draws make seed 0 the published grid.
    """
    rng = random.Random(seed)
    start = (SIZE // 2, SIZE // 2)
    cells = [(x, y) for x in range(SIZE) for y in range(SIZE)]
    free = [cell for cell in cells if cell != start]
    walls = rng.sample(free, int(SIZE * SIZE * WALL_SHARE))
    free = [cell for cell in free if cell not in walls]
    candidates = rng.sample(free, SIZE * SIZE // 4)
    goal = max(candidates, key=lambda cell: np.hypot(cell[0] - start[0], cell[1] - start[1]))
    # a drawn cell is (x, y), that is (column, row)
    placed: list[tuple[str, list[tuple[int, int]]]]
    placed = [(START, [start]), (WALL, walls), (GOAL, [goal])]
    return from_cells((SIZE, SIZE), [(t, [(y, x) for x, y in c]) for t, c in placed])
