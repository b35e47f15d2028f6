"""Fitted Q-iteration: batched equals alone, resumed equals whole, instruments know the truth."""

import dataclasses

import numpy as np
import pytest
import torch

from lff import Fourier, MLPTrunk, NetConfig
from lff.core.errors import BadInputError
from lff.nn import D2RLTrunk, LinearControl, effective_rank
from lff.regularizers import (
    Dropout,
    FunctionalRegularization,
    LayerNorm,
    SingularValuePenalty,
    SpectralNorm,
    WeightDecay,
)
from lff.tabular import (
    FQI,
    FQIConfig,
    Grid,
    Instruments,
    Learner,
    ObservedMDP,
    grid16_smooth,
    lava_grid,
    solve,
)
from lff.tabular.instruments import difference_of_penalties

SMALL = NetConfig(Fourier(fourier_dim=8, sigma=0.3), MLPTrunk((12, 12)))
CONFIG = FQIConfig(net=SMALL, gradient_steps=4, batch_size=16, samples=30)
EVERY_REGULARIZER = (
    Dropout(p=0.1, where="critic"),
    WeightDecay(coefficient=1e-3),
    LayerNorm(),
    SpectralNorm(),
    FunctionalRegularization(kappa=0.5),
)


def maze(seed: int) -> ObservedMDP:
    grid = lava_grid(8, seed=seed)
    mdp = grid.mdp(start="anywhere")
    return ObservedMDP(grid, mdp, grid.coordinates(), mdp.P, None)


@pytest.fixture(scope="module")
def grid16() -> ObservedMDP:
    return grid16_smooth()


@pytest.mark.parametrize(
    "config",
    [
        CONFIG,
        dataclasses.replace(CONFIG, net=NetConfig(trunk=MLPTrunk((12, 12))), data="full"),
        dataclasses.replace(
            CONFIG, net=NetConfig(LinearControl(fourier_dim=8, sigma=0.3), MLPTrunk((12, 12)))
        ),
        dataclasses.replace(CONFIG, regularizers=EVERY_REGULARIZER),
        dataclasses.replace(CONFIG, regularizers=(SingularValuePenalty(coefficient=0.1),)),
    ],
    ids=["LFF", "full", "linear", "regularizers", "singular"],
)
def test_three_seeds_together_equal_each_alone(config, grid16):
    together = FQI(grid16, config, seeds=(3, 0, 7), dtype=torch.float64)
    alone = [FQI(grid16, config, seeds=(seed,), dtype=torch.float64) for seed in (3, 0, 7)]
    for fqi in (together, *alone):
        for _ in range(3):
            fqi.iterate()
    for member, one in enumerate(alone):
        np.testing.assert_array_equal(together.met[:, member], one.met[:, 0])
        np.testing.assert_allclose(together.q_table()[member], one.q_table()[0], atol=1e-10)
        for name, value in Instruments(one).look().items():
            told = Instruments(together).look()[name][member]
            np.testing.assert_allclose(told, value[0], rtol=1e-6, atol=1e-7, err_msg=name)


def test_each_seed_may_have_its_own_maze():
    tasks = [maze(seed) for seed in range(2)]
    config = dataclasses.replace(CONFIG, data="full")
    together = FQI(tasks, config, seeds=(0, 1), dtype=torch.float64)
    alone = FQI(tasks[1], config, seeds=(1,), dtype=torch.float64)
    for fqi in (together, alone):
        fqi.iterate()
    np.testing.assert_allclose(together.q_table()[1], alone.q_table()[0], atol=1e-10)
    np.testing.assert_allclose(together.q_star[0], solve(tasks[0].mdp))


@pytest.mark.parametrize("regularizers", [(), EVERY_REGULARIZER], ids=["plain", "regularizers"])
def test_restored_goes_on_to_the_last_bit(regularizers, grid16):
    config = dataclasses.replace(CONFIG, regularizers=regularizers)
    whole, part, other = (FQI(grid16, config, seeds=range(2)) for _ in range(3))
    for _ in range(4):
        whole.iterate()
    part.iterate()
    part.iterate()
    other.iterate()  # what it did before does not matter
    other.restore({name: value.clone() for name, value in part.state().items()})
    for _ in range(2):
        other.iterate()
    assert other.iteration == 4
    for name, value in whole.state().items():
        assert torch.equal(value, other.state()[name]), name


def test_a_wide_network_on_everything_finds_q_star():
    grid = Grid(("S..", ".#.", "L.G"))
    mdp = grid.mdp(gamma=0.8)
    task = ObservedMDP(grid, mdp, np.eye(9, dtype=np.float32), mdp.P, None)
    config = FQIConfig(
        net=NetConfig(trunk=MLPTrunk((64,))), data="full", gradient_steps=25, lr=1e-2
    )
    fqi = FQI(task, config, seeds=range(3))
    instruments = Instruments(fqi)
    before = instruments.look()
    for _ in range(40):
        fqi.iterate()
    after = instruments.look()
    assert (after["error to Q*"] < 1e-2).all()
    assert (before["error to Q*"] > 1).all()
    assert (after["return"] > 0.99).all()
    np.testing.assert_allclose(after["mean Q"], after["mean Q*"], atol=0.1)


def test_targets_are_backups_of_q(grid16):
    fqi = FQI(grid16, dataclasses.replace(CONFIG, data="full"), seeds=(0,))
    q = fqi.q_star  # the fixed point: targets are Q* itself
    state, action, target = fqi.transitions(q)
    np.testing.assert_allclose(target[0], q[0, state[0], action[0]], atol=1e-8)
    assert len(target[0]) == 205 * 5
    met = FQI(grid16, CONFIG, seeds=(0,))
    np.testing.assert_array_equal(met.transitions(q)[2], target)  # nothing met yet: all of them
    met.iterate()
    state, action, target = met.transitions(q)
    following = met.met[2, 0]
    expected = grid16.mdp.R[state[0], action[0]] + 0.95 * q[0, following].max(axis=-1)
    np.testing.assert_allclose(target[0], expected)
    clipped = FQI(grid16, dataclasses.replace(CONFIG, data="full", clip=2.0), seeds=(0,))
    assert clipped.transitions(q)[2].max() == 2.0


def test_soft_targets_have_the_soft_fixed_point(grid16):
    config = dataclasses.replace(CONFIG, data="full", entropy=0.1)
    fqi = FQI(grid16, config, seeds=(0,))
    state, action, target = fqi.transitions(fqi.q_star)
    np.testing.assert_allclose(target[0], fqi.q_star[0, state[0], action[0]], atol=1e-8)
    assert fqi.q_star[0, fqi.free[0]].mean() == pytest.approx(14.29, abs=0.01)


def test_samples_follow_the_published_readings():
    for sampling, share in (("deterministic", 0.0), ("as the MDP", 0.04)):
        task = grid16_smooth(sampling=sampling)
        fqi = FQI(task, dataclasses.replace(CONFIG, samples=6_000), seeds=(0,))
        fqi.iterate()
        state, action, following = fqi.met[:, 0]
        assert state[0] == np.flatnonzero(task.grid.at("S"))[0]
        assert (state[50::50] == state[0]).all()  # an episode has fifty steps
        inside = np.arange(1, 6_000) % 50 != 0
        np.testing.assert_array_equal(state[1:][inside], following[:-1][inside])
        # 5 % of the steps draw another of five actions; some of them lead to the same cell
        astray = (following != task.grid.moves()[state, action]).mean()
        assert astray <= share
        assert (astray > 0.01) == (share > 0)


def test_singular_values_are_those_of_the_rows_met(grid16):
    fqi = FQI(grid16, dataclasses.replace(CONFIG, samples=300), seeds=(0, 1))
    fqi.iterate()
    told = Instruments(fqi).singular_values()
    for member in range(2):
        rows = fqi.obs[member][torch.from_numpy(fqi.met[0, member])]
        network = fqi.networks.member(member)
        hidden = network.front(rows)
        for layer in [*network.trunk][:-1]:
            hidden = layer(hidden)
        values = torch.linalg.svdvals(hidden.double())
        assert told["largest singular value"][member] == pytest.approx(float(values[0]), rel=1e-5)
        assert told["smallest singular value"][member] == pytest.approx(float(values[-1]), abs=1e-5)
        assert told["effective rank"][member] == int(effective_rank(hidden))


def test_more_features_than_states_force_the_smallest_to_zero(grid16):
    wide = dataclasses.replace(CONFIG, net=NetConfig(trunk=MLPTrunk((300,))))
    told = Instruments(FQI(grid16, wide, seeds=(0,))).singular_values()
    assert told["smallest singular value"][0] == 0
    assert told["difference of penalties"][0] < 1e-12


def test_the_penalties_differ_by_the_smallest_singular_value():
    rng = torch.Generator().manual_seed(0)
    full = torch.randn(2, 30, 5, generator=rng, dtype=torch.float64)
    values = torch.linalg.svdvals(full)
    # the gradient of σ² has norm 2σ, and those of two different ones are orthogonal
    torch.testing.assert_close(difference_of_penalties(full), values[:, -1] / values[:, 0])
    flat = torch.cat((full, full[..., :1]), dim=-1)  # a column twice: the smallest is zero
    assert float(difference_of_penalties(flat).max()) < 1e-12
    penalty = SingularValuePenalty(coefficient=0.5)
    expected = 0.5 * (values[:, 0].square() - values[:, -1].square()).sum()
    torch.testing.assert_close(penalty.feature_penalty(full), expected)


def test_the_penalty_holds_singular_values_down(grid16):
    plain = dataclasses.replace(CONFIG, gradient_steps=60)
    held = dataclasses.replace(plain, regularizers=(SingularValuePenalty(coefficient=1.0),))
    told = []
    for config in (plain, held):
        fqi = FQI(grid16, config, seeds=(0,))
        fqi.iterate()
        told.append(Instruments(fqi).singular_values()["largest singular value"][0])
    assert told[1] < 0.5 * told[0]


def test_learners_of_supervised_targets_equal_torchs_adam():
    rng = torch.Generator().manual_seed(0)
    x = torch.randn(2, 20, 3, generator=rng, dtype=torch.float64)
    y = torch.randn(2, 20, 4, generator=rng, dtype=torch.float64)
    learner = Learner(
        SMALL, in_features=3, out_features=4, seeds=(5, 6), lr=1e-2, dtype=torch.float64
    )
    for member in range(2):
        network = learner.networks.member(member).requires_grad_()
        optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
        for _ in range(5):
            loss = (network(x[member]) - y[member]).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        expected = network(x[member]).detach()
        twin = Learner(
            SMALL, in_features=3, out_features=4, seeds=(5, 6), lr=1e-2, dtype=torch.float64
        )
        for _ in range(5):
            losses = twin.update(x, (y,), {})
        torch.testing.assert_close(twin.outputs(twin.parameters, x)[member], expected)
        assert losses.shape == (2,)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: FQIConfig(gradient_steps=0), "gradient_steps"),
        (lambda: FQIConfig(lr=0), "lr"),
        (lambda: FQIConfig(explore=2), r"explore must be in \[0, 1\], got 2"),
        (lambda: FQIConfig(data="half"), "data must be"),
        (lambda: FQI(maze(0), CONFIG, seeds=()), "seeds must be different, one or more"),
        (lambda: FQI(maze(0), CONFIG, seeds=(1, 1)), r"seeds must be different, .*\(1, 1\)"),
        (lambda: FQI([maze(0)], CONFIG, seeds=(0, 1)), "number of tasks must be one, or 2, got 1"),
        (
            lambda: FQI([maze(0), grid16_smooth()], CONFIG, seeds=(0, 1)),
            "tasks must be of one shape",
        ),
        (
            lambda: FQI(
                maze(0),
                FQIConfig(
                    net=NetConfig(trunk=D2RLTrunk((8, 8))), regularizers=(SingularValuePenalty(),)
                ),
            ),
            "trunk must be a chain of layers",
        ),
    ],
)
def test_bad_input_is_told_in_one_line(make, says):
    with pytest.raises(BadInputError, match=says) as told:
        make()
    assert "\n" not in str(told.value)
