"""Each kind of claim, judged on tables whose numbers are computed by hand.

Differences 1, 2, 3, 4, 5 over five seeds have mean 3 and s = √2.5; with t(4, 0.975) = 2.7764 the
margin is 2.7764·√2.5/√5 = 1.9632.
"""

import math
import re

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

MARGIN = 2.7764 * 0.5**0.5
UNDECIDED = "inconclusive at this scale"


Q, M, ERROR = Metric("|Q|"), Metric("m"), Metric("error")
FIRST, OTHER = Metric("a"), Metric("b")


def runs(variant, values, *, task="t", metric=RETURN, step=10):
    """Runs of one evaluation each, one per seed."""
    return [Row("x", variant, task, seed, step, metric.title, v) for seed, v in enumerate(values)]


def floor(*, task="t", center=0.0):
    """A random policy of this mean and standard deviation 1 (−√½, √½ have it), and a zero one."""
    half = 0.5**0.5
    return runs("random policy", [center - half, center + half], task=task, step=0) + runs(
        "zero policy", [center], task=task, step=0
    )


def shifted(base, by):
    return [value + by for value in base]


ONE_TO_FIVE = [1.0, 2.0, 3.0, 4.0, 5.0]


def better(**fields):
    return Better(name="C-1", text="A is better.", arm="A", than="B", **fields)


def numbers(text):
    low, high = re.search(r"\[(.*?), (.*?)\]", text).groups()
    return float(low), float(high)


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
        (lambda: better(statistic="median"), "statistic must be one of mean"),
        (lambda: better(statistic="first above", metric=Q), "only a return"),
        (lambda: better(sign=2), "sign must be 1 or -1"),
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
