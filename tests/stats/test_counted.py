"""Claims that count runs, judged on tables whose counts are known."""

import math

import pytest
from scipy.stats import fisher_exact

from lff.core import BadInputError
from lff.stats import RETURN, Computed, Metric, MoreOften
from tests.stats.tables import (
    CONTRADICTED,
    ONE_TO_FIVE,
    SUPPORTED,
    UNDECIDED,
    floor,
    numbers,
    runs,
)

Q, M = Metric("|Q|"), Metric("m")


def hits(variant, count, size, **fields):
    """Runs of which the first ``count`` are 1, the others 0."""
    return runs(variant, [1.0] * count + [0.0] * (size - count), metric=M, **fields)


def often(**fields):
    return MoreOften("A", metric=M, above=0.5, **fields)


@pytest.mark.parametrize(
    ("count", "size", "outcome"),
    [
        (6, 6, SUPPORTED),  # 2 · ½⁶ = 0.031
        (5, 5, UNDECIDED),  # 0.0625
        (9, 10, SUPPORTED),  # 2 · 11/1024
        (8, 10, UNDECIDED),  # 2 · 56/1024 = 0.109
        (1, 10, CONTRADICTED),
        (0, 6, CONTRADICTED),
    ],
)
def test_in_most_runs(count, size, outcome):
    verdict = often().judge(hits("A", count, size))
    assert verdict.outcome == outcome
    assert f"last m of A > 0.5 in {count} of {size}: {count / size:.0%} [" in verdict.because
    assert verdict.because.endswith("asked for > 50%")


def test_the_interval_is_clopper_and_pearsons():
    """Of 9 in 10 it is 55.5 to 99.7 %."""
    verdict = often().judge(hits("A", 9, 10))
    assert (verdict.interval.low, verdict.interval.high) == pytest.approx(
        (0.55498, 0.99747), abs=1e-5
    )
    assert verdict.p == pytest.approx(2 * 11 / 1024)
    assert "90% [55%, 100%]" in verdict.because


def test_tasks_that_share_seeds_count_by_their_effective_number():
    """Seeds 0 to 3 of six are hits on all five tasks: 20 of 30 runs, but about three cases."""
    rows = [row for task in "abcde" for row in hits("A", 4, 6, task=task)]
    verdict = often().judge(rows)
    assert verdict.outcome == UNDECIDED
    # 5 · (t(29, 0.975) / t(5, 0.975))² = 5 · (2.04523 / 2.57058)²
    assert "in 20 of 30, 3.17 effective: 67% [" in verdict.because
    assert [line.partition(":")[0] for line in verdict.details] == [*"abcde"]


def test_all_of_all_tasks_is_as_many_as_there_are_seeds():
    rows = [row for task in "ab" for row in hits("A", 5, 5, task=task)]
    verdict = often().judge(rows)
    assert (verdict.outcome, verdict.p) == (UNDECIDED, pytest.approx(0.0625))
    assert "in 10 of 10, 5 effective" in verdict.because


def test_tasks_of_which_some_number_must_have_it():
    rows = [r for task, n in (("a", 8), ("b", 8), ("c", 0)) for r in hits("A", n, 8, task=task)]
    # 8 of 8: one-sided 1/256; at least 2 of 3: 2/256, twice that is 0.0156
    verdict = often(on_at_least=2).judge(rows)
    assert (verdict.outcome, verdict.p) == (SUPPORTED, pytest.approx(4 / 256))
    assert often(on_at_least=3).judge(rows).outcome == CONTRADICTED


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        ((5, 5), (0, 5), SUPPORTED),  # 2/252
        ((0, 5), (5, 5), CONTRADICTED),
        ((5, 5), (2, 5), UNDECIDED),
        ((6, 8), (1, 9), SUPPORTED),
    ],
)
def test_more_often_than_another_arm_by_fishers_exact_test(first, second, outcome):
    verdict = often(than="B").judge(hits("A", *first) + hits("B", *second))
    square = [[first[0], first[1] - first[0]], [second[0], second[1] - second[0]]]
    one_sided = [fisher_exact(square, alternative=side).pvalue for side in ("greater", "less")]
    assert verdict.p == pytest.approx(min(1.0, 2 * min(one_sided)))
    assert verdict.outcome == outcome
    words = f"in {first[0]} of {first[1]}, of B in {second[0]} of {second[1]}; difference "
    assert words in verdict.because


def test_strata_are_compared_within_themselves():
    """All of A and none of B on an easy task; on the hard one neither: 1/C(10, 5) = 1/252."""
    rows = hits("A", 5, 5, task="easy") + hits("B", 0, 5, task="easy")
    rows += hits("A", 0, 5, task="hard") + hits("B", 0, 5, task="hard")
    verdict = often(than="B").judge(rows)
    assert verdict.p == pytest.approx(2 / 252)
    assert "in 5 of 10, of B in 0 of 10; difference 50%" in verdict.because


def test_the_difference_is_by_newcombes_rule_from_exact_intervals():
    """5 of 5 is 48 to 100 %, 0 of 5 is 0 to 52 %: 1 - √(0.522² + 0.522²)."""
    verdict = often(than="B").judge(hits("A", 5, 5) + hits("B", 0, 5))
    exact = 1 - 0.025**0.2  # the upper limit of none of five
    assert (verdict.interval.low, verdict.interval.high) == pytest.approx((1 - 2**0.5 * exact, 1.0))


@pytest.mark.parametrize("value", [101.0, math.inf, math.nan])
def test_the_largest_q_of_a_run_that_diverged_is_above_any_bound(value):
    claim = MoreOften("A", metric=Q, statistic="max", above=100.0)
    verdict = claim.judge(runs("A", [value] * 6, metric=Q))
    assert verdict.outcome == SUPPORTED
    assert "largest |Q| of A > 100 in 6 of 6" in verdict.because


def test_bounds_as_multiples_of_another_arm_of_the_same_seed():
    """A is 10, 20, ..., 60 and B 1, ..., 6: ten times at every seed, not more."""
    ones = [*ONE_TO_FIVE, 6.0]
    rows = runs("A", [10 * v for v in ones], metric=M) + runs("B", ones, metric=M)
    for above, outcome in ((9.9, SUPPORTED), (10.0, CONTRADICTED)):
        assert MoreOften("A", metric=M, above=above, times="B").judge(rows).outcome == outcome
    both = MoreOften("A", metric=M, above=9.0, below=9.5, times="B").judge(rows)
    assert both.outcome == CONTRADICTED
    assert "> 9 times B and < 9.5 times B" in both.because


def test_more_than_so_many_times_the_random_policy():
    random = runs("random policy", [*ONE_TO_FIVE, 6.0], step=0)
    claim = MoreOften("A", above=2.0, times="random policy")
    assert claim.judge(random + runs("A", [99.0] * 6)).outcome == SUPPORTED
    half = claim.judge(random + runs("A", [5.5] * 6))  # above twice in seeds 0 and 1 alone
    assert "in 2 of 6" in half.because


def arms_in_order(last):
    return hits("a", 0, 6) + hits("b", 6, 6) + runs("c", last, metric=M)


@pytest.mark.parametrize(
    ("last", "direction", "outcome"),
    [
        ([2.0] * 6, "rises", SUPPORTED),
        ([1.0] * 6, "rises", SUPPORTED),  # equal neighbours are allowed
        ([0.5] * 6, "rises", CONTRADICTED),
        ([2.0] * 3 + [0.5] * 3, "rises", UNDECIDED),
        ([-1.0] * 6, "falls", CONTRADICTED),
    ],
)
def test_arms_in_order_at_each_seed(last, direction, outcome):
    claim = MoreOften(order=("a", "b", "c"), metric=M, direction=direction)
    verdict = claim.judge(arms_in_order(last))
    assert verdict.outcome == outcome
    assert f"last m {direction} from each to the next of a, b, c in " in verdict.because


def test_flat_is_neither_rising_nor_falling():
    flat = [row for arm in "abc" for row in runs(arm, [1.0] * 6, metric=M)]
    for direction in ("rises", "falls"):
        claim = MoreOften(order=("a", "b", "c"), metric=M, direction=direction)
        assert claim.judge(flat).outcome == CONTRADICTED


def test_seeds_that_one_arm_lacks_are_left_out():
    rows = hits("a", 0, 7) + hits("b", 6, 6)
    assert "in 6 of 6" in MoreOften(order=("a", "b"), metric=M).judge(rows).because


def test_events_of_returns_need_a_signal():
    rows = runs("A", [3.0] * 6, task="dmc/x") + floor(task="dmc/x")
    claim = MoreOften("A", metric=RETURN, below=10.0)
    assert claim.judge(rows).outcome == "no signal"
    assert claim.judge(rows[:6]).outcome == SUPPORTED


def test_a_table_without_the_arm_is_not_run():
    assert often().judge(hits("B", 6, 6)).outcome == "not run"
    assert often(than="B").judge(hits("A", 6, 6)).outcome == "not run"


@pytest.mark.parametrize(
    ("values", "outcome"), [([1.0, 2.0], "holds"), ([1.0, 0.4], "refuted"), ([0.0], "refuted")]
)
def test_what_is_computed_holds_at_every_draw_or_is_refuted(values, outcome):
    verdict = Computed("A", metric=M, above=0.5).judge(runs("A", values, metric=M))
    assert (verdict.outcome, verdict.p, verdict.interval) == (outcome, None, None)
    held = sum(value > 0.5 for value in values)
    assert verdict.because == f"last m of A > 0.5 in {held} of {len(values)}"


def test_computed_is_over_all_tasks():
    rows = runs("A", [1.0, 1.0], metric=M) + runs("A", [1.0, 0.0], metric=M, task="u")
    verdict = Computed("A", metric=M, above=0.5).judge(rows)
    assert verdict.outcome == "refuted"
    assert [line.partition(";")[0] for line in verdict.details] == ["t: in 2 of 2", "u: in 1 of 2"]
    order = Computed(order=("A", "B"), metric=M, direction="falls")
    assert order.judge(rows + runs("B", [0.5, 0.5], metric=M)).outcome == "holds"
    assert Computed("A", metric=M, above=0.5).judge([]).outcome == "not run"


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: MoreOften("A", metric=M), "set above or below"),
        (lambda: MoreOften(metric=M, above=1.0), "name one of the two"),
        (lambda: MoreOften("A", order=("a", "b"), metric=M), "name one of the two"),
        (lambda: Computed(order=("a",), metric=M), "2 or more arms"),
    ],
)
def test_bad_claims_are_refused_when_they_are_made(make, says):
    with pytest.raises(BadInputError, match=says):
        make()


def test_numbers_of_the_interval_are_in_the_text():
    text = often().judge(hits("A", 9, 10)).because.replace("%", "")
    assert numbers(text) == (55, 100)
