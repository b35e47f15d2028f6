"""Exact solutions against closed forms and against an independent solver: linear equations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lff.core.errors import BadInputError
from lff.tabular import (
    MDP,
    ReturnScale,
    Transitions,
    evaluate,
    greedy,
    grid16_smooth,
    lava_grid,
    policy_return,
    solve,
    state_values,
    uniform_policy,
)


def random_mdp(seed: int, *, states: int = 7, actions: int = 3, gamma: float = 0.9) -> MDP:
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(states, 0.3), size=(states, actions))
    return MDP(P, rng.normal(size=(states, actions)), gamma)


def solve_linear(mdp: MDP, policy: np.ndarray) -> np.ndarray:
    """Q of a policy from the linear equations of its values, by elimination."""
    P = mdp.P.matrix()
    step = np.einsum("sa,sat->st", policy, P)
    reward = (policy * mdp.R).sum(axis=-1)
    V = np.linalg.solve(np.eye(mdp.states) - mdp.gamma * step, reward)
    return mdp.R + mdp.gamma * P @ V


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_the_optimal_q_solves_the_equations_of_its_own_policy(seed):
    mdp = random_mdp(seed)
    Q = solve(mdp)
    np.testing.assert_allclose(Q, solve_linear(mdp, greedy(Q)), atol=1e-8)
    np.testing.assert_allclose(Q, mdp.backup(Q.max(axis=-1)), atol=1e-9)


@pytest.mark.parametrize(
    "mdp", [grid16_smooth().mdp, lava_grid(24, seed=3).mdp(start="anywhere")], ids=["16", "lava"]
)
def test_gridworlds_against_elimination(mdp):
    Q = solve(mdp)
    np.testing.assert_allclose(Q, solve_linear(mdp, greedy(Q)), atol=1e-8)


def test_no_policy_is_better_than_the_optimal_one():
    mdp = random_mdp(0, states=4, actions=2)
    choices = np.array(np.meshgrid(*[[0, 1]] * 4)).reshape(4, -1).T  # all sixteen
    every = evaluate(mdp, np.eye(2)[choices])
    np.testing.assert_allclose(every.max(axis=0), solve(mdp), atol=1e-9)


def test_several_policies_at_once_equal_one_at_a_time():
    mdp = random_mdp(1)
    rng = np.random.default_rng(0)
    policies = rng.dirichlet(np.ones(mdp.actions), size=(2, 3, mdp.states))
    together = evaluate(mdp, policies)
    np.testing.assert_allclose(together[1, 2], evaluate(mdp, policies[1, 2]), atol=1e-9)
    np.testing.assert_allclose(together[1, 2], solve_linear(mdp, policies[1, 2]), atol=1e-8)


def test_the_soft_solution_is_that_of_its_soft_policy_with_entropy():
    mdp, alpha = random_mdp(2), 0.3
    Q = solve(mdp, entropy=alpha)
    policy = np.exp((Q - state_values(Q, entropy=alpha)[:, None]) / alpha)
    np.testing.assert_allclose(policy.sum(axis=-1), 1)
    entropy = -(policy * np.log(policy)).sum(axis=-1)
    np.testing.assert_allclose(
        state_values(Q, entropy=alpha), (policy * Q).sum(axis=-1) + alpha * entropy, atol=1e-10
    )
    np.testing.assert_allclose(Q, mdp.backup(state_values(Q, entropy=alpha)), atol=1e-9)
    np.testing.assert_allclose(solve(mdp, entropy=1e-6), solve(mdp), atol=1e-4)


def test_backups_come_nearer_by_the_discount_each():
    mdp = random_mdp(3)
    exact = solve(mdp, tolerance=1e-13)
    Q, errors = np.zeros_like(exact), []
    for _ in range(40):
        Q = mdp.backup(state_values(Q))
        errors.append(np.abs(Q - exact).max())
    assert errors[5] <= mdp.gamma * errors[4] + 1e-12
    assert errors[39] <= mdp.gamma**35 * errors[4] + 1e-12


def test_returns_in_closed_form():
    # one state earns 1 a step for ever, the other nothing; the second action changes the state
    stay_or_go = np.array([[[1, 0], [0, 1]], [[0, 1], [1, 0]]])
    mdp = MDP(stay_or_go, [1.0, 0.0], 0.5, [1.0, 0.0])
    assert policy_return(mdp, greedy(solve(mdp))) == pytest.approx(2.0)
    assert policy_return(mdp, greedy(solve(mdp)), horizon=7) == pytest.approx(7.0)
    # uniform: in the first state half the time after the first step
    assert policy_return(mdp, uniform_policy(mdp)) == pytest.approx(1 + 0.5 * 0.5 / 0.5)
    assert policy_return(mdp, uniform_policy(mdp), horizon=7) == pytest.approx(1 + 6 / 2)
    leave = np.array([[0.0, 1.0], [1.0, 0.0]])
    worst = ReturnScale.of(mdp, greedy(solve(mdp)), horizon=7).measure(leave)
    assert worst == pytest.approx((1 - 4) / (7 - 4))


def test_a_64_by_64_maze_is_solved_to_the_tolerance():
    grid = lava_grid(seed=1)
    mdp = grid.mdp(start="anywhere")
    Q = solve(mdp)
    assert np.abs(Q - mdp.backup(Q.max(axis=-1))).max() < 1e-10
    assert Q[grid.at("L")] == pytest.approx(-10)  # -1 a step for ever at γ = 0.9


def test_merging_and_mixing_keep_the_matrix():
    rng = np.random.default_rng(0)
    following = rng.integers(0, 5, size=(5, 3, 4))
    chance = rng.dirichlet(np.ones(4), size=(5, 3))
    one = Transitions(following, chance)
    np.testing.assert_allclose(one.merged().matrix(), one.matrix())
    P = one.matrix()
    mixed = 0.7 * P + 0.3 * P.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(one.mixed(0.3).matrix(), mixed)
    np.testing.assert_allclose(Transitions.from_matrix(P).matrix(), P)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (
            lambda: MDP([[[0.5, 0.4]], [[0, 1]]], [0, 0], 0.9),
            r"sum of P\[0, 0\] must be 1, got 0.9",
        ),
        (lambda: MDP([[[1.5, -0.5]], [[0, 1]]], [0, 0], 0.9), "must be probabilities .* got -0.5"),
        (lambda: MDP([[[np.nan, 1]], [[0, 1]]], [0, 0], 0.9), "must be probabilities"),
        (lambda: MDP([[[1, 0, 0]], [[0, 1, 0]]], [0, 0], 0.9), r"shape of P .* \(2, 1, 3\)"),
        (lambda: MDP([[[0, 1]], [[0, 1]]], [0, 0, 0], 0.9), r"shape of R .* \(2, 1\) or \(2,\)"),
        (lambda: MDP([[[0, 1]], [[0, 1]]], [0, np.inf], 0.9), "R must be finite"),
        (lambda: MDP([[[0, 1]], [[0, 1]]], [0, 0], 1.0), r"gamma must be in \[0, 1\), got 1.0"),
        (lambda: MDP([[[0, 1]], [[0, 1]]], [0, 0], 0.5, [1.0, 1.0]), "sum of start must be 1"),
        (lambda: MDP([[[0, 1]], [[0, 1]]], [0, 0], 0.5, [1.0]), r"shape of start .* \(2,\)"),
        (
            lambda: Transitions([[[2]], [[0]]], [[[1.0]], [[1.0]]]),
            "successor .* from 0 to 1, got 2",
        ),
        (lambda: solve(random_mdp(0), entropy=-1), "entropy"),
        (lambda: solve(random_mdp(0), tolerance=0), "tolerance must be a finite number > 0"),
        (lambda: evaluate(random_mdp(0), np.ones((7, 3))), "sum of π.* must be 1"),
        (lambda: evaluate(random_mdp(0), np.ones((3, 7)) / 7), r"shape of the policy .* 7, 3"),
        (lambda: ReturnScale.of(MDP([[[1.0]]], [1.0], 0.5), np.ones((1, 1))), "nothing to gain"),
    ],
)
def test_bad_input_is_told_in_one_line(make, says):
    with pytest.raises(BadInputError, match=says) as told:
        make()
    assert "\n" not in str(told.value)
