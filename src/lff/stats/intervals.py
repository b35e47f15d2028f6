"""Confidence intervals over seeds, and of differences between paired seeds."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t

from lff.core.errors import BadInputError


@dataclass(frozen=True)
class Interval:
    """An estimate with its confidence interval."""

    estimate: float
    low: float
    high: float
    pairs: int
    """Number of paired seeds, or of runs, behind it."""

    def __str__(self) -> str:
        """Write it as people read it."""
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
    """Return mean(first - second) with its t-interval, seed against seed.

    mean ± t_{n-1} · s/√n.  The percentile bootstrap is wrong in 17 % of the cases at 5 seeds where
    it promises 5 %; the t-interval stays near its promise.
    """
    if len(first) != len(second) or len(first) < 2:
        lengths = (len(first), len(second))
        remedy = "give both arms the same seeds"
        raise BadInputError("samples", lengths, "two equal lengths of 2 or more", remedy)
    return t_interval(np.subtract(first, second).tolist(), confidence=confidence)
