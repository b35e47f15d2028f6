"""Faults that verdicts once had, each with a number and a test.

9 is in ``tests/experiments/test_declared.py``, 12 in ``tests/experiments/test_regression.py``, 15
and 16 in ``tests/nn/test_width.py``, 17 in ``tests/algos/test_sac.py``.
"""

import functools
import math

import pytest

from lff.experiments import find_experiment, list_experiments
from lff.nn import LogUniformFourier, num_parameters
from lff.stats import Better, Metric, MoreOften, Point, Slope
from lff.tabular import grid16_smooth
from lff.training.evaluate import Evaluation
from tests.stats.tables import floor, runs

M = Metric("m")
TRAINED = ("fig5", "fig5-baselines", "fig7", "fig8", "fig9", "fig10", "fig14", "fig15", "fig17")
"""Studies of SAC from state that have a paper scale."""


@functools.cache
def cells_of(name, scale):
    return find_experiment(name).cells(scale)


def claims():
    return [(e, claim) for e in list_experiments().values() for claim in e.claims]


def test_fault_1_what_is_printed_is_what_is_counted():
    """End to end it falls in all six; through the middle arm in two, and the text says which."""
    rows = runs("a", [3.0] * 6, metric=M) + runs("c", [1.0] * 6, metric=M)
    rows += runs("b", [2.0] * 2 + [4.0] * 4, metric=M)
    ends, all_three = (
        MoreOften(order=order, metric=M, direction="falls").judge(rows)
        for order in (("a", "c"), ("a", "b", "c"))
    )
    assert "last m falls from each to the next of a, c in 6 of 6" in ends.because
    assert "last m falls from each to the next of a, b, c in 2 of 6" in all_three.because


@pytest.mark.parametrize(
    "claim",
    [
        MoreOften("A", below=0.2, times="B"),
        MoreOften("A", than="B", below=10.0),
        MoreOften(order=("A", "B")),
    ],
)
def test_fault_2_counts_of_returns_need_a_signal(claim):
    """A ends below a fifth of B in every run, and both at what a random policy gets."""
    rows = runs("A", [0.1] * 6, task="dmc/x") + runs("B", [1.0] * 6, task="dmc/x")
    assert claim.judge(rows + floor(task="dmc/x")).outcome == "no signal"


def test_fault_3_tasks_without_runs_are_not_run():
    rows = runs("A", [1.0] * 5, metric=M) + runs("B", [2.0] * 5, metric=M)
    elsewhere = Better("A", than="B", metric=M, tasks=("another",)).judge(rows)
    assert (elsewhere.outcome, elsewhere.p) == ("not run", None)
    claim = next(c for c in find_experiment("fig11").claims if c.name == "C-11b/others")
    assert claim.judge(rows).outcome == "not run"


def critics(name, scale="laptop"):
    """The critic's config of each arm of a study of training runs."""
    return {cell.variant: cell.job.config.algo.critic for cell in cells_of(name, scale)}


def size(config, inputs=23):
    """Parameters of a critic of cheetah-run, by default: 17 observations and 6 actions."""
    return num_parameters(config.build(inputs, 1))


def test_fault_4_the_notes_state_the_size_of_the_constant_control():
    grid = grid16_smooth()
    sizes = {
        cell.variant: num_parameters(cell.job.fqi.net.build(grid.obs.shape[1], grid.mdp.actions))
        for cell in cells_of("fig13-first", "laptop")
        if cell.task == "T=10, width 64"
    }
    constant, lff = sizes.pop("constant control"), sizes["LFF σ=0.1"]
    assert (constant, lff) == (7_621, 10_181)
    assert all(count == pytest.approx(lff, rel=0.01) for count in sizes.values())
    notes = find_experiment("fig13-first").notes
    assert f"but for the constant control ({constant:,} against {lff:,} at width 64)" in notes


def test_fault_5_the_fixed_basis_has_the_phases_of_the_paper():
    """2πσ√(F/2) at σ = 0.001 and F = 1,024 is 0.142; (F/2)(2πσ)² is then 0.02, not 0.25."""
    claim = next(c for c in find_experiment("fig10").claims if c.name == "C-10/constant")
    front = critics("fig10")[claim.arm].front
    assert not front.trainable
    phase = 2 * math.pi * front.sigma * math.sqrt(front.fourier_dim / 2)
    assert phase == pytest.approx(2 * math.pi * 0.001 * math.sqrt(512), rel=0.02)
    assert phase**2 < 0.03


def test_fault_6_a_basis_of_few_octaves_is_left_out_and_the_notes_say_why():
    fronts = [config.front for name in TRAINED for config in critics(name).values()]
    assert not [front for front in fronts if isinstance(front, LogUniformFourier)]
    assert "log-uniform B is left out: at F = 128" in find_experiment("fig10").notes


def test_fault_7_returns_of_different_tasks_count_as_shares_of_their_spans():
    """100 of 1,000 and 200 of 2,000 are as much, though 200 is more than 100."""
    tasks = {"dmc/a": 100.0, "gym/HalfCheetah-v5": 200.0}
    points = tuple(Point(x, "A", task=task) for x, task in enumerate(tasks))
    rows = [
        row
        for task, level in tasks.items()
        for row in runs("A", [level - 1, level, level, level, level + 1], task=task)
    ]
    verdict = Slope(points).judge(rows)
    assert (verdict.outcome, verdict.interval.estimate) == ("undecided here", pytest.approx(0))
    slopes = [c for _, c in claims() if isinstance(c, Slope) and c.points[0].task]
    assert not [claim.name for claim in slopes if claim.metric.policies]


def test_fault_8_no_claim_compares_one_learning_rate_with_another():
    for experiment, claim in claims():
        if isinstance(claim, Better):
            rates = {experiment.arms[arm].fields.get("lr") for arm in claim.arms}
            assert len(rates) == 1, claim.name


@pytest.mark.parametrize("name", TRAINED)
def test_fault_10_at_paper_scale_runs_are_evaluated_every_10_000_steps(name):
    for cell in cells_of(name, "paper"):
        assert cell.job.config.steps >= 500_000
        assert cell.job.config.schedule.eval_every == 10_000, cell.task


def test_fault_11_the_rival_front_is_of_equal_size_or_called_as_published():
    arms = critics("new-fronts")
    lff = size(arms["LFF"])
    assert lff == 37_569
    assert size(arms["rival front"]) == pytest.approx(lff, rel=0.01)
    assert size(arms["rival front, as published"]) == 156_609


def test_fault_13_q_is_compared_with_a_return_without_entropy_and_called_so():
    evaluation = Evaluation(
        returns=(9.0, 9.0),
        lengths=(2, 2),
        q_start=(8.0, 8.0),
        discounted=(4.0, 6.0),
        seeds=(0, 1),
    )
    assert evaluation.metrics()["eval/q_minus_return"] == 3.0
    keys = {metric.key for e in list_experiments().values() for metric in e.metrics}
    assert "eval/q_minus_return" in keys
    assert not [key for key in keys if "q_bias" in key]


def test_fault_14_an_mlp_of_the_depth_of_lff_is_an_arm_of_the_studies_of_causes():
    for name, arm in (("fig8", "MLP-2, no target"), ("tuning", "MLP-2, rate 0.0003")):
        arms = critics(name)
        lff = next(config for variant, config in arms.items() if variant.startswith("LFF"))
        deep = arms[arm].resolve(23, 1)
        assert len(deep.trunk.hidden) == len(lff.trunk.hidden) == 2
        assert size(deep) == pytest.approx(size(lff), rel=0.01)
    named = {arm for claim in find_experiment("fig8").claims for arm in claim.arms}
    assert "MLP-2, no target" in named
