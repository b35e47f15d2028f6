"""The maps: what tiles and moves mean, the drawn mazes, and the published Grid16."""

import numpy as np
import pytest

from lff.core.errors import BadInputError
from lff.tabular import Grid, grid16_smooth, lava_grid, solve
from lff.tabular.gridworld import ACTIONS, WALL, smooth


def test_moves_on_a_small_map():
    grid = Grid(("S.#", "L.G"))
    assert ACTIONS == ("noop", "up", "down", "left", "right")
    assert grid.moves()[0].tolist() == [0, 0, 3, 0, 1]  # the border holds, lava can be entered
    assert grid.moves()[1].tolist() == [1, 1, 4, 0, 1]  # the wall to the right holds
    assert grid.moves()[2].tolist() == [2] * 5  # a wall leads to itself
    assert grid.moves()[3].tolist() == [3, 0, 3, 3, 4]
    assert grid.moves(absorbing="#L")[3].tolist() == [3] * 5


def test_the_chances_of_a_slip_include_the_chosen_action():
    mdp = Grid(("S.", ".G")).mdp(slip=0.2)
    P = mdp.P.matrix()
    # right from the corner: 0.8, and a fifth of 0.2 for each of five, of which three stay
    assert P[0, 4] == pytest.approx([0.12, 0.8 + 0.04, 0.04, 0])


def test_both_readings_of_lava():
    # with lava to the left and a goal to the right, no chance: what the lava cell is worth
    grid = Grid(("LSG",))
    absorbed, burnt = (solve(grid.mdp(slip=0, lava=lava)) for lava in ("absorbs", "burns"))
    assert absorbed[0] == pytest.approx(-10)
    # -1 now, 0 on the start tile, then 1 for ever
    assert burnt[0, 4] == pytest.approx(-1 + 0.9 * 0 + 0.81 * 10)
    assert burnt[2, 0] == absorbed[2, 0] == pytest.approx(10)


def test_where_episodes_start():
    grid = Grid(("SGL", "..#"))
    assert grid.mdp(start="tile").start.tolist() == [1, 0, 0, 0, 0, 0]
    assert grid.mdp(start="anywhere").start.tolist() == [0.25, 0.25, 0, 0.25, 0.25, 0]


def test_mazes_have_the_papers_shares_and_a_way_to_a_goal():
    grids = [lava_grid(seed=seed) for seed in range(5)]
    assert len({grid.tiles for grid in grids}) == 5
    assert lava_grid(seed=2) == grids[2]
    for grid in grids:
        counts = [int(grid.at(tile).sum()) for tile in "LWSG#"]
        assert counts == [1024, 0, 1, 8, 409]
        distance = grid.distance_to_goal()
        assert distance[grid.at("S")][0] > 0
        assert (distance[grid.at("G")] == 0).all()
        assert (distance[grid.at("#", "L")] == -1).all()
        # a neighbour on the way is one step nearer
        reached = np.flatnonzero(distance > 0)
        nearest = np.where(distance >= 0, distance, 10**6)[grid.moves()[reached]].min(axis=-1)
        assert (nearest == distance[reached] - 1).all()


def test_coordinates_span_the_square():
    x = Grid(("S..", "..G")).coordinates()
    assert x.dtype == np.float32
    assert x.tolist() == [[-1, -1], [-1, 0], [-1, 1], [1, -1], [1, 0], [1, 1]]


def test_grid16_is_the_published_one():
    task = grid16_smooth()
    grid, mdp = task.grid, task.mdp
    assert grid.shape == (16, 16)
    assert int(grid.at(WALL).sum()) == 51
    assert grid.cells()[grid.at("G")].tolist() == [[0, 0]]
    assert grid.cells()[grid.at("S")].tolist() == [[8, 8]]
    assert task.horizon == 50
    # reward by distance: 1 at the goal, 0 at the start and beyond
    assert mdp.R[grid.at("G")] == pytest.approx(1)
    assert mdp.R[grid.at("S")] == pytest.approx(0)
    assert mdp.R[1, 0] == pytest.approx(1 - 1 / 16)
    # golden values: mean Q* without and with entropy 0.1, the paper's "around 15"
    free = ~grid.at(WALL)
    assert solve(mdp)[free].mean() == pytest.approx(12.88, abs=0.01)
    assert solve(mdp, entropy=0.1)[free].mean() == pytest.approx(14.29, abs=0.01)
    assert solve(grid16_smooth(gamma=0.9).mdp)[free].mean() == pytest.approx(4.65, abs=0.01)
    assert solve(grid16_smooth(gamma=0.99).mdp)[free].mean() == pytest.approx(90.58, abs=0.01)


def test_grid16_observations_are_the_published_ones():
    obs = grid16_smooth().obs
    assert (obs.shape, obs.dtype) == ((256, 16), np.float32)
    assert obs.sum() == pytest.approx(-105.118, abs=1e-2)
    assert obs.std() == pytest.approx(0.475638, abs=1e-5)
    # smoothing makes neighbours alike, and walls, which lead to themselves, stay as drawn
    raw = grid16_smooth(smoothing=0)
    wall = raw.grid.at(WALL)
    np.testing.assert_allclose(obs[wall], raw.obs[wall], rtol=1e-5)
    assert np.abs(np.diff(obs, axis=0)).mean() < 0.5 * np.abs(np.diff(raw.obs, axis=0)).mean()


def test_smoothing_works_in_place():
    task = grid16_smooth(smoothing=0)
    mean = task.mdp.P.matrix().mean(axis=1)
    once = smooth(task.obs, task.mdp.P, sweeps=1)
    expected = task.obs.astype(np.float64)
    for state in range(256):  # cell 0 is new when cell 1 is made
        expected[state] = mean[state] @ expected
    np.testing.assert_allclose(once, expected, atol=1e-5)
    assert np.abs(once - mean @ task.obs).max() > 0.1  # not all at once


def test_both_readings_of_sampling():
    noisy, certain = grid16_smooth(), grid16_smooth(sampling="deterministic")
    np.testing.assert_allclose(noisy.sampled.matrix(), noisy.mdp.P.matrix())
    np.testing.assert_allclose(certain.mdp.P.matrix(), noisy.mdp.P.matrix())
    assert set(np.unique(certain.sampled.matrix())) == {0.0, 1.0}


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Grid(("S?G",)), r"a tile must be one of S G \. # L, got '\?'"),
        (lambda: Grid(("S#G",)), "goal must be reachable from the start"),
        (lambda: Grid(("SLG",)), "reachable"),
        (lambda: Grid(("S..", "G")), "of one length"),
        (lambda: Grid(()), "of one length"),
        (lambda: Grid(("..G",)), r"the start must be on the map \(S\)"),
        (lambda: Grid(("S..",)), r"the goal must be on the map \(G\)"),
        (lambda: Grid(("SG",)).mdp(lava="cold"), "lava must be"),
        (lambda: Grid(("SG",)).mdp(slip=1.5), r"must be in \[0, 1\], got 1.5"),
        (lambda: lava_grid(8, lava=0.9), "reachable|at most"),
        (lambda: lava_grid(4, lava=1.0), r"lava must be in \[0, 1\), got 1.0"),
        (lambda: lava_grid(2, goals=9), "tiles must be 4 at most"),
        (lambda: grid16_smooth(sampling="odd"), "sampling must be"),
    ],
)
def test_bad_maps_are_told_in_one_line(make, says):
    with pytest.raises(BadInputError, match=says) as told:
        make()
    assert "\n" not in str(told.value)
