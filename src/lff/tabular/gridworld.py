"""Gridworlds: a map of tiles, and the exact MDP that it means.

    S start   G goal   . empty   # wall   L lava

Actions are no-op, up, down, left, right.  What cannot be entered (a wall, the border) leaves the
agent where it is.  The reward is that of the tile on which the action is taken.  A state is a
cell, row by row; walls are states too, which nothing enters and which lead to themselves.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int

from lff.core.checks import check_choice, check_number, check_size
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
TRIES = 100


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
        """Check the map."""
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
        rows, columns = self.shape
        return rows * columns

    def at(self, *tiles: str) -> Bool[np.ndarray, "state"]:
        """Return which cells have one of these tiles."""
        cells = np.array([[*row] for row in self.tiles])
        return np.isin(cells, tiles).ravel()

    def cells(self) -> Int[np.ndarray, "state 2"]:
        """Return row and column of every state."""
        return np.stack(np.divmod(np.arange(self.states), self.shape[1]), axis=-1)

    def coordinates(self) -> Float[np.ndarray, "state 2"]:
        """Return row and column scaled to [-1, 1], as float32: what a network is shown."""
        rows, columns = self.shape
        return (2 * self.cells() / np.maximum((rows - 1, columns - 1), 1) - 1).astype(np.float32)

    def moves(self, *, absorbing: str = WALL) -> Int[np.ndarray, "state action"]:
        """Return where each action leads without chance; tiles of ``absorbing`` are never left."""
        cells = self.cells()
        wanted = cells[:, None] + MOVES
        inside = ((wanted >= 0) & (wanted < self.shape)).all(axis=-1)
        there = wanted.clip(0, np.array(self.shape) - 1) @ (self.shape[1], 1)
        here = np.arange(self.states)[:, None]
        stays = ~inside | self.at(WALL)[there] | self.at(*absorbing)[:, None]
        return np.where(stays, here, there)

    def distance_to_goal(self) -> Int[np.ndarray, "state"]:
        """Return the length of the shortest way without wall or lava; -1 where there is none."""
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
    counts = {LAVA: round(_share("lava", lava) * cells), WALL: int(_share("wall", wall) * cells)}
    counts |= {GOAL: check_size("goals", goals), START: 1}
    if sum(counts.values()) > cells:
        remedy = "use less lava, wall or goals, or a larger size"
        raise BadInputError("the tiles", counts, f"{cells} at most", remedy)
    rng = np.random.default_rng(stream_seed(seed, "lava grid"))
    flat = "".join(tile * count for tile, count in counts.items()).ljust(cells, EMPTY)
    for _ in range(TRIES):
        drawn = rng.permutation([*flat])
        try:
            return Grid(tuple("".join(row) for row in drawn.reshape(size, size)))
        except BadInputError:
            continue
    remedy = "use less lava or wall, or more goals"
    raise BadInputError("the goal", f"lava {lava:g}, wall {wall:g}", "reachable", remedy)


def _share(name: str, value: float) -> float:
    if not 0 <= check_number(name, value) < 1:
        raise BadInputError(name, value, "a share in [0, 1)", "use 0.25 for 25 %")
    return value


def from_cells(
    shape: tuple[int, int], placed: Sequence[tuple[str, Sequence[tuple[int, int]]]]
) -> Grid:
    """Return the map that is empty but for these tiles at (row, column)."""
    rows = [[EMPTY] * shape[1] for _ in range(shape[0])]
    for tile, cells in placed:
        for row, column in cells:
            rows[row][column] = tile
    return Grid(tuple("".join(row) for row in rows))
