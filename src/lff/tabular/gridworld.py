"""Gridworlds: maps of tiles and their exact MDPs.

    S start   G goal   . empty   # wall   L lava

Actions are no-op, up, down, left, right.  What cannot be entered (a wall, the border) leaves the
agent where it is.  The reward is that of the tile on which the action is taken.  A state is a
cell, row by row; walls are states too, which nothing enters and which lead to themselves.
"""

import contextlib
import math
import random
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int

from lff.core.checks import Interval, check_choice, check_number, check_size
from lff.core.errors import BadInputError
from lff.core.seeding import stream_seed
from lff.tabular.mdp import MDP, Transitions

START, GOAL, EMPTY, WALL, LAVA = TILES = "SG.#L"
ACTIONS = ("noop", "up", "down", "left", "right")
MOVES = np.array(((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)))
Lava = Literal["absorbs", "burns"]
"""Lava that is never left, or that only costs as long as the agent stands on it."""
Start = Literal["tile", "anywhere"]
"""Episodes begin on the start tile, or on any tile that is neither wall nor lava."""
Sampling = Literal["deterministic", "as the MDP"]
TRIES = 100
SIZE, OBS_DIM, WALL_SHARE, SLIP, SWEEPS = 16, 16, 0.2, 0.05, 10
GAMMA, HORIZON = 0.95, 50


@dataclass(frozen=True)
class Grid:
    """A map, a string for each row, with at least one start and a goal that can be reached.

    >>> Grid(("S.L", ".#G")).distance_to_goal()
    Traceback (most recent call last):
        ...
    lff.core.errors.BadInputError: the goal must be reachable from the start, got ('S.L', '.#G'); \
open a way without wall or lava
    >>> Grid(("S..", ".#G")).distance_to_goal().reshape(2, 3).tolist()
    [[3, 2, 1], [4, -1, 0]]
    """

    tiles: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "tiles", tuple(self.tiles))
        if not self.tiles or not self.tiles[0] or len({*map(len, self.tiles)}) != 1:
            remedy = "pad the short ones with #"
            raise BadInputError("the rows of a grid", self.tiles, "of one length", remedy)
        unknown = sorted({*"".join(self.tiles)} - {*TILES})
        if unknown:
            remedy = "start, goal, empty, wall, lava"
            raise BadInputError("a tile", unknown[0], f"one of {' '.join(TILES)}", remedy)
        for tile, name in ((START, "start"), (GOAL, "goal")):
            if not any(tile in row for row in self.tiles):
                raise BadInputError(f"the {name}", self.tiles, f"on the map ({tile})", "add one")
        if (self.distance_to_goal()[self.at(START)] < 0).all():
            remedy = "open a way without wall or lava"
            raise BadInputError("the goal", self.tiles, "reachable from the start", remedy)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.tiles), len(self.tiles[0])

    @property
    def states(self) -> int:
        """Number of cells."""
        return math.prod(self.shape)

    def at(self, *tiles: str) -> Bool[np.ndarray, "state"]:
        """Return which cells have one of these tiles."""
        cells = np.array([[*row] for row in self.tiles])
        return np.isin(cells, tiles).ravel()

    def cells(self) -> Int[np.ndarray, "state 2"]:
        """Return row and column of every state."""
        return np.stack(np.divmod(np.arange(self.states), self.shape[1]), axis=-1)

    def coordinates(self) -> Float[np.ndarray, "state 2"]:
        """Return row and column scaled to [-1, 1], as float32: the input of a network."""
        last = np.maximum(np.array(self.shape) - 1, 1)
        return np.asarray(2 * self.cells() / last - 1, dtype=np.float32)

    def moves(self, *, absorbing: str = WALL) -> Int[np.ndarray, "state action"]:
        """Return where each action leads, without slips; tiles of ``absorbing`` are never left."""
        cells = self.cells()
        wanted = cells[:, None] + MOVES
        inside = ((wanted >= 0) & (wanted < self.shape)).all(axis=-1)
        there = wanted.clip(0, np.array(self.shape) - 1) @ (self.shape[1], 1)
        here = np.arange(self.states)[:, None]
        stays = ~inside | self.at(WALL)[there] | self.at(*absorbing)[:, None]
        return np.where(stays, here, there)

    def distance_to_goal(self) -> Int[np.ndarray, "state"]:
        """Return the length of the shortest path without wall or lava; -1 if there is none."""
        closed = self.at(WALL, LAVA)
        moves = self.moves(absorbing=WALL + LAVA)
        distance = np.where(self.at(GOAL), 0, -1)
        for steps in range(1, self.states + 1):
            near = (distance[moves] == steps - 1).any(axis=-1) & (distance < 0) & ~closed
            if not near.any():
                break
            distance[near] = steps
        return distance

    def mdp(
        self,
        *,
        gamma: float = 0.9,
        slip: float = 0.2,
        lava: Lava = "absorbs",
        start: Start = "tile",
    ) -> MDP:
        """Return the exact MDP: +1 for each step on a goal, -1 for each on lava.

        ``slip`` is the chance that an action drawn from all, the chosen one included, replaces it.
        """
        check_choice("lava", lava, ("absorbs", "burns"))
        check_choice("start", start, ("tile", "anywhere"))
        moves = self.moves(absorbing=WALL + LAVA if lava == "absorbs" else WALL)[..., None]
        P = Transitions(moves, np.ones(moves.shape)).mixed(slip)
        reward = self.at(GOAL).astype(float) - self.at(LAVA)
        first = self.at(START) if start == "tile" else self.at(START, GOAL, EMPTY)
        return MDP(P, reward, gamma, first / first.sum())


def lava_grid(
    size: int = 64, *, seed: int = 0, lava: float = 0.25, wall: float = 0.1, goals: int = 8
) -> Grid:
    """Draw the maze of Figure 16: these shares of lava and wall, one start, a few goals.

    The paper gives the shares, not how many goals there are.  A map on which no goal can be reached
    is drawn again.

    >>> grid = lava_grid(seed=0)
    >>> grid.shape, int(grid.at(LAVA).sum()), int(grid.at(WALL).sum())
    ((64, 64), 1024, 409)
    """
    cells = check_size("size", size) ** 2
    share = Interval("[0, 1)", "use 0.25 for 25 %")
    for name, value in (("lava", lava), ("wall", wall)):
        share(name, check_number(name, value))
    counts = {LAVA: round(lava * cells), WALL: int(wall * cells)}
    counts |= {GOAL: check_size("goals", goals), START: 1}
    if sum(counts.values()) > cells:
        remedy = "use less lava, wall or goals, or a larger size"
        raise BadInputError("the tiles", counts, f"{cells} at most", remedy)
    rng = np.random.default_rng(stream_seed(seed, "lava grid"))
    flat = "".join(tile * count for tile, count in counts.items()).ljust(cells, EMPTY)
    for _ in range(TRIES):
        drawn = rng.permutation([*flat])
        with contextlib.suppress(BadInputError):
            return Grid(tuple("".join(row) for row in drawn.reshape(size, size)))
    remedy = "use less lava or wall, or more goals"
    raise BadInputError("the goal", f"lava {lava:g}, wall {wall:g}", "reachable", remedy)


@dataclass(frozen=True, eq=False)
class ObservedMDP:
    """An exact MDP, the observations of its states, and how transitions are sampled."""

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
    """Build Grid16smoothobs, the gridworld of Figure 13: 256 cells, smooth random observations.

    Its walls, goal and observations depend on the seed alone.  The name is of Kumar et al. (2021),
    whose public code has its parts but not the task itself; this is the reconstruction that agrees
    with the paper's mean Q* of about 15 at γ = 0.95.  One oddity of that code is kept because it
    shapes the observations, another is an option:

    1. The smoothing works in place: a cell's new observation is used by the cells after it.
    2. ``sampling="deterministic"``: transitions are sampled without the 5 % chance of another
       action that is part of the exact MDP, and hence of Q*.
    """
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
    mean = P.matrix().sum(axis=1) / P.next_state.shape[1]
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
    tiles = dict.fromkeys(walls, WALL) | {start: START, goal: GOAL}
    # a drawn cell is (x, y), that is (column, row)
    rows = ("".join(tiles.get((x, y), EMPTY) for x in range(SIZE)) for y in range(SIZE))
    return Grid(tuple(rows))
