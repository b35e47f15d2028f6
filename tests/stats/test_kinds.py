"""Comparisons of arms, judged on tables whose numbers are computed by hand."""

import math

import pytest

from lff.stats import AsGood, Better, Metric, Row
from tests.stats.tables import MARGIN, ONE_TO_FIVE, UNDECIDED, floor, numbers, runs, shifted

Q, ERROR = Metric("|Q|"), Metric("error")


def better(**fields):
    return Better(name="C-1", text="A is better.", arm="A", than="B", **fields)


@pytest.mark.parametrize(
    ("by", "sign", "outcome"),
    [
        (0, 1, "confirmed"),
        (-6, 1, "refuted"),
        (-2, 1, UNDECIDED),
        (0, -1, "refuted"),
        (-6, -1, "confirmed"),
    ],
)
def test_better_by_the_paired_t_interval(by, sign, outcome):
    rows = runs("A", shifted(ONE_TO_FIVE, 100 + by)) + runs("B", [100.0] * 5) + floor()
    verdict = better(sign=sign).judge(rows)
    assert verdict.outcome == outcome
    mean = sign * (3 + by)
    assert numbers(verdict.because) == pytest.approx((mean - MARGIN, mean + MARGIN), abs=0.005)
    (line,) = verdict.details
    assert line.startswith(f"t: {outcome} (mean return over the curve, ")
    assert f"A {103 + by}" in line
    assert line.endswith("; random policy 0 ± 1; zero policy 0")
    low, high = numbers(line.partition("bootstrap ")[2])
    assert mean - MARGIN < low < mean < high < mean + MARGIN


def test_better_uses_only_the_seeds_of_both_arms():
    """The sixth run of A has no rival of its seed, and pairing is by seed, not by place."""
    rows = runs("A", [*shifted(ONE_TO_FIVE, 100), -999.0]) + runs("B", [100.0] * 5)[::-1]
    verdict = better().judge(rows)
    assert verdict.outcome == "confirmed"
    assert verdict.because.endswith("n=5")
    assert "random policy unknown" in verdict.details[0]


def test_four_seeds_decide_nothing():
    rows = runs("A", [101.0, 102.0, 103.0, 104.0]) + runs("B", [100.0] * 5)
    verdict = better().judge(rows)
    assert verdict.outcome == UNDECIDED
    assert "fewer than 5 seeds" in verdict.because
    near = runs("A", [0.0] * 4) + runs("B", [0.1] * 4) + floor()
    assert better().judge(near).outcome == UNDECIDED


@pytest.mark.parametrize(
    ("level", "outcome"), [(1.9, "no signal"), (-1.9, "no signal"), (2.1, "confirmed")]
)
def test_both_arms_near_the_random_policy_are_no_signal(level, outcome):
    """A beats B = −1.95 for certain, at 0.01 a seed, but only 2.1 has left 0 ± 2·1."""
    rows = runs("A", [level + d / 100 for d in (-2, -1, 0, 1, 2)])
    verdict = better().judge(rows + runs("B", [-1.95] * 5) + floor())
    assert verdict.outcome == outcome
    assert ("random policy" in verdict.because) == (outcome == "no signal")


def test_no_signal_is_about_returns_alone():
    rows = [row._replace(metric="error") for row in runs("A", ONE_TO_FIVE) + runs("B", [0.0] * 5)]
    assert better(metric=ERROR).judge(rows + floor()).outcome == "confirmed"


def tasks(*outcomes):
    """One task per letter: + A is better, - worse, ? open, 0 nobody learns."""
    rows = []
    for i, outcome in enumerate(outcomes):
        by = {"+": 0, "-": -6, "?": -2, "0": 0}[outcome]
        base = 0 if outcome == "0" else 100
        values = shifted(ONE_TO_FIVE, base + by) if base else [0.1] * 5
        rows += runs("A", values, task=f"t{i}") + runs("B", [float(base)] * 5, task=f"t{i}")
        rows += floor(task=f"t{i}")
    return rows


@pytest.mark.parametrize(
    ("signs", "on_at_least", "outcome"),
    [
        ("++", None, "confirmed"),
        ("+?", None, UNDECIDED),
        ("+-", None, "refuted"),
        ("+-", 1, "confirmed"),
        ("?-", 1, UNDECIDED),
        ("++-0?", 2, "confirmed"),
        ("++-0?", 4, UNDECIDED),
        ("+---0", 3, "refuted"),
        ("00", None, "no signal"),
        ("0?", None, UNDECIDED),
        ("++", 3, UNDECIDED),
    ],
)
def test_several_tasks(signs, on_at_least, outcome):
    verdict = better(on_at_least=on_at_least).judge(tasks(*signs))
    assert verdict.outcome == outcome
    assert len(verdict.details) == len(signs)
    assert verdict.because.startswith(f"of {len(signs)} tasks ")


def test_named_tasks_count_also_when_the_table_lacks_them():
    rows = tasks(*"+-")
    assert better(tasks=("t0",)).judge(rows).outcome == "confirmed"
    assert better(tasks=("t1",)).judge(rows).outcome == "refuted"
    missing = better(tasks=("t0", "t9")).judge(rows)
    assert missing.outcome == UNDECIDED
    assert "t9" in missing.details[1]
    assert "0 paired seeds" in missing.details[1]
    assert better().judge([]).outcome == UNDECIDED


def test_an_earlier_start_is_fewer_steps():
    """Level 1 (random 0, best 10): A passes it at step 20, B at 40 or 50."""
    rows = floor()
    for seed in range(5):
        b_start = 40 + 10 * (seed % 2)
        for step in range(10, 60, 10):
            rows.append(Row("x", "A", "t", seed, step, "return", 10.0 * (step >= 20)))
            rows.append(Row("x", "B", "t", seed, step, "return", 10.0 * (step >= b_start)))
    verdict = better(statistic="first above", sign=-1).judge(rows)
    assert verdict.outcome == "confirmed"
    assert "B minus A: 24 " in verdict.because


def test_a_diverged_run_is_compared_at_its_last_finite_value():
    """B stops at 50 after the first of two evaluations; left out, it would have looked better."""
    rows = floor() + runs("A", [60.0] * 5) + runs("A", shifted(ONE_TO_FIVE, 60), step=20)
    rows += runs("B", [50.0] * 5) + runs("B", [math.nan] * 5, step=20)
    verdict = better().judge(rows)
    assert verdict.outcome == "confirmed"
    assert "11.5 [" in verdict.because


def test_infinite_maxima_have_no_t_interval():
    rows = runs("A", ONE_TO_FIVE, metric=Q) + runs("B", [math.inf] * 5, metric=Q)
    verdict = better(metric=Q, statistic="max", sign=-1).judge(rows)
    assert verdict.outcome == UNDECIDED
    assert "count the seeds" in verdict.because


def test_a_seed_without_a_finite_value_is_left_out_and_named():
    rows = runs("A", shifted([*ONE_TO_FIVE, 3.0], 100)) + runs("B", [100.0] * 5 + [math.nan])
    verdict = better().judge(rows)
    assert verdict.because.endswith("n=5")
    assert "no finite value in seeds 5" in verdict.details[0]


@pytest.mark.parametrize(
    ("base", "by", "outcome"),
    [
        (100.0, -3, "confirmed"),  # 0 ± 1.96, margin 20
        (100.0, 15, "confirmed"),  # 18 ± 1.96
        (100.0, 16, UNDECIDED),  # 19 ± 1.96
        (100.0, 19, "refuted"),  # 22 ± 1.96
        (100.0, -26, "refuted"),
        (-100.0, -3, "confirmed"),
        (8.0, -3, UNDECIDED),  # 0 ± 1.96, margin 1.6
    ],
)
def test_as_good_within_a_fifth_of_the_baseline(base, by, outcome):
    claim = AsGood(name="C-2", text="A is as good as B.", arm="A", than="B")
    rows = runs("A", shifted(ONE_TO_FIVE, base + by)) + runs("B", [base] * 5) + floor()
    verdict = claim.judge(rows)
    assert verdict.outcome == outcome
    assert f"margin ±{abs(base) / 5:.3g}" in verdict.because


def test_two_arms_that_learn_nothing_are_no_tie():
    claim = AsGood(name="C-2", text="A is as good as B.", arm="A", than="B", share=5.0)
    rows = runs("A", [1.0, 1.1, 0.9, 1.0, 1.0]) + runs("B", [1.0] * 5) + floor()
    assert claim.judge(rows).outcome == "no signal"
    assert claim.judge(rows[:10]).outcome == "confirmed"


@pytest.mark.parametrize(("wins", "outcome"), [(6, "confirmed"), (5, UNDECIDED)])
def test_a_share_of_the_tasks_is_rounded_up(wins, outcome):
    rows = []
    for number in range(8):
        task, gain = f"t{number}", 100 if number < wins else 97.0
        rows += runs("A", shifted(ONE_TO_FIVE, gain), task=task)
        rows += runs("B", [100.0] * 5, task=task) + floor(task=task)
    verdict = better(on_at_least=0.75).judge(rows)
    assert verdict.outcome == outcome
    assert "asked for 6" in verdict.because
