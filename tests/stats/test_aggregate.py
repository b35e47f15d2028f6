"""Aggregate statistics equal rliable's; intervals are near its own, which draw other numbers."""

import numpy as np
import pytest
from rliable import library, metrics
from scipy.stats import trim_mean

from lff.core import BadInputError
from lff.stats import (
    interquartile_mean,
    stratified_bootstrap,
)

# In units of the interval's width.  The random numbers of 2000 resamples move an end by 1.8 % of it
# (standard deviation over seeds, rliable's and ours), so two ends differ by 2.5 %: four of those.
NEAR = 0.1

# rliable hands its random numbers over in a way that its own dependency will drop
pytestmark = pytest.mark.filterwarnings("ignore:random_state is deprecated:FutureWarning")


def scores(seed, runs=7, tasks=5):
    rng = np.random.default_rng(seed)
    return rng.normal(np.arange(tasks), 1 + np.arange(tasks) / 3, (runs, tasks))


def their_interval(arrays, statistic, resamples=2000):
    _, intervals = library.get_interval_estimates(
        {"arms": arrays}, statistic, reps=resamples, random_state=np.random.RandomState(1)
    )
    return intervals["arms"].squeeze()


def assert_near(ours, theirs):
    assert [ours.low, ours.high] == pytest.approx(theirs, abs=NEAR * (theirs[1] - theirs[0]))


@pytest.mark.parametrize(("runs", "tasks"), [(7, 5), (5, 8), (3, 1), (1, 1), (10, 10)])
def test_interquartile_mean_equals_rliables_and_scipys(runs, tasks):
    table = scores(0, runs, tasks)
    assert interquartile_mean(table) == pytest.approx(metrics.aggregate_iqm(table), abs=1e-10)
    assert interquartile_mean(table) == pytest.approx(trim_mean(table.ravel(), 0.25), abs=1e-10)


def test_interquartile_mean_by_hand():
    """Of 0..7 the two lowest and two highest go: mean of 2, 3, 4, 5."""
    assert interquartile_mean(np.arange(8.0).reshape(4, 2)[::-1]) == 3.5
    assert interquartile_mean([[1.0, 2.0, 3.0]]) == 2.0


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (interquartile_mean, metrics.aggregate_iqm),
        (lambda x: float(x.mean()), metrics.aggregate_mean),
    ],
)
def test_stratified_bootstrap_is_near_rliables(ours, theirs):
    table = scores(1)
    found = stratified_bootstrap(table, ours)
    assert found.estimate == pytest.approx(theirs(table), abs=1e-10)
    assert found.n == 7
    assert_near(found, their_interval(table, lambda x: np.array([theirs(x)])))


def test_bootstrap_stays_within_each_task():
    """Tasks without spread have no uncertainty, however far apart they are."""
    table = np.tile([0.0, 1000.0, -5.0], (6, 1))
    found = stratified_bootstrap(table, lambda x: float(x.mean()), resamples=50)
    assert found.low == found.high == pytest.approx(995 / 3)


def test_same_table_same_interval_and_another_seed_another():
    table = scores(2)
    first, again = (stratified_bootstrap(table, interquartile_mean) for _ in range(2))
    assert first == again
    assert stratified_bootstrap(table, interquartile_mean, seed=1) != first
    narrow = stratified_bootstrap(table, interquartile_mean, confidence=0.5)
    assert first.low < narrow.low < narrow.high < first.high


@pytest.mark.parametrize(
    ("table", "says"), [([1.0, 2.0], "array"), (np.ones((0, 2)), "filled"), ([[np.nan]], "finite")]
)
def test_bad_scores_are_refused(table, says):
    with pytest.raises(BadInputError, match=says):
        interquartile_mean(table)


def test_other_bad_input_is_refused():
    with pytest.raises(BadInputError, match="confidence"):
        stratified_bootstrap(np.ones((3, 2)), interquartile_mean, confidence=95)
