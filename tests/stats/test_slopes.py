"""Slopes, exponents and correlations, on lines and curves that are written down."""

import math

import pytest
from scipy.stats import linregress

from lff.core import BadInputError
from lff.stats import Correlates, Exponent, Metric, Point, Row, Slope
from tests.stats.tables import (
    CONTRADICTED,
    MARGIN,
    ONE_TO_FIVE,
    SUPPORTED,
    UNDECIDED,
    floor,
    numbers,
    runs,
    shifted,
)

M, FIRST, OTHER, ERROR = Metric("m"), Metric("a"), Metric("b"), Metric("error")
POINTS = (Point(1, "low"), Point(10, "mid"), Point(100, "high"))


def three(low, mid, high, *, metric=M, task="t"):
    arms = {"low": low, "mid": mid, "high": high}
    return [row for arm, v in arms.items() for row in runs(arm, v, metric=metric, task=task)]


def slope(points=POINTS, **fields):
    return Slope(points, **{"metric": M, "log_x": True, **fields})


@pytest.mark.parametrize(
    ("by", "sign", "outcome"),
    [(3, 1, SUPPORTED), (3, -1, CONTRADICTED), (-3, -1, SUPPORTED), (0.5, 1, UNDECIDED)],
)
def test_a_slope_is_a_contrast_of_the_arms_means(by, sign, outcome):
    """At log x = 0, 1, 2 the slope is (high - low) / 2, its error √(0.5 + 0.5) / 2 = ½ by t(8)."""
    rows = three(ONE_TO_FIVE, [9.0] * 5, shifted(ONE_TO_FIVE, 2 * by))
    verdict = slope(sign=sign).judge(rows)
    assert verdict.outcome == outcome
    margin = 2.3060 / 2
    mean = sign * by
    assert numbers(verdict.because) == pytest.approx((mean - margin, mean + margin), abs=0.005)
    assert "slope of mean m over the curve, per tenfold x" in verdict.because
    assert verdict.because.startswith("minus the ") == (sign < 0)


def test_the_slope_is_that_of_least_squares():
    """y = 0, 1, 5 at x = 0, 1, 2: Σ(x−1)(y−2) = 2 + 3 over Σ(x−1)² = 2."""
    points = (Point(0, "low"), Point(1, "mid"), Point(2, "high"))
    verdict = slope(points, log_x=False).judge(three([0.0] * 5, [1.0] * 5, [5.0] * 5))
    assert verdict.interval.estimate == 2.5 == linregress([0, 1, 2], [0, 1, 5]).slope
    assert verdict.interval.low == verdict.interval.high == 2.5
    assert ": 2.5 [2.5, 2.5], n=5" in verdict.because


@pytest.mark.parametrize(
    ("rise", "margin", "outcome"),
    [
        (0.0, 1.2, SUPPORTED),
        (0.0, 1.1, UNDECIDED),
        (3.0, 1.8, CONTRADICTED),
        (-3.0, 1.8, CONTRADICTED),
    ],
)
def test_flat_is_a_slope_within_a_margin(rise, margin, outcome):
    """An error of ½ and t(8): ± 1.153."""
    rows = three(ONE_TO_FIVE, [9.0] * 5, shifted(ONE_TO_FIVE, 2 * rise))
    verdict = slope(margin=margin).judge(rows)
    assert verdict.outcome == outcome
    assert f"asked for > {-margin:g} and < {margin:g}" in verdict.because


def test_the_slope_of_a_difference():
    """The arms rise together; their difference grows by 3 a step, its error that of two arms."""
    points = tuple(Point(x, f"A{x}", minus=f"B{x}") for x in (0, 1))
    rows = []
    for x in (0, 1):
        rows += runs(f"A{x}", [50.0 + 20 * x + x * s for s in ONE_TO_FIVE], metric=M)
        rows += runs(f"B{x}", [40.0 + 20 * x] * 5, metric=M)
    verdict = slope(points, log_x=False).judge(rows)
    assert verdict.outcome == SUPPORTED
    assert numbers(verdict.because) == pytest.approx((3 - MARGIN, 3 + MARGIN), abs=0.005)
    assert verdict.because.startswith("slope of difference in mean m over the curve, per unit of x")
    lacking = [row for row in rows if row.variant != "B1"]
    assert slope(points, log_x=False).judge(lacking).outcome == "not run"


def test_x_of_a_task_and_returns_as_shares_of_their_spans():
    """Gaps of 100 of 1,000 at x = 2, of 300 + 20·(-2..2) of 2,000 at x = 6: (0.15 - 0.1) / 4."""
    near, far = "dmc/a", "gym/HalfCheetah-v5"
    points = (Point(2, "A", minus="B", task=near), Point(6, "A", minus="B", task=far))
    rows = runs("A", [600.0] * 5, task=near) + runs("B", [500.0] * 5, task=near)
    rows += runs("A", [740 + 20 * s for s in ONE_TO_FIVE], task=far)
    rows += runs("B", [500.0] * 5, task=far)
    claim = Slope(points)
    verdict = claim.judge(rows)
    assert verdict.outcome == SUPPORTED
    margin = 20 * MARGIN / 2_000 / 4
    assert (verdict.interval.estimate, verdict.interval.high) == pytest.approx(
        (0.0125, 0.0125 + margin), rel=1e-4
    )
    chance = floor(task=near, center=590.0) + floor(task=far, center=790.0)
    assert claim.judge(rows + chance).outcome == "no signal"
    assert claim.judge(rows + floor(task=near, center=590.0)).outcome == SUPPORTED


def test_a_slope_on_several_tasks_is_their_mean():
    """Slopes of 2 and 0, each with an error of ½: 1 with an error of ½/√2 by t(16)."""
    rows = three(ONE_TO_FIVE, [9.0] * 5, shifted(ONE_TO_FIVE, 4))
    rows += three(ONE_TO_FIVE, [9.0] * 5, ONE_TO_FIVE, task="u")
    verdict = slope().judge(rows)
    assert verdict.interval.estimate == pytest.approx(1.0)
    assert verdict.interval.high - 1 == pytest.approx(2.1199 * 0.5 / 2**0.5, rel=1e-4)
    assert slope(on_at_least=1).judge(rows).outcome == SUPPORTED
    assert slope(on_at_least=2).judge(rows).outcome == UNDECIDED


def test_a_slope_where_nothing_learns():
    rows = [row._replace(metric="return") for row in three([0.5] * 5, [0.6] * 5, [0.7] * 5)]
    assert Slope(POINTS).judge(rows + floor()).outcome == "no signal"


def test_four_runs_of_one_arm_decide_nothing():
    rows = three(ONE_TO_FIVE, [9.0] * 5, shifted(ONE_TO_FIVE, 90)[:4])
    assert slope().judge(rows).outcome == UNDECIDED


EXPONENTS = (-0.7, -0.6, -0.5, -0.4, -0.3)
"""Mean -0.5, s = √0.025; with t(4, 0.975) = 2.7764 the margin is 2.7764·√0.005 = 0.1963."""


def powers(exponents=EXPONENTS, *, task="t"):
    return [
        Row("x", "A", task, seed, step, "error", 3.0 * step**power)
        for seed, power in enumerate(exponents)
        for step in (10, 100, 1000)
    ]


def exponent(low, high, **fields):
    return Exponent("A", metric=ERROR, above=low, below=high, **fields)


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (-0.7, -0.3, SUPPORTED),
        (-0.69, -0.31, UNDECIDED),
        (-0.3, 0.0, CONTRADICTED),
        (-0.31, 0.0, UNDECIDED),
        (-1.0, -0.7, CONTRADICTED),
        (-math.inf, -0.3, SUPPORTED),
    ],
)
def test_the_interval_of_the_exponents_decides(low, high, outcome):
    verdict = exponent(low, high).judge(powers())
    assert verdict.outcome == outcome
    assert verdict.because.startswith(
        "exponent of error, A: -0.5 [-0.696, -0.304], n=5, asked for "
    )


def test_exponents_over_tasks_are_averaged_or_counted():
    rows = powers([-0.4, -0.5, -0.6, -0.5, -0.5], task="one") + powers([-2.0] * 5, task="two")
    verdict = exponent(-0.7, -0.3).judge(rows)
    assert (verdict.outcome, verdict.interval.estimate) == (CONTRADICTED, pytest.approx(-1.25))
    assert exponent(-0.7, -0.3, on_at_least=1).judge(rows).outcome == SUPPORTED
    assert exponent(-0.7, -0.3, tasks=("one",)).judge(rows).outcome == SUPPORTED
    assert exponent(-0.7, -0.3).judge(powers(EXPONENTS[:4])).outcome == UNDECIDED


def test_steps_outside_the_fit_do_not_count():
    bent = [row if row.step < 1000 else row._replace(value=99.0) for row in powers()]
    assert exponent(-0.7, -0.3, last=100).judge(bent).outcome == SUPPORTED
    assert exponent(-0.7, -0.3).judge(bent).outcome != SUPPORTED


UP = [1.0, 2.0, 3.0, 4.0]


def pairs(others):
    """Runs whose metric a rises and whose metric b has these values, one line per seed."""
    return [
        Row("x", "A", "t", seed, step, metric, value)
        for seed, line in enumerate(others)
        for metric, values in (("a", UP), ("b", line))
        for step, value in enumerate(values)
    ]


FALLING = [[4, 3, 2, 1]] * 4 + [[4, 3, 1, 2]]
"""Rank correlations -1, -1, -1, -1, -0.8: mean -0.96 ± 2.7764 · 0.04."""


@pytest.mark.parametrize(
    ("others", "bounds", "outcome"),
    [
        (FALLING, {"below": -0.5}, SUPPORTED),
        (FALLING, {"below": -0.9}, UNDECIDED),
        (FALLING, {"above": 0.0}, CONTRADICTED),
        ([[9, 99, 999, math.inf]] * 5, {"above": 0.5}, SUPPORTED),
        (FALLING[1:], {"below": -0.5}, UNDECIDED),
    ],
)
def test_rank_correlation_within_each_run(others, bounds, outcome):
    verdict = Correlates("A", metric=FIRST, other=OTHER, **bounds).judge(pairs(others))
    assert verdict.outcome == outcome
    if others is FALLING:
        ends = (-0.96 - 2.7764 * 0.04, -0.96 + 2.7764 * 0.04)
        assert numbers(verdict.because) == pytest.approx(ends, abs=0.005)


def test_runs_without_a_correlation_are_left_out_and_named():
    claim = Correlates("A", metric=FIRST, other=OTHER, above=0.5)
    others = [UP] * 5 + [[7, 7, 7, 7], [1, 2, math.nan, math.nan]]
    verdict = claim.judge(pairs(others))
    assert verdict.outcome == SUPPORTED
    assert verdict.because.startswith("rank correlation of a and b, A: 1 [1, 1], n=5")
    assert "2 of 7 runs left out" in verdict.details


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: slope(POINTS[:1]), "different x"),
        (lambda: slope((*POINTS, Point(0, "no"))), "above 0 on a logarithmic axis"),
        (lambda: slope((*POINTS, Point(5, "a", task="t"))), "all with a task"),
        (lambda: exponent(1, 0), "in order"),
        (lambda: exponent(0, 1, first=0), "first must be 1 or more"),
        (lambda: Correlates("A", metric=FIRST, other=OTHER), "set above or below"),
    ],
)
def test_bad_claims_are_refused_when_they_are_made(make, says):
    with pytest.raises(BadInputError, match=says):
        make()
