import numpy as np
import pytest
from scipy.stats import ttest_rel

from lff.core import BadInputError
from lff.stats import (
    Interval,
    Row,
    judge_better,
    judge_bounds,
    judge_count,
    judge_equivalent,
    lacks_signal,
    paired_t_interval,
    read_table,
    t_interval,
    write_table,
)


def test_interval_equals_scipys_paired_test():
    rng = np.random.default_rng(0)
    first, second = rng.normal(1, 1, 7), rng.normal(0, 1, 7)
    reference = ttest_rel(first, second).confidence_interval(0.9)
    ours = paired_t_interval(first, second, confidence=0.9)
    assert (ours.low, ours.high) == pytest.approx((reference.low, reference.high))
    assert ours.estimate == pytest.approx(np.mean(first - second))
    assert ours.pairs == 7


def test_interval_by_hand():
    """Differences 1, 2, 3: mean 2, s = 1, t(2, 0.975) = 4.3027, margin 4.3027/√3."""
    ours = paired_t_interval([1, 2, 3], [0, 0, 0])
    assert ours.high - ours.estimate == pytest.approx(4.3027 / 3**0.5, abs=1e-4)


@pytest.mark.parametrize(("first", "second"), [([1], [1]), ([1, 2], [1]), ([], [])])
def test_interval_needs_pairs(first, second):
    with pytest.raises(BadInputError, match="same seeds"):
        paired_t_interval(first, second)


@pytest.mark.parametrize(
    ("low", "high", "pairs", "outcome"),
    [
        (0.1, 2.0, 5, "confirmed"),
        (-2.0, -0.1, 5, "refuted"),
        (-0.1, 2.0, 5, "inconclusive at this scale"),
        (0.1, 2.0, 4, "inconclusive at this scale"),
    ],
)
def test_rule_for_better(low, high, pairs, outcome):
    verdict = judge_better(Interval((low + high) / 2, low, high, pairs), of="return")
    assert verdict.outcome == outcome
    assert "return" in str(verdict)


@pytest.mark.parametrize(
    ("holds", "of", "outcome"),
    [(16, 20, "confirmed"), (15, 20, "refuted"), (4, 4, "inconclusive at this scale")],
)
def test_rule_for_counts(holds, of, outcome):
    assert judge_count(holds, of=of, share=0.8, what="it holds").outcome == outcome


def test_a_share_is_counted_exactly():
    """0.55 · 20 is 11.000000000000002 in binary; 11 of 20 are 55 %."""
    assert judge_count(11, of=20, share=0.55, what="it holds").outcome == "confirmed"
    assert judge_count(10, of=20, share=0.55, what="it holds").outcome == "refuted"


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (-0.9, -0.6, "confirmed"),
        (-0.9, -0.4, "inconclusive at this scale"),
        (-0.4, -0.1, "refuted"),
    ],
)
def test_rule_for_bounds(low, high, outcome):
    verdict = judge_bounds(Interval((low + high) / 2, low, high, 5), below=-0.5, of="r")
    assert verdict.outcome == outcome
    assert verdict.because.endswith("n=5, asked for < -0.5")
    mirrored = judge_bounds(Interval(-(low + high) / 2, -high, -low, 5), above=0.5, of="r")
    assert mirrored.outcome == outcome


@pytest.mark.parametrize(
    ("arms", "silent"), [([3, 7], True), ([3, 7.1], False), ([2.9, 5], False), ([100, 5], False)]
)
def test_no_signal_is_within_two_standard_deviations_of_random(arms, silent):
    """Returns 4, 5, 6 have mean 5 and standard deviation 1: 3 to 7."""
    assert lacks_signal(arms, [4, 5, 6]) is silent


def test_one_random_return_has_no_deviation():
    with pytest.raises(BadInputError, match="two or more"):
        lacks_signal([1.0], [1.0])
    with pytest.raises(BadInputError, match="more seeds"):
        t_interval([1.0])


@pytest.mark.parametrize(
    ("low", "high", "pairs", "outcome"),
    [
        (-0.9, 0.9, 5, "confirmed"),
        (-1.1, 0.9, 5, "inconclusive at this scale"),
        (1.1, 2.0, 5, "refuted"),
        (-2.0, -1.1, 5, "refuted"),
        (-0.9, 0.9, 4, "inconclusive at this scale"),
    ],
)
def test_rule_for_equivalence(low, high, pairs, outcome):
    difference = Interval((low + high) / 2, low, high, pairs)
    assert judge_equivalent(difference, margin=1.0, of="return").outcome == outcome


def rows_of(metric, values, *, variant, step=10):
    return [Row("x", variant, "t", i, step, metric, v) for i, v in enumerate(values)]


def test_tables_round_trip(tmp_path):
    rows = rows_of("error", [0.1, 2.0, 1e-9], variant="LFF σ=0.01")
    path = tmp_path / "deep" / "table.csv"
    write_table(path, rows, provenance={"command": "make"})
    assert read_table(path) == rows
    assert '"command": "make"' in path.with_suffix(".json").read_text()


def test_a_strange_table_is_refused(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(BadInputError, match=r"table must be tidy, got 'table\.csv'"):
        read_table(path)
