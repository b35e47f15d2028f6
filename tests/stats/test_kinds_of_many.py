"""Claims that count seeds, or go over many variants and steps; and claims that are refused."""

import math

import pytest

from lff.core import BadInputError
from lff.stats import (
    RETURN,
    AsGood,
    Better,
    Correlates,
    InSeeds,
    Metric,
    Monotone,
    Point,
    Row,
    Slope,
)
from tests.stats.tables import MARGIN, ONE_TO_FIVE, UNDECIDED, floor, numbers, runs, shifted

Q, M = Metric("|Q|"), Metric("m")
FIRST, OTHER = Metric("a"), Metric("b")


def in_seeds(**fields):
    return InSeeds(name="C-3", text="Q of A explodes.", arm="A", **fields)


@pytest.mark.parametrize(
    ("values", "outcome"),
    [
        ([101.0, 102.0, math.inf, 0.0, 100.0], "confirmed"),
        ([101.0, 102.0, 100.0, 0.0, 0.0], "refuted"),
        ([101.0, 102.0, math.nan, 0.0, 0.0], "confirmed"),
        ([101.0] * 4, UNDECIDED),
    ],
)
def test_above_a_bound_in_three_of_five_seeds(values, outcome):
    claim = in_seeds(metric=Q, above=100.0, statistic="max", share=0.6)
    verdict = claim.judge(runs("A", values, metric=Q))
    assert verdict.outcome == outcome
    assert "largest |Q| of A > 100 in" in verdict.because


def test_counts_go_over_the_seeds_of_all_tasks():
    rows = runs("A", [1.0] * 5) + runs("A", [0.0, 0.0, 0.0, 0.0, 1.0], task="u")
    claim = in_seeds(metric=RETURN, above=0.5, share=0.6)
    verdict = claim.judge(rows)
    assert verdict.outcome == "confirmed"
    assert "in 6 of 10, asked for 60%" in verdict.because
    assert [line.partition(";")[0] for line in verdict.details] == ["t: in 5 of 5", "u: in 1 of 5"]
    few = [row for row in rows if row.seed < 3]
    assert claim.judge(few).outcome == UNDECIDED  # six runs, but of three seeds


def test_bounds_as_multiples_of_another_arm_of_the_same_seed():
    """A is 10, 20, …, 50 and B 1, …, 5: always 10 times, never more."""
    rows = runs("A", [10 * v for v in ONE_TO_FIVE]) + runs("B", ONE_TO_FIVE)
    for above, outcome in ((9.9, "confirmed"), (10.0, "refuted")):
        verdict = in_seeds(metric=RETURN, above=above, than="B", share=1.0).judge(rows)
        assert verdict.outcome == outcome
    assert in_seeds(metric=RETURN, below=10.1, than="B").judge(rows).outcome == "confirmed"
    both = in_seeds(metric=RETURN, above=9.0, below=9.5, than="B").judge(rows)
    assert both.outcome == "refuted"
    assert "> 9 times B and < 9.5 times B" in both.because


def test_less_than_so_many_times_the_random_policy():
    random = runs("random policy", ONE_TO_FIVE, step=0)
    rows = random + runs("A", [1.4 * v for v in ONE_TO_FIVE])
    claim = in_seeds(metric=RETURN, below=1.5, than="random policy")
    assert claim.judge(rows).outcome == "confirmed"
    assert claim.judge(random + runs("A", [1.6] * 5)).outcome == "confirmed"  # in seeds 1 to 4
    assert claim.judge(random + runs("A", [10.0] * 5)).outcome == "refuted"


@pytest.mark.parametrize(
    ("direction", "last", "outcome"),
    [
        ("rises", [3.0, 3.0, 3.0, 3.0, 1.5], "confirmed"),
        ("rises", [3.0, 3.0, 3.0, 2.0, 1.5], "confirmed"),  # equal neighbours are allowed
        ("rises", [3.0, 3.0, 3.0, 1.5, 1.5], "refuted"),
        ("falls", [3.0, 3.0, 3.0, 3.0, 1.5], "refuted"),
        ("rises", [math.inf] * 4, UNDECIDED),
    ],
)
def test_monotone_in_four_of_five_seeds(direction, last, outcome):
    claim = Monotone(
        name="C-4",
        text="It rises.",
        variants=("a", "b", "c"),
        metric=M,
        direction=direction,
    )
    rows = runs("a", [1.0] * 5, metric=M) + runs("b", [2.0] * 5, metric=M)
    assert claim.judge(rows + runs("c", last, metric=M)).outcome == outcome


def test_flat_is_not_monotone_and_falling_is():
    names = ("a", "b", "c")
    fields = {"name": "C-4", "text": "It falls.", "variants": names, "metric": M}
    claim = Monotone(direction="falls", **fields)
    flat = [row for name in names for row in runs(name, [1.0] * 5, metric=M)]
    assert claim.judge(flat).outcome == "refuted"
    rows = [r for i, n in enumerate(names) for r in runs(n, [3.0 - i] * 5, metric=M)]
    assert claim.judge(rows).outcome == "confirmed"


def slope_rows(slopes, *, base=100.0):
    """Three variants at x = 1, 10, 100, on lines of these slopes per factor of ten."""
    return [
        row
        for i, name in enumerate(("low", "mid", "high"))
        for row in runs(name, [base + i * slope for slope in slopes])
    ]


POINTS = (Point(1, "low"), Point(10, "mid"), Point(100, "high"))


def slope(points=POINTS, **fields):
    return Slope(name="C-5", text="It grows with x.", points=points, **fields)


@pytest.mark.parametrize(
    ("by", "sign", "outcome"),
    [(0, 1, "confirmed"), (0, -1, "refuted"), (-6, -1, "confirmed"), (-2, 1, UNDECIDED)],
)
def test_slope_by_the_t_interval_of_one_slope_per_seed(by, sign, outcome):
    rows = slope_rows(shifted(ONE_TO_FIVE, by)) + floor()
    verdict = slope(log_x=True, sign=sign).judge(rows)
    assert verdict.outcome == outcome
    mean = sign * (3 + by)
    assert numbers(verdict.because) == pytest.approx((mean - MARGIN, mean + MARGIN), abs=0.005)
    assert slope(log_x=True, sign=sign).judge(slope_rows([1.0] * 4)).outcome == UNDECIDED


def test_slope_per_unit_of_x():
    """y = 0, 1, 5 at x = 0, 1, 2: Σ(x−1)(y−2) = 2 + 3 over Σ(x−1)² = 2."""
    points = (Point(0, "low"), Point(1, "mid"), Point(2, "high"))
    rows = [r for n, y in (("low", 0), ("mid", 1), ("high", 5)) for r in runs(n, [y + 9.0] * 5)]
    assert ": 2.5 [2.5, 2.5], n=5" in slope(points).judge(rows).because


def test_slope_of_a_difference():
    """The arms rise together; their difference grows by 1 to 5 a step."""
    points = tuple(Point(x, f"A{x}", minus=f"B{x}") for x in (0, 1, 2))
    rows = floor()
    for x in (0, 1, 2):
        rows += runs(f"A{x}", [50.0 + 20 * x + x * s for s in ONE_TO_FIVE])
        rows += runs(f"B{x}", [40.0 + 20 * x] * 5)
    verdict = slope(points).judge(rows)
    assert verdict.outcome == "confirmed"
    assert numbers(verdict.because) == pytest.approx((3 - MARGIN, 3 + MARGIN), abs=0.005)
    assert verdict.because.startswith("slope of difference in mean return")


def test_slope_across_tasks():
    """A gap of 1 on the task of dimension 2 and of 1 + 4·(1..5) on that of dimension 6."""
    points = (Point(2, "A", minus="B", task="t"), Point(6, "A", minus="B", task="u"))
    rows = runs("A", [101.0] * 5) + runs("B", [100.0] * 5) + floor() + floor(task="u")
    rows += runs("A", [51 + 4 * s for s in ONE_TO_FIVE], task="u") + runs("B", [50.0] * 5, task="u")
    verdict = slope(points).judge(rows)
    assert verdict.outcome == "confirmed"
    assert numbers(verdict.because) == pytest.approx((3 - MARGIN, 3 + MARGIN), abs=0.005)
    assert "A on u 63" in verdict.details[0]


def test_slope_where_nothing_learns():
    assert slope().judge(slope_rows([0.1] * 5, base=0.5) + floor()).outcome == "no signal"


def curves_of(first, second):
    """Runs whose metrics a and b have these values over the steps, one pair per seed."""
    return [
        Row("x", "A", "t", seed, step, metric, value)
        for seed, pair in enumerate(zip(first, second, strict=True))
        for metric, values in zip("ab", pair, strict=True)
        for step, value in enumerate(values)
    ]


UP = [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize(
    ("others", "bounds", "outcome"),
    [
        # rank correlations −1, −1, −1, −1, −0.8: mean −0.96 ± 2.7764·0.04
        ([[4, 3, 2, 1]] * 4 + [[4, 3, 1, 2]], {"below": -0.5}, "confirmed"),
        ([[4, 3, 2, 1]] * 4 + [[4, 3, 1, 2]], {"below": -0.9}, UNDECIDED),
        ([[4, 3, 2, 1]] * 4 + [[4, 3, 1, 2]], {"above": 0.0}, "refuted"),
        ([[9, 99, 999, math.inf]] * 5, {"above": 0.5}, "confirmed"),
        ([[4, 3, 2, 1]] * 4, {"below": -0.5}, UNDECIDED),
    ],
)
def test_rank_correlation_within_each_run(others, bounds, outcome):
    claim = Correlates(name="C-6", text="", arm="A", metric=FIRST, other=OTHER, **bounds)
    verdict = claim.judge(curves_of([UP] * len(others), others))
    assert verdict.outcome == outcome
    if len(others) == 5 and others[0][0] == 4:
        ends = -0.96 - 2.7764 * 0.04, -0.96 + 2.7764 * 0.04
        assert numbers(verdict.because) == pytest.approx(ends, abs=0.005)


def test_curves_without_a_correlation_are_named():
    claim = Correlates(name="C-6", text="", arm="A", metric=FIRST, other=OTHER, above=0.5)
    others = [[1, 2, 3, 4]] * 5 + [[7, 7, 7, 7], [1, 2, math.nan, math.nan]]
    verdict = claim.judge(curves_of([UP] * 7, others))
    assert verdict.outcome == "confirmed"
    assert verdict.because.startswith("rank correlation of a and b, A: 1 [1, 1], n=5")
    assert "no correlation in seeds 5, 6" in verdict.details[0]
    assert claim.judge(curves_of([UP], others[:1])).outcome == UNDECIDED


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Better("A", than="B", statistic="median"), "statistic must be one of mean"),
        (lambda: Better("A", than="B", statistic="first above", metric=Q), "only a return"),
        (lambda: Better("A", than="B", sign=2), "sign must be 1 or -1"),
        (lambda: AsGood(name="", text="", arm="A", than="B", share=0), "share must be above 0"),
        (lambda: in_seeds(metric=M), "set above or below"),
        (
            lambda: in_seeds(metric=M, above=1, share=60),
            "share must be above 0 and at most 1",
        ),
        (
            lambda: Monotone(name="", text="", variants=("a",), metric=M, direction="rises"),
            "2 or more",
        ),
        (lambda: slope(POINTS[:1]), "different x"),
        (lambda: slope((*POINTS, Point(0, "no")), log_x=True), "above 0 on a logarithmic axis"),
        (lambda: slope((*POINTS, Point(5, "a", task="t"))), "all with a task"),
        (
            lambda: Correlates(name="", text="", arm="A", metric=FIRST, other=OTHER),
            "set above",
        ),
    ],
)
def test_bad_claims_are_refused_when_they_are_made(make, says):
    with pytest.raises(BadInputError, match=says):
        make()
