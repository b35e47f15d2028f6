"""One number out of a curve, by hand, also where the run diverged."""

import math

import numpy as np
import pytest
from scipy.stats import linregress, spearmanr

from lff.stats import RETURN, Curves, Metric, Row
from lff.stats.curves import power_of, rank_correlation


def curve(variant, values, *, seed=0, task="t", metric=RETURN, start=10):
    return [
        Row("x", variant, task, seed, start + 10 * i, metric.title, value)
        for i, value in enumerate(values)
    ]


def statistic_of(rows, metric, statistic):
    return Curves(rows, metric=metric).statistic("A", "t", 0, statistic)


@pytest.mark.parametrize(
    ("statistic", "value"),
    [("mean", 6.0), ("last", 4.0), ("max", 9.0), ("min", 2.0), ("growth", 2.0)],
)
def test_statistics_by_hand(statistic, value):
    """The mean is by trapezoids: (5.5 + 6.5) / 2."""
    rows = curve("A", [2.0, 9.0, 4.0]) + curve("A", [7.0], metric=Metric("other"))
    assert statistic_of(rows[::-1], RETURN, statistic) == value


NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    "diverged", [[3.0, 6.0], [3.0, 6.0, NAN], [3.0, 6.0, INF, NAN], [3.0, 6.0, -INF, NAN]]
)
@pytest.mark.parametrize("metric", [RETURN, Metric("error")])
def test_a_diverged_run_stays_at_its_last_finite_value(diverged, metric):
    """B goes on to step 40, so A stays at 6: (4.5 + 6 + 6)/3."""
    rows = curve("A", diverged, metric=metric) + curve("B", [1.0] * 4, metric=metric)
    curves = Curves(rows, metric=metric)
    assert curves.carried("A", "t", 0) == {10: 3.0, 20: 6.0, 30: 6.0, 40: 6.0}
    assert curves.statistic("A", "t", 0, "mean") == 5.5
    assert curves.statistic("A", "t", 0, "last") == 6


def test_it_stays_only_as_long_as_the_compared_arms_go_on():
    rows = curve("A", [3.0, 6.0]) + curve("B", [1.0] * 3) + curve("long", [1.0] * 9)
    rows += curve("B", [1.0] * 5, task="another")
    assert list(Curves(rows, metric=RETURN, variants="AB").carried("A", "t", 0)) == [10, 20, 30]


def test_a_hole_before_the_first_finite_value_cannot_be_filled():
    curves = Curves(curve("A", [NAN, 2.0, 4.0]) + curve("B", [NAN, INF]), metric=RETURN)
    assert curves.statistic("A", "t", 0, "mean") == 3
    assert math.isnan(curves.statistic("B", "t", 0, "mean"))
    assert math.isnan(curves.statistic("A", "t", 7, "last"))


@pytest.mark.parametrize("bad", [INF, NAN])
def test_the_largest_q_is_infinite_once_it_diverged_but_a_return_is_not(bad):
    rows = curve("A", [3.0, bad], metric=Metric("largest |Q|")) + curve("A", [3.0, bad])
    assert statistic_of(rows, Metric("largest |Q|"), "max") == INF
    assert statistic_of(rows, RETURN, "max") == 3


def test_growth_from_nothing_is_no_number():
    assert math.isnan(statistic_of(curve("A", [0.0, 2.0]), RETURN, "growth"))


def test_uneven_steps_are_weighted_by_their_length():
    """1 from step 0 to 10, then a line to 4 at 40: (10 · 1 + 30 · 2.5) / 40."""
    rows = [
        Row("x", "A", "t", 0, step, "return", v) for step, v in ((0, 1.0), (10, 1.0), (40, 4.0))
    ]
    assert statistic_of(rows, RETURN, "mean") == 85 / 40
    assert statistic_of(rows[:1], RETURN, "mean") == 1.0


def test_first_step_above_the_random_policy():
    """Random 10 and a span of 1,000: the level is 110, to be passed; never is the last step."""
    task = "dmc/x"
    rows = curve("A", [10.0, 110.0, 111.0, 0.0], task=task) + curve(
        "B", [300.0], start=20, task=task
    )
    rows += curve("C", [11.0, 12.0], task=task)
    rows += [Row("x", "random policy", task, s, 0, "return", 10.0 + s) for s in (-1, 1)]
    curves = Curves(rows, metric=RETURN)
    steps = [curves.statistic(arm, task, 0, "first above") for arm in "ABC"]
    assert steps == [30, 20, 40]
    assert curves.tasks == [task]
    without = Curves(rows[:-2], metric=RETURN)
    assert math.isnan(without.statistic("A", task, 0, "first above"))
    unknown = Curves([row._replace(task="sine") for row in rows], metric=RETURN)
    assert math.isnan(unknown.statistic("A", "sine", 0, "first above"))


def test_groups_that_run_for_different_times_are_carried_apart():
    rows = curve("A", [1.0, 3.0]) + curve("B", [1.0] * 3) + curve("C", [1.0] * 9)
    curves = Curves(rows, metric=RETURN, apart=(("A", "B"), ("C",)))
    assert list(curves.carried("A", "t", 0)) == [10, 20, 30]
    assert list(curves.carried("C", "t", 0)) == [*range(10, 100, 10)]


def test_the_power_of_a_curve_by_hand():
    # ln values 0, 1, 3 at ln steps 0, 1, 2: slope Σ(x - 1)(y - 4/3) / 2 = (4/3 + 5/3) / 2
    assert power_of({1: 1.0, 10: 10.0, 100: 1000.0}) == pytest.approx(1.5)
    assert power_of({1: 5.0, 10: 10.0, 100: 1.0}, first=10) == pytest.approx(-1.0)
    assert power_of({1: 5.0, 10: 10.0, 100: 1.0}, last=10) == pytest.approx(math.log10(2))
    assert math.isnan(power_of({0: 9.0, 10: 0.0, 100: INF, 1000: 2.0}))


def test_powers_and_rank_correlations_equal_scipys():
    rng = np.random.default_rng(0)
    steps = np.unique(rng.integers(1, 1000, 30))
    one, other = np.exp(rng.normal(size=(2, len(steps)))).round(1) + 0.1  # with ties
    curves = [dict(zip(steps.tolist(), values.tolist(), strict=True)) for values in (one, other)]
    assert power_of(curves[0]) == pytest.approx(linregress(np.log(steps), np.log(one)).slope)
    assert rank_correlation(*curves) == pytest.approx(spearmanr(one, other).statistic)


def test_rank_correlation_by_hand():
    """Ranks 1, 2, 3, 4 and 4, 3, 1, 2: 1 - 6 (9 + 1 + 4 + 4) / (4 · 15) = -0.8."""
    steps = range(4)
    up, down = (
        dict(zip(steps, (1, 2, 3, 4), strict=True)),
        dict(zip(steps, (9, 7, 0, 5), strict=True)),
    )
    assert rank_correlation(up, down) == pytest.approx(-0.8)
    assert rank_correlation(up, {**up, 3: INF}) == pytest.approx(1.0)
    assert math.isnan(rank_correlation(up, {**up, 2: NAN, 3: NAN}))
    assert math.isnan(rank_correlation(up, dict.fromkeys(steps, 7.0)))
