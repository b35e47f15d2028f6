"""Confidence intervals of differences between paired seeds."""

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
    """Number of paired seeds behind it."""

    def __str__(self) -> str:
        """Write it as people read it."""
        return f"{self.estimate:.3g} [{self.low:.3g}, {self.high:.3g}], n={self.pairs}"


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
    difference = np.subtract(first, second)
    mean = float(difference.mean())
    error = float(difference.std(ddof=1)) / len(difference) ** 0.5
    margin = float(t.ppf((1 + confidence) / 2, len(difference) - 1)) * error
    return Interval(mean, mean - margin, mean + margin, len(difference))
