"""One number out of a curve, by hand, also where the run diverged."""

import math

import pytest

from lff.stats import RETURN, Curves, Metric, Row


def curve(variant, values, *, seed=0, task="t", metric=RETURN, start=10):
    return [
        Row("x", variant, task, seed, start + 10 * i, metric.title, value)
        for i, value in enumerate(values)
    ]


def statistic_of(rows, metric, statistic):
    return Curves(rows, metric=metric).statistic("A", "t", 0, statistic)


@pytest.mark.parametrize(
    ("statistic", "value"),
    [("mean", 5.0), ("last", 4.0), ("max", 9.0), ("min", 2.0), ("growth", 2.0)],
)
def test_statistics_by_hand(statistic, value):
    rows = curve("A", [2.0, 9.0, 4.0]) + curve("A", [7.0], metric=Metric("other"))
    assert statistic_of(rows[::-1], RETURN, statistic) == value


NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    "diverged", [[3.0, 6.0], [3.0, 6.0, NAN], [3.0, 6.0, INF, NAN], [3.0, 6.0, -INF, NAN]]
)
@pytest.mark.parametrize("metric", [RETURN, Metric("error")])
def test_a_diverged_run_stays_at_its_last_finite_value(diverged, metric):
    """B goes on to step 40, so A's 6 counts three times: (3 + 6 + 6 + 6)/4."""
    rows = curve("A", diverged, metric=metric) + curve("B", [1.0] * 4, metric=metric)
    curves = Curves(rows, metric=metric)
    assert curves.carried("A", "t", 0) == {10: 3.0, 20: 6.0, 30: 6.0, 40: 6.0}
    assert curves.statistic("A", "t", 0, "mean") == 21 / 4
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


def test_first_step_above_the_random_policy():
    """Random 10, best ever 110: the level is 20, to be passed; never is the last step."""
    rows = curve("A", [10.0, 20.0, 21.0, 0.0]) + curve("B", [110.0], start=20)
    rows += curve("C", [11.0, 12.0])
    rows += [Row("x", "random policy", "t", s, 0, "return", 10.0 + s) for s in (-1, 1)]
    curves = Curves(rows, metric=RETURN)
    steps = [curves.statistic(arm, "t", 0, "first above") for arm in "ABC"]
    assert steps == [30, 20, 40]
    assert curves.tasks == ["t"]
    without = Curves(rows[:-2], metric=RETURN)
    assert math.isnan(without.statistic("A", "t", 0, "first above"))
