"""Estimates, exact intervals and corrections, held to scipy and statsmodels; and tables."""

import math

import numpy as np
import pytest
from scipy.stats import (
    binomtest,
    false_discovery_control,
    fisher_exact,
    mannwhitneyu,
    ttest_1samp,
    ttest_ind,
    ttest_rel,
)
from statsmodels.stats.multitest import multipletests  # what rliable needs needs it

from lff.core import BadInputError
from lff.stats import (
    Better,
    Count,
    Row,
    benjamini_hochberg,
    contrast,
    fisher,
    holm,
    paired_t_interval,
    read_table,
    t_interval,
    write_table,
)
from lff.stats.intervals import shift_interval
from lff.stats.verdicts import Test as OneTest
from lff.stats.verdicts import Verdict, adjust, conjunction, lacks_signal
from tests.stats.tables import floor, runs


def test_paired_interval_equals_scipys():
    rng = np.random.default_rng(0)
    first, second = rng.normal(1, 1, 7), rng.normal(0, 1, 7)
    reference = ttest_rel(first, second).confidence_interval(0.9)
    ours = paired_t_interval(first, second, confidence=0.9)
    assert (ours.low, ours.high) == pytest.approx((reference.low, reference.high))
    assert ours.estimate == pytest.approx(np.mean(first - second))
    assert ours.n == 7


def test_interval_by_hand():
    """Differences 1, 2, 3: mean 2, s = 1, t(2, 0.975) = 4.3027, margin 4.3027/√3."""
    ours = paired_t_interval([1, 2, 3], [0, 0, 0])
    assert ours.high - ours.estimate == pytest.approx(4.3027 / 3**0.5, abs=1e-4)
    assert str(t_interval([1.0, 2.0, 3.0])) == "2 [-0.484, 4.48], n=3"


@pytest.mark.parametrize(("first", "second"), [([1], [1]), ([1, 2], [1]), ([], [])])
def test_interval_needs_pairs(first, second):
    with pytest.raises(BadInputError, match="same seeds"):
        paired_t_interval(first, second)


@pytest.mark.parametrize(("n", "m", "spread"), [(5, 5, 3.0), (10, 6, 1.0), (7, 20, 0.2)])
def test_a_difference_of_two_arms_is_welchs(n, m, spread):
    rng = np.random.default_rng(n)
    first, second = rng.normal(1, 1, n), rng.normal(0, spread, m)
    ours = contrast([(1.0, first), (-1.0, second)])
    for bound in (0.0, 0.7):
        theirs = [
            ttest_ind(first - bound, second, equal_var=False, alternative=side)
            for side in ("greater", "less")
        ]
        assert ours.above(bound) == pytest.approx(theirs[0].pvalue)
        assert ours.below(bound) == pytest.approx(theirs[1].pvalue)
    reference = ttest_ind(first, second, equal_var=False)
    low, high = reference.confidence_interval(0.95)
    shown = ours.interval()
    assert (shown.low, shown.high) == pytest.approx((low, high))
    assert ours.freedom == pytest.approx(reference.df)
    assert shown.n == min(n, m)


def test_one_arm_is_students():
    values = np.random.default_rng(1).normal(0.3, 1, 8)
    ours = contrast([(1.0, values)])
    assert ours.above(0.1) == pytest.approx(ttest_1samp(values, 0.1, alternative="greater").pvalue)
    low, high = ttest_1samp(values, 0).confidence_interval(0.8)
    assert (ours.interval(0.8).low, ours.interval(0.8).high) == pytest.approx((low, high))


def test_satterthwaite_by_hand():
    """Variances 2.5 and 10 of five each: (0.5 + 2)² / (0.5²/4 + 2²/4) = 6.25/1.0625."""
    ours = contrast([(1.0, [1, 2, 3, 4, 5]), (-1.0, [2, 4, 6, 8, 10])])
    assert (ours.value, ours.error, ours.freedom) == pytest.approx((-3, 2.5**0.5, 6.25 / 1.0625))


def test_logarithms_of_means_have_the_relative_error_and_means_of_logarithms_their_own():
    """Means 3 and 6, errors √½ and √2: log ½, √(0.5/9 + 2/36)."""
    arms = [(1.0, [1, 2, 3, 4, 5]), (-1.0, [2, 4, 6, 8, 10])]
    ratio = contrast(arms, "ratio")
    assert (ratio.value, ratio.error) == pytest.approx((-math.log(2), (0.5 / 9 + 2 / 36) ** 0.5))
    log = contrast(arms, "log")
    theirs = ttest_ind(*(np.log(values) for _, values in arms), equal_var=False)
    assert 2 * min(log.above(0), log.below(0)) == pytest.approx(theirs.pvalue)


@pytest.mark.parametrize(
    ("scale", "values"), [("ratio", [-1.0, -2.0]), ("log", [1.0, 0.0]), ("difference", [1.0])]
)
def test_samples_without_a_mean_or_logarithm_are_refused(scale, values):
    with pytest.raises(BadInputError, match=r"difference|more seeds"):
        contrast([(1.0, values)], scale)


def test_arms_without_spread_are_decided_by_their_values():
    ours = contrast([(1.0, [2.0, 2.0]), (-1.0, [1.0, 1.0])])
    assert (ours.above(0.9), ours.above(1.0), ours.below(1.1)) == (0.0, 1.0, 0.0)
    assert (ours.above(-math.inf), ours.below(math.inf)) == (0.0, 0.0)
    assert ours.interval().low == ours.interval().high == 1.0


@pytest.mark.parametrize(("hits", "size"), [(0, 6), (6, 6), (5, 6), (11, 20), (1, 9)])
def test_counts_of_one_arm_equal_scipys_exact_test(hits, size):
    count = Count(hits, size)
    for share in (0.5, 0.2):
        greater, less = (
            binomtest(hits, size, share, alternative=side).pvalue for side in ("greater", "less")
        )
        assert (count.above(share), count.below(share)) == pytest.approx((greater, less))
    exact = binomtest(hits, size).proportion_ci(0.95, method="exact")
    shown = count.interval()
    assert (shown.low, shown.high) == pytest.approx((exact.low, exact.high))
    assert shown.estimate == hits / size


def test_six_seeds_are_the_fewest_that_show_most_and_seventeen_eighty_percent():
    """2 · ½⁵ = 0.0625 and 2 · ½⁶ = 0.031; 0.8¹⁶ = 0.028 and 0.8¹⁷ = 0.0225."""
    assert 2 * Count(5, 5).above(0.5) == pytest.approx(0.0625)
    assert 2 * Count(6, 6).above(0.5) == pytest.approx(0.03125)
    sixteen, seventeen = (Count(n, n).above(0.8) for n in (16, 17))
    assert (sixteen, seventeen) == pytest.approx((0.8**16, 0.8**17))
    assert seventeen < 0.025 < sixteen


def test_seeds_that_are_alike_on_all_tasks_count_once():
    """Six seeds, five tasks each, all of a seed alike: about six cases, not thirty."""
    alike = Count.of([[True] * 5] * 4 + [[False] * 5] * 2)
    # shares 2/3; totals ±: 4 of 5/3, 2 of -10/3: (6/5)(4·25/9 + 2·100/9)/900 = 0.0444;
    # (2/9)/0.0444 = 5, times (t(29)/t(5))² = (2.0452/2.5706)² = 0.633
    assert alike.size == pytest.approx(5 * (2.0452 / 2.5706) ** 2, rel=1e-3)
    assert alike.hits / alike.size == pytest.approx(2 / 3)
    assert Count.of([[True] * 5] * 6) == Count(6, 6)
    assert Count.of([[False] * 5] * 6) == Count(0, 6)


def test_seeds_whose_tasks_differ_count_at_most_as_all_cases():
    balanced = Count.of([[True, False], [False, True], [True, False]])
    assert (balanced.hits, balanced.size) == (3, 6)
    one_task = Count.of([[True], [False], [True]])
    assert (one_task.hits, one_task.size) == (2, 3)


@pytest.mark.parametrize("table", [(5, 5, 0, 5), (4, 5, 1, 7), (0, 6, 3, 6), (6, 6, 6, 6)])
def test_two_arms_equal_scipys_fisher(table):
    hits, size, other, other_size = table
    square = [[hits, size - hits], [other, other_size - other]]
    theirs = [fisher_exact(square, alternative=side).pvalue for side in ("greater", "less")]
    assert fisher([table]) == pytest.approx(tuple(theirs))


def test_five_of_five_against_none_of_five():
    """1/C(10, 5) = 1/252, twice: 0.008."""
    more, less = fisher([(5, 5, 0, 5)])
    assert (more, less) == pytest.approx((1 / 252, 1.0))


def test_two_strata_by_hand():
    """Two of two against none of two, twice: each has the chance 1/6 of its largest."""
    more, less = fisher([(2, 2, 0, 2), (2, 2, 0, 2)])
    assert (more, less) == pytest.approx((1 / 36, 1.0))
    # one stratum each way: the sum is 2 of chances (1, 4, 1)/6 convolved with themselves:
    # 1, 8, 18, 8, 1 over 36
    assert fisher([(2, 2, 0, 2), (0, 2, 2, 2)]) == pytest.approx((27 / 36, 27 / 36))
    assert fisher([(2, 2, 0, 2), (0, 3, 0, 3)]) == pytest.approx((1 / 6, 1.0))


def test_starts_are_compared_by_scipys_rank_test():
    rng = np.random.default_rng(0)
    first, second = (rng.integers(100, 2_000, 9).tolist() for _ in range(2))
    rows = floor(task="dmc/x")
    for arm, steps in (("A", first), ("B", second)):
        for seed, step in enumerate(steps):
            rows.append(Row("x", arm, "dmc/x", seed, step, "return", 200.0))
    verdict = Better("A", than="B", statistic="first above").judge(rows)
    assert verdict.p == pytest.approx(mannwhitneyu(first, second).pvalue, rel=0.05)
    one_sided = min(mannwhitneyu(first, second, alternative=s).pvalue for s in ("greater", "less"))
    assert verdict.p == pytest.approx(2 * one_sided)


def test_the_shift_by_ranks_by_hand():
    """Differences 1 to 3, 0 to 2, ... of 4, 5, 6 and 1, 2, 3: their median is 3."""
    found = shift_interval([4.0, 5.0, 6.0], [1.0, 2.0, 3.0])
    assert (found.estimate, found.low, found.high, found.n) == (3.0, 1.0, 5.0, 3)
    many = shift_interval(np.arange(20.0) + 2, np.arange(20.0))
    assert many.estimate == 2.0
    # n m / 2 - 1.96 √(n m (n + m + 1) / 12) = 200 - 72.5: the 128th of 400 from each side
    shifts = np.sort(np.subtract.outer(np.arange(20.0) + 2, np.arange(20.0)), axis=None)
    assert (many.low, many.high) == (shifts[127], shifts[-128])


P_VALUES = {"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005, "e": 0.9, "f": 0.03}


@pytest.mark.parametrize(("ours", "method"), [(holm, "holm"), (benjamini_hochberg, "fdr_bh")])
def test_corrections_equal_statsmodels(ours, method):
    theirs = multipletests([*P_VALUES.values()], method=method)[1]
    assert ours(P_VALUES) == pytest.approx(dict(zip(P_VALUES, theirs, strict=True)))
    assert ours({}) == {}


def test_false_discoveries_equal_scipys():
    theirs = false_discovery_control([*P_VALUES.values()])
    found = benjamini_hochberg(P_VALUES)
    assert [found[name] for name in P_VALUES] == pytest.approx(theirs.tolist())


def verdict(p, outcome="supported here"):
    return Verdict(outcome, "", p=p)


def test_the_primary_claim_stands_alone_and_the_others_are_corrected():
    """Of 0.02, 0.03 and 0.01 beside it: 3 · 0.01 holds, 2 · 0.02 holds, 1 · 0.03 ≤ 0.05 holds."""
    given = {"primary": verdict(0.04), "b": verdict(0.02), "c": verdict(0.03), "d": verdict(0.01)}
    found = adjust(given, "primary")
    assert {n: v.adjusted for n, v in found.items()} == dict.fromkeys(given, "supported here")
    # without a primary claim: 4 · 0.01, 3 · 0.02 = 0.06, and what comes after is at least that
    alone = {name: one.adjusted for name, one in adjust(given, None).items()}
    assert alone == {**dict.fromkeys(given, "undecided here"), "d": "supported here"}


def test_what_is_not_tested_is_not_corrected():
    given = {
        "a": verdict(0.03, "contradicted here"),
        "b": verdict(None, "holds"),
        "c": verdict(0.9, "no signal"),
        "d": verdict(None, "not run"),
    }
    found = {name: one.adjusted for name, one in adjust(given, None).items()}
    assert found == {name: one.outcome for name, one in given.items()}


def task_tests(*pairs, silent=()):
    return {
        str(i): OneTest(one, other, "", silent=i in silent) for i, (one, other) in enumerate(pairs)
    }


def test_partial_conjunction_by_hand():
    """At least 2 of 4: (4 - 2 + 1) · second smallest; against it (at least 3 fail): 2 · third."""
    tests = task_tests((0.001, 0.999), (0.004, 0.996), (0.3, 0.7), (0.98, 0.02))
    found = conjunction(tests, 2)
    assert found.supports == pytest.approx(3 * 0.004)
    assert found.contradicts == 1.0
    assert found.verdict().outcome == "supported here"
    assert "at least 2 of 4 tasks asked for" in found.because
    assert conjunction(tests, 3).supports == pytest.approx(2 * 0.3)
    assert conjunction(tests, 4).contradicts == pytest.approx(4 * 0.02)


def test_one_contrary_task_does_not_contradict_most():
    tests = task_tests((0.999, 0.001), (0.3, 0.7), (0.3, 0.7))
    assert conjunction(tests, 2).contradicts == 1.0
    contrary = task_tests((0.999, 0.001), (0.99, 0.01), (0.3, 0.7))
    assert conjunction(contrary, 2).contradicts == pytest.approx(2 * 0.01)
    assert conjunction(contrary, 2).verdict().outcome == "contradicted here"


def test_tasks_without_a_signal_neither_support_nor_contradict():
    tests = task_tests((0.001, 0.999), (0.001, 0.999), silent=(0,))
    assert conjunction(tests, 2).verdict().outcome == "undecided here"
    silent = task_tests((0.001, 0.999), (0.001, 0.999), silent=(0, 1))
    assert conjunction(silent, 2).verdict().outcome == "no signal"


@pytest.mark.parametrize(
    ("supports", "contradicts", "alpha", "outcome"),
    [
        (0.025, 0.975, 0.05, "supported here"),
        (0.026, 0.974, 0.05, "undecided here"),
        (0.975, 0.025, 0.05, "contradicted here"),
        (0.0148, 0.985, 0.0294, "undecided here"),  # the first of two looks: 0.0147 a side
        (0.0146, 0.985, 0.0294, "supported here"),
    ],
)
def test_a_test_decides_at_half_its_level_a_side(supports, contradicts, alpha, outcome):
    assert OneTest(supports, contradicts, "").verdict(alpha).outcome == outcome


@pytest.mark.parametrize(
    ("arms", "span", "silent"),
    [
        ([3.0, 7.0], None, True),
        ([3.0, 7.1], None, False),
        ([-100.0, 5.0], None, True),  # one-sided: worse than chance is not learning
        ([3.0, 55.0], 1_000.0, True),  # 5 % of the span above the mean, whatever the deviation
        ([3.0, 55.1], 1_000.0, False),
        ([3.0, 7.1], 30.0, False),
    ],
)
def test_no_signal_is_at_most_two_deviations_or_a_twentieth_of_the_span_above_random(
    arms, span, silent
):
    """Returns 4, 5, 6 have mean 5 and standard deviation 1."""
    assert lacks_signal(arms, [4, 5, 6], span=span) is silent


def test_one_random_return_does_not_silence():
    assert not lacks_signal([1.0], [1.0], span=1_000.0)


def test_tables_round_trip(tmp_path):
    rows = runs("LFF σ=0.01", [0.1, 2.0, 1e-9])
    path = tmp_path / "deep" / "table.csv"
    write_table(path, rows, provenance={"command": "make"})
    assert read_table(path) == rows
    assert '"command": "make"' in path.with_suffix(".json").read_text()


def test_a_strange_table_is_refused(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(BadInputError, match=r"table must be tidy, got 'table\.csv'"):
        read_table(path)
