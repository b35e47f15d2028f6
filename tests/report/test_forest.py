"""Bars of verdicts: where they lie beside what was asked for."""

import math

import pytest

from lff.report.forest import MARGIN, bars_of
from lff.stats import RETURN, Better, Computed, Equivalent, Interval, MoreOften, Row, Verdict
from lff.stats.verdicts import Bounds

ROWS = [
    Row("x", arm, task, seed, step, "return", level + seed)
    for arm, level in (("MLP", 100.0), ("LFF", 200.0))
    for task in ("gym/Pendulum-v1", "gym/Hopper-v5")
    for seed in range(5)
    for step in (0, 1)
]
ONE = ("gym/Pendulum-v1",)


def bar(interval, bounds, outcome="undecided here"):
    (found,) = bars_of(Verdict(outcome, "", interval=Interval(*interval, 5), bounds=bounds))
    return found


def test_what_was_asked_for_is_in_the_middle_and_the_furthest_end_near_the_edge():
    found = bar((3.0, 1.0, 5.0), Bounds(low=2.0))
    assert found.claimed == (50, 100)
    assert found.high == pytest.approx(50 + 50 / MARGIN)
    assert found.dot == pytest.approx(50 + 50 / MARGIN / 3)
    assert found.low == pytest.approx(50 - 50 / MARGIN / 3)


def test_the_claimed_side_is_the_right_one_also_below_a_bound():
    found = bar((0.035, 0.028, 0.043), Bounds(-math.inf, 0.00625))
    assert found.low < found.dot < found.high < 50
    assert found.low == pytest.approx(50 - 50 / MARGIN)


def test_ratios_are_on_a_logarithmic_scale():
    found = bar((1.0, 0.5, 2.0), Bounds(1.0, math.inf, is_ratio=True))
    assert found.dot == 50
    assert found.high - 50 == pytest.approx(50 - found.low)
    left = bar((0.5, 0.25, 0.9), Bounds(0.0, 1.0, is_ratio=True))
    assert 50 < left.low < left.dot < left.high == pytest.approx(50 + 50 / MARGIN)


def test_two_bounds_are_a_range_around_the_middle():
    found = bar((0.0, -0.1, 0.1), Bounds(-0.2, 0.2))
    assert found.claimed == pytest.approx((50 - 50 / 1.5 / MARGIN, 50 + 50 / 1.5 / MARGIN))
    assert (found.low, found.high) == pytest.approx(
        (50 - 25 / 1.5 / MARGIN, 50 + 25 / 1.5 / MARGIN)
    )


def test_an_end_without_bound_is_cut_at_the_edge():
    found = bar((1.0, -1.0, math.inf), Bounds())
    assert (found.low, found.high) == (pytest.approx(50 - 50 / MARGIN), 100)


@pytest.mark.parametrize(
    ("claim", "bounds"),
    [
        (Better("LFF", than="MLP", tasks=ONE), Bounds()),
        (Better("LFF", than="MLP", tasks=ONE, scale="ratio", by=1.5), (1.5, math.inf, True)),
        (Better("LFF", than=150.0, tasks=ONE), Bounds(150.0)),
        (Better("LFF", than=250.0, sign=-1, tasks=ONE), Bounds(-math.inf, 250.0)),
        (Equivalent("LFF", than="MLP", tasks=ONE), (1 / 1.2, 1.2, True)),
        (MoreOften("LFF", above=150.0, tasks=ONE), Bounds(0.5)),
        (MoreOften("LFF", than="MLP", above=150.0, tasks=ONE), Bounds()),
    ],
)
def test_verdicts_carry_what_was_asked_for(claim, bounds):
    verdict = claim.judge(ROWS)
    assert verdict.interval is not None
    assert verdict.bounds == pytest.approx(bounds)
    (found,) = bars_of(verdict)
    inside = found.claimed[0] < found.low and found.high <= found.claimed[1]
    assert inside == (verdict.outcome == "supported here")


def test_at_least_so_many_tasks_are_bars_one_by_one():
    verdict = Better("LFF", than="MLP", on_at_least=2).judge(ROWS)
    assert verdict.interval is None
    assert [task for task, _ in verdict.tasks] == ["gym/Pendulum-v1", "gym/Hopper-v5"]
    assert [one.outcome for one in bars_of(verdict)] == ["supported here"] * 2
    assert bars_of(Computed("LFF", metric=RETURN, above=0.0).judge(ROWS)) == []
