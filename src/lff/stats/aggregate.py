"""Statistics over many runs and tasks, as the field reports them.

A table of scores is an array of shape (run, task).  Intervals are percentile bootstraps that draw
runs anew within each task, so that every resample has every task in it as often as the table has.
They describe; what decides a verdict is the t-interval of paired seeds (``lff.stats.intervals``),
since a bootstrap of five runs is too narrow.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lff.core.errors import BadInputError
from lff.stats.intervals import Interval

Scores = NDArray[np.float64]


def interquartile_mean(scores: ArrayLike) -> float:
    """Return the mean of the middle half of all scores, runs and tasks together.

    Of n scores the ⌊n/4⌋ lowest and as many of the highest are left out.

    >>> interquartile_mean([[0.0, 3.0], [4.0, 100.0]])
    3.5
    """
    flat = np.sort(check_scores(scores), axis=None)
    cut = flat.size // 4
    return float(flat[cut : flat.size - cut].mean())


def stratified_bootstrap(
    scores: ArrayLike,
    statistic: Callable[[Scores], float],
    *,
    seed: int = 0,
    resamples: int = 2000,
    confidence: float = 0.95,
) -> Interval:
    """Return ``statistic(scores)`` and its percentile interval; the same table gives the same one.

    ``statistic`` takes an array (run, task) and returns a number.
    """
    table = check_scores(scores)
    drawn = [statistic(sample) for sample in _resample(table, seed=seed, resamples=resamples)]
    low, high = _percentiles(np.array(drawn), confidence)
    return Interval(statistic(table), float(low), float(high), len(table))


def check_scores(scores: ArrayLike) -> Scores:
    """Return scores as a float array (run, task), or raise."""
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or table.size == 0:
        remedy = "one row per run and one column per task"
        raise BadInputError("scores", table.shape, "a filled array (run, task)", remedy)
    if not np.isfinite(table).all():
        remedy = "carry the last finite value of a diverged run forward"
        raise BadInputError("scores", table.tolist(), "finite", remedy)
    return table


def _resample(table: Scores, *, seed: int, resamples: int) -> Scores:
    """Return tables (resample, run, task) with runs drawn anew within each task."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(len(table), size=(resamples, *table.shape))
    return np.take_along_axis(table[None], drawn, axis=1)


def _percentiles(drawn: Scores, confidence: float) -> Scores:
    if not 0 < confidence < 1:
        raise BadInputError("confidence", confidence, "between 0 and 1", "use 0.95")
    tail = 50 * (1 - confidence)
    return np.percentile(drawn, [tail, 100 - tail], axis=0)
