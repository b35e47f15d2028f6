"""Comparisons of arms and numbers, judged on tables whose numbers are computed by hand."""

import math

import pytest
from scipy.stats import ttest_ind

from lff.core import BadInputError
from lff.stats import Better, Equivalent, Metric, Row
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

Q, ERROR, SCORE = Metric("|Q|"), Metric("error", better="lower"), Metric("score")
TWOS = [2.0 * value for value in ONE_TO_FIVE]


def better(**fields):
    return Better("A", than="B", **fields)


@pytest.mark.parametrize(
    ("by", "sign", "outcome"),
    [
        (0, 1, SUPPORTED),
        (-6, 1, CONTRADICTED),
        (-2, 1, UNDECIDED),
        (0, -1, CONTRADICTED),
        (-6, -1, SUPPORTED),
    ],
)
def test_better_by_welchs_interval(by, sign, outcome):
    rows = runs("A", shifted(ONE_TO_FIVE, 100 + by)) + runs("B", [100.0] * 5) + floor()
    verdict = better(sign=sign).judge(rows)
    assert verdict.outcome == outcome
    mean = sign * (3 + by)
    assert numbers(verdict.because) == pytest.approx((mean - MARGIN, mean + MARGIN), abs=0.005)
    order = "A minus B" if sign > 0 else "B minus A"
    assert verdict.because.startswith(f"mean return over the curve, {order}: {mean} [")
    assert verdict.details[0].startswith(f"paired difference {mean} [")
    assert verdict.details[1:] == (f"A {103 + by}", "B 100", "random policy 0 ± 1", "zero policy 0")


def test_two_spreads_and_sizes_equal_scipys_p():
    """B has a run more and none of A's seeds: arms are not paired."""
    first, second = shifted(ONE_TO_FIVE, 100), shifted([*TWOS, 7.0], 90)
    apart = [row._replace(seed=row.seed + 50) for row in runs("B", second)]
    verdict = better().judge(runs("A", first) + apart)
    reference = ttest_ind(first, second, equal_var=False)
    assert verdict.p == pytest.approx(reference.pvalue)
    low, high = reference.confidence_interval()
    assert (verdict.interval.low, verdict.interval.high) == pytest.approx((low, high))
    assert verdict.interval.n == 5
    assert not any("paired" in line for line in verdict.details)


def test_less_is_better_where_the_metric_says_so():
    rows = runs("A", ONE_TO_FIVE, metric=ERROR) + runs("B", [9.0] * 5, metric=ERROR)
    assert better(metric=ERROR).judge(rows).outcome == SUPPORTED
    assert better(metric=ERROR, sign=1).judge(rows).outcome == CONTRADICTED


def test_a_ratio_is_that_of_the_means():
    """Means 6 and 3, errors √2 and √½: log 2 ± t(8) · √(2/36 + 0.5/9), t(8, 0.975) = 2.306."""
    rows = runs("A", TWOS, metric=SCORE) + runs("B", ONE_TO_FIVE, metric=SCORE)
    verdict = better(metric=SCORE, scale="ratio").judge(rows)
    margin = 2.3060 * (1 / 9) ** 0.5
    assert numbers(verdict.because) == pytest.approx(
        (2 * math.exp(-margin), 2 * math.exp(margin)), abs=0.01
    )
    assert verdict.outcome == UNDECIDED
    assert "A over B: 2 [" in verdict.because


def test_a_log_ratio_is_that_of_geometric_means():
    """1, 2, 4, 8, 16 and a quarter of them: geometric means 4 and 1."""
    powers = [1.0, 2.0, 4.0, 8.0, 16.0]
    rows = runs("A", powers, metric=SCORE) + runs("B", [p / 4 for p in powers], metric=SCORE)
    verdict = better(metric=SCORE, scale="log").judge(rows)
    assert "A over B: 4 [" in verdict.because
    spread = math.log(2) * 2.5**0.5 / 5**0.5  # of the logarithms, both arms
    margin = 2.3060 * 2**0.5 * spread
    assert numbers(verdict.because) == pytest.approx(
        (4 * math.exp(-margin), 4 * math.exp(margin)), rel=0.01
    )


@pytest.mark.parametrize(
    ("by", "outcome"), [(1.0, SUPPORTED), (1.04, UNDECIDED), (6.0, CONTRADICTED)]
)
def test_by_so_much(by, outcome):
    """3 ± 1.9632 of a difference: above 1.0368."""
    rows = runs("A", shifted(ONE_TO_FIVE, 100)) + runs("B", [100.0] * 5)
    verdict = better(by=by).judge(rows)
    assert verdict.outcome == outcome
    assert f"asked for > {by:g}" in verdict.because


@pytest.mark.parametrize(
    ("share", "outcome"), [(0.9, SUPPORTED), (0.92, UNDECIDED), (0.99, CONTRADICTED)]
)
def test_a_share_of_the_gain_over_the_random_policy(share, outcome):
    """Gains of 93 ± 1.9632 and 100 over a random policy at -200."""
    random = runs("random policy", [-200.0] * 5, step=0)
    rows = runs("A", shifted(ONE_TO_FIVE, -110)) + runs("B", [-100.0] * 5) + random
    verdict = better(share=share).judge(rows)
    assert verdict.outcome == outcome
    mean = 93 - 100 * share
    assert numbers(verdict.because) == pytest.approx((mean - MARGIN, mean + MARGIN), abs=0.005)
    assert f"A minus {share} of B, both above the random policy" in verdict.because


def test_a_share_left_out_does_not_change_what_decides():
    assert "share" not in better().decides
    assert better(share=0.8).decides["share"] == 0.8


@pytest.mark.parametrize(("by", "outcome"), [(1.5, SUPPORTED), (2.5, CONTRADICTED)])
def test_by_a_factor(by, outcome):
    """Means of 200 and 100 with an error of ½ %."""
    rows = runs("A", shifted(ONE_TO_FIVE, 197), metric=SCORE) + runs("B", [100.0] * 5, metric=SCORE)
    verdict = better(metric=SCORE, scale="ratio", by=by).judge(rows)
    assert verdict.outcome == outcome
    assert f"asked for > {by:g}" in verdict.because


@pytest.mark.parametrize(
    ("than", "metric", "scale", "outcome"),
    [
        (1.0, SCORE, "difference", SUPPORTED),  # 3 ± 1.9632
        (1.1, SCORE, "difference", UNDECIDED),
        (5.0, SCORE, "difference", CONTRADICTED),
        (5.0, ERROR, "difference", SUPPORTED),
        (1.0, ERROR, "difference", CONTRADICTED),
        (1.5, SCORE, "ratio", SUPPORTED),  # log 3 ± 2.7764 · √½/3: from 1.56 to 5.77
        (1.6, SCORE, "ratio", UNDECIDED),
    ],
)
def test_better_than_a_number(than, metric, scale, outcome):
    rows = runs("A", ONE_TO_FIVE, metric=metric)
    verdict = Better("A", than=than, metric=metric, scale=scale).judge(rows)
    assert verdict.outcome == outcome
    assert f"asked for {'>' if metric is SCORE else '<'} {than:g}" in verdict.because


def test_a_number_is_in_the_units_of_the_return_on_several_tasks_too():
    """Means 503 and 703 of a span of 1,000: 603 is above 600, not 0.603."""
    rows = runs("A", shifted(ONE_TO_FIVE, 500), task="dmc/a")
    rows += runs("A", shifted(ONE_TO_FIVE, 700), task="dmc/b")
    assert Better("A", than=600.0).judge(rows).outcome == SUPPORTED
    assert Better("A", than=606.0).judge(rows).outcome == CONTRADICTED


def test_a_gain_over_another_gain_by_hand():
    """(3 - 0) - (1 - 0) = 2, its error that of one arm."""
    rows = runs("A", ONE_TO_FIVE, metric=SCORE) + runs("C", [1.0] * 5, metric=SCORE)
    rows += runs("B", [0.0] * 5, metric=SCORE) + runs("D", [0.0] * 5, metric=SCORE)
    verdict = better(over=("C", "D"), metric=SCORE).judge(rows)
    assert verdict.outcome == SUPPORTED
    assert numbers(verdict.because) == pytest.approx((2 - MARGIN, 2 + MARGIN), abs=0.005)
    assert "gain of A minus B, minus that of C minus D: 2 [" in verdict.because


def test_gains_are_of_each_pairs_own_length():
    """A and B end at step 10, C and D at 30: A is not carried on."""
    rows = []
    for seed in range(5):
        for arm, values in {"A": (0, 10), "B": (0, 0), "C": (0, 1, 1, 1), "D": (0,) * 4}.items():
            for step, value in enumerate(values):
                rows.append(Row("x", arm, "t", seed, 10 * step, "score", value + seed / 1e3))
    verdict = better(over=("C", "D"), metric=SCORE).judge(rows)
    assert verdict.interval.estimate == pytest.approx(5 - 2.5 / 3)  # 10 over one step is 5


def test_means_over_tasks_are_shares_of_their_spans():
    """Gains of 30 of 1,000 and of 60 of 2,000: 0.03 each; errors 0.01·√½ and 0.02·√½ over 2."""
    rows = []
    for task, unit in (("dmc/x", 10.0), ("gym/HalfCheetah-v5", 20.0)):
        rows += runs("A", [500 + unit * v for v in ONE_TO_FIVE], task=task)
        rows += runs("B", [500.0] * 5, task=task) + floor(task=task)
    verdict = better().judge(rows)
    assert verdict.interval.estimate == pytest.approx(0.03)
    # each part is 0.01·√½ / 2 in shares, so Satterthwaite has 8 degrees: t(8, 0.975) = 2.3060
    margin = 2.3060 * 0.01 * 0.5**0.5 / 2**0.5
    assert verdict.interval.high - 0.03 == pytest.approx(margin, rel=1e-4)
    assert verdict.because.startswith(
        "share of span, mean return over the curve, A minus B, mean of 2"
    )
    assert [line.partition(" (")[0] for line in verdict.details] == [
        "dmc/x: supported here",
        "gym/HalfCheetah-v5: supported here",
    ]


def tasks(signs):
    """One task per letter: + A is better, - worse, ? open, 0 no arm learns."""
    rows = []
    for i, sign in enumerate(signs):
        task = f"dmc/{i}"
        gain = {"+": 30.0, "-": -30.0, "?": 0.0, "0": 0.0}[sign]
        base = 10.0 if sign == "0" else 500.0
        rows += runs("A", shifted(ONE_TO_FIVE, base + gain - 3), task=task)
        rows += runs("B", shifted(ONE_TO_FIVE, base - 3), task=task) + floor(task=task)
    return rows


@pytest.mark.parametrize(
    ("signs", "on_at_least", "outcome"),
    [
        ("++", None, SUPPORTED),
        ("+-", None, UNDECIDED),
        ("--", None, CONTRADICTED),
        ("00", None, "no signal"),
        ("+0", None, SUPPORTED),
        ("++-", 2, SUPPORTED),
        ("+?-", 2, UNDECIDED),
        ("+--", 2, CONTRADICTED),
        ("++?0", 3, UNDECIDED),
        ("+++0", 3, SUPPORTED),
        ("00", 1, "no signal"),
        ("++", 3, SUPPORTED),  # of two tasks both
    ],
)
def test_several_tasks(signs, on_at_least, outcome):
    verdict = better(on_at_least=on_at_least).judge(tasks(signs))
    assert verdict.outcome == outcome
    assert len(verdict.details) == len(signs)
    if on_at_least:
        assert f"of {len(signs)} tasks asked for" in verdict.because


def test_named_tasks_alone_decide():
    rows = tasks("+-")
    assert better(tasks=("dmc/0",)).judge(rows).outcome == SUPPORTED
    assert better(tasks=("dmc/1",)).judge(rows).outcome == CONTRADICTED
    partly = better(tasks=("dmc/0", "dmc/9")).judge(rows)
    assert partly.outcome == SUPPORTED
    assert better(tasks=("dmc/9",)).judge(rows).outcome == "not run"


def test_four_runs_decide_nothing():
    rows = runs("A", [101.0, 102.0, 103.0, 104.0]) + runs("B", [100.0] * 5)
    verdict = better().judge(rows)
    assert (verdict.outcome, verdict.p) == (UNDECIDED, 1.0)
    assert verdict.because.endswith("4 runs, fewer than 5")


@pytest.mark.parametrize(
    ("level", "outcome"), [(49.0, "no signal"), (-900.0, "no signal"), (51.0, SUPPORTED)]
)
def test_arms_that_end_near_the_random_policy_or_below_it_have_no_signal(level, outcome):
    """A beats B for certain; only 51 is above 0 + 5 % of 1,000."""
    rows = runs("A", [level + d / 100 for d in (-2, -1, 0, 1, 2)], task="dmc/x")
    rows += runs("B", [-950.0] * 5, task="dmc/x") + floor(task="dmc/x")
    verdict = better().judge(rows)
    assert verdict.outcome == outcome
    assert "random policy 0 ± 1" in verdict.details


def test_no_signal_is_about_returns_alone():
    rows = runs("A", ONE_TO_FIVE, metric=SCORE) + runs("B", [0.0] * 5, metric=SCORE)
    assert better(metric=SCORE).judge(rows + floor()).outcome == SUPPORTED


def test_an_earlier_start_is_fewer_steps_and_a_run_that_never_starts_counts_as_last():
    """Level 100 (random 0, span 1,000): A passes it at 20, B at 40 or never, which is 50."""
    rows = floor(task="dmc/x")
    for seed in range(5):
        starts = {"A": 20, "B": 40 if seed % 2 else 60}
        for step in range(10, 60, 10):
            for arm, start in starts.items():
                rows.append(Row("x", arm, "dmc/x", seed, step, "return", 200.0 * (step >= start)))
    verdict = better(statistic="first above").judge(rows)
    assert verdict.outcome == SUPPORTED
    assert "B minus A: 30 [" in verdict.because
    assert "by ranks p = " in verdict.because
    few = [row for row in rows if row.seed < 4]
    assert better(statistic="first above").judge(few).outcome == UNDECIDED
    both = rows + [row._replace(task="dmc/y") for row in rows]
    assert better(statistic="first above", on_at_least=2).judge(both).outcome == SUPPORTED


def test_a_diverged_run_is_compared_at_its_last_finite_value():
    """B stops at 50 after the first of two evaluations; A rises from 60 to 63 on average."""
    rows = runs("A", [60.0] * 5) + runs("A", shifted(ONE_TO_FIVE, 60), step=20)
    rows += runs("B", [50.0] * 5) + runs("B", [math.nan] * 5, step=20)
    verdict = better().judge(rows)
    assert verdict.outcome == SUPPORTED
    assert "11.5 [" in verdict.because


def test_infinite_maxima_are_not_averaged():
    rows = runs("A", ONE_TO_FIVE, metric=Q) + runs("B", [math.inf] * 5, metric=Q)
    verdict = better(metric=Q, statistic="max", sign=-1).judge(rows)
    assert verdict.outcome == UNDECIDED
    assert verdict.because.endswith("infinite in some runs; count them instead")


def test_a_run_without_a_finite_value_is_left_out_and_named():
    rows = runs("A", shifted([*ONE_TO_FIVE, 3.0], 100)) + runs("B", [100.0] * 5 + [math.nan])
    verdict = better().judge(rows)
    assert verdict.interval.n == 5
    assert "1 of 6 runs left out" in verdict.details


def test_a_ratio_of_negative_returns_decides_nothing_and_says_what_to_do():
    rows = runs("A", shifted(ONE_TO_FIVE, -100)) + runs("B", [-200.0] * 5)
    verdict = better(scale="ratio").judge(rows)
    assert verdict.outcome == UNDECIDED
    assert 'judge it with scale="difference"' in verdict.because


def test_a_second_look_has_a_smaller_level():
    """4, 5, 6 against 1, 2, 3 and so on: p = 0.04 is between 0.0294 and 0.05."""
    first = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    rows = runs("A", first, metric=SCORE) + runs("B", shifted(first, -2.55), metric=SCORE)
    p = ttest_ind(first, shifted(first, -2.55), equal_var=False).pvalue
    assert 0.0294 < p < 0.05
    assert better(metric=SCORE).judge(rows).outcome == SUPPORTED
    assert better(metric=SCORE, alpha=0.0294).judge(rows).outcome == UNDECIDED


@pytest.mark.parametrize(
    ("mean", "outcome"),
    [
        (100.0, SUPPORTED),
        (118.0, SUPPORTED),  # log 1.18 + 2.7764 · 0.7071/118 = log 1.1998
        (118.5, UNDECIDED),
        (121.5, UNDECIDED),
        (122.5, CONTRADICTED),
        (82.0, UNDECIDED),  # log 0.82 + 0.024 is above log 0.833
        (81.0, CONTRADICTED),
    ],
)
def test_equivalent_within_a_ratio_of_1_2(mean, outcome):
    rows = runs("A", shifted(ONE_TO_FIVE, mean - 3), metric=SCORE) + runs(
        "B", [100.0] * 5, metric=SCORE
    )
    verdict = Equivalent("A", than="B", metric=SCORE).judge(rows)
    assert verdict.outcome == outcome
    assert "asked for > 0.833 and < 1.2" in verdict.because


def test_equivalence_is_two_one_sided_tests():
    first, second = shifted(ONE_TO_FIVE, 100), shifted(TWOS, 97)
    rows = runs("A", first, metric=SCORE) + runs("B", second, metric=SCORE)
    verdict = Equivalent("A", than="B", metric=SCORE, scale="difference", margin=4.0).judge(rows)
    sides = [
        ttest_ind(shifted(first, 4.0), second, equal_var=False, alternative="greater").pvalue,
        ttest_ind(shifted(first, -4.0), second, equal_var=False, alternative="less").pvalue,
    ]
    assert verdict.p == pytest.approx(2 * max(sides))


@pytest.mark.parametrize(
    ("task", "mean", "outcome"),
    [
        ("dmc/x", 198.0, SUPPORTED),  # ± 200: 198 + 1.9632
        ("dmc/x", 199.0, UNDECIDED),
        ("dmc/x", 202.0, CONTRADICTED),
        ("dmc/x", -198.0, SUPPORTED),
        ("gym/HalfCheetah-v5", 398.0, SUPPORTED),  # ± 400
        ("gym/HalfCheetah-v5", 402.0, CONTRADICTED),
    ],
)
def test_equivalent_within_a_fifth_of_the_span(task, mean, outcome):
    claim = Equivalent("A", than="B", scale="difference", margin=0.2)
    rows = runs("A", shifted(ONE_TO_FIVE, mean - 3), task=task) + runs("B", [0.0] * 5, task=task)
    assert claim.judge(rows).outcome == outcome


def test_equivalence_over_tasks_is_of_the_mean_share():
    """Shares of 0.25 and -0.05: 0.1 ± 0.001 is within 0.2, though the first task alone is not."""
    rows = []
    for task, mean in (("dmc/x", 250.0), ("dmc/y", -50.0)):
        rows += runs("A", shifted(ONE_TO_FIVE, mean - 3), task=task) + runs(
            "B", [0.0] * 5, task=task
        )
    verdict = Equivalent("A", than="B", scale="difference", margin=0.2).judge(rows)
    assert verdict.outcome == SUPPORTED
    assert verdict.interval.estimate == pytest.approx(0.1)
    assert verdict.details[0].startswith("dmc/x: contradicted here")


@pytest.mark.parametrize(("than", "outcome"), [(100.0, SUPPORTED), (125.0, CONTRADICTED)])
def test_equivalent_to_a_number(than, outcome):
    rows = runs("A", shifted(ONE_TO_FIVE, 97), metric=SCORE)
    assert Equivalent("A", than=than, metric=SCORE).judge(rows).outcome == outcome


def test_two_arms_that_learn_nothing_are_not_equal():
    rows = runs("A", [1.0, 1.1, 0.9, 1.0, 1.0]) + runs("B", [1.0] * 5)
    claim = Equivalent("A", than="B")
    assert claim.judge(rows).outcome == SUPPORTED
    assert claim.judge(rows + floor()).outcome == "no signal"


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Better("A", than="B", statistic="median"), "statistic must be one of mean"),
        (lambda: Better("A", than="B", statistic="first above", metric=Q), "only a return"),
        (lambda: Equivalent("A", than="B", margin=1.0), "margin must be above 1"),
        (lambda: Equivalent("A", than="B", scale="difference", margin=0.0), "above 0"),
    ],
)
def test_bad_claims_are_refused_when_they_are_made(make, says):
    with pytest.raises(BadInputError, match=says):
        make()
