"""Confidence intervals over seeds, and of differences between paired seeds.

Student's interval of paired seeds decides a verdict: the percentile bootstrap is wrong in 17 % of
the cases at 5 seeds where it promises 5 %.  The bootstrap describes many runs and tasks.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t, trim_mean

from lff.core.errors import BadInputError

Scores = NDArray[np.float64]
"""Scores of shape (run, task)."""


@dataclass(frozen=True)
class Interval:
    """An estimate with its confidence interval, over ``pairs`` paired seeds or runs."""

    estimate: float
    low: float
    high: float
    pairs: int

    def __str__(self) -> str:
        return f"{self.estimate:.3g} [{self.low:.3g}, {self.high:.3g}], n={self.pairs}"


def t_interval(values: Sequence[float], *, confidence: float = 0.95) -> Interval:
    """Return the mean of one value per seed with Student's interval, mean ± t_{n-1} · s/√n."""
    if len(values) < 2:
        raise BadInputError("sample", list(values), "2 or more values", "run more seeds")
    sample = np.asarray(values, dtype=np.float64)
    mean = float(sample.mean())
    error = float(sample.std(ddof=1)) / len(sample) ** 0.5
    margin = float(t.ppf((1 + confidence) / 2, len(sample) - 1)) * error
    return Interval(mean, mean - margin, mean + margin, len(sample))


def paired_t_interval(
    first: Sequence[float], second: Sequence[float], *, confidence: float = 0.95
) -> Interval:
    """Return mean(first - second) with its t-interval, seed against seed."""
    if len(first) != len(second) or len(first) < 2:
        lengths = (len(first), len(second))
        remedy = "give both arms the same seeds"
        raise BadInputError("samples", lengths, "two equal lengths of 2 or more", remedy)
    return t_interval(np.subtract(first, second).tolist(), confidence=confidence)


def interquartile_mean(scores: ArrayLike) -> float:
    """Return the mean of the middle half of all scores, runs and tasks together.

    Of n scores the ⌊n/4⌋ lowest and as many of the highest are left out.

    >>> interquartile_mean([[0.0, 3.0], [4.0, 100.0]])
    3.5
    """
    return float(trim_mean(_check_scores(scores), 0.25, axis=None))


def stratified_bootstrap(
    scores: ArrayLike,
    statistic: Callable[[Scores], float],
    *,
    seed: int = 0,
    resamples: int = 2000,
    confidence: float = 0.95,
) -> Interval:
    """Return ``statistic(scores)`` and its percentile interval; the same table gives the same one.

    ``statistic`` takes an array (run, task).  Runs are drawn anew within each task, so that every
    resample has every task in it as often as the table has.
    """
    if not 0 < confidence < 1:
        raise BadInputError("confidence", confidence, "between 0 and 1", "use 0.95")
    table = _check_scores(scores)
    drawn = np.random.default_rng(seed).integers(len(table), size=(resamples, *table.shape))
    values = [statistic(sample) for sample in np.take_along_axis(table[None], drawn, axis=1)]
    tail = 50 * (1 - confidence)
    low, high = np.percentile(values, [tail, 100 - tail])
    return Interval(statistic(table), float(low), float(high), len(table))


def _check_scores(scores: ArrayLike) -> Scores:
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or table.size == 0:
        remedy = "one row per run and one column per task"
        raise BadInputError("scores", table.shape, "a filled array (run, task)", remedy)
    if not np.isfinite(table).all():
        remedy = "carry the last finite value of a diverged run forward"
        raise BadInputError("scores", table.tolist(), "finite", remedy)
    return table
