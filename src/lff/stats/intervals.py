"""Estimates with their errors: contrasts of means, exact intervals of counts, and the bootstrap.

Student's interval decides a verdict: the percentile bootstrap is wrong in 17 % of the cases at 5
seeds where it promises 5 %.  The bootstrap describes many runs and tasks.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import beta, t, trim_mean

from lff.core.errors import BadInputError

Scores = NDArray[np.float64]  # scores of shape (run, task)
Scale = Literal["difference", "ratio", "log"]
"""Means are subtracted; means are divided; geometric means are divided."""


@dataclass(frozen=True)
class Interval:
    """An estimate with its confidence interval, over ``n`` runs of each arm."""

    estimate: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        return f"{self.estimate:.3g} [{self.low:.3g}, {self.high:.3g}], n={self.n}"


@dataclass(frozen=True)
class Estimate:
    """A value with its standard error and degrees of freedom, over ``n`` runs of each arm."""

    value: float
    error: float
    freedom: float
    n: int

    def interval(self, confidence: float = 0.95) -> Interval:
        """Return Student's interval."""
        margin = float(t.ppf((1 + confidence) / 2, self.freedom)) * self.error if self.error else 0
        return Interval(self.value, self.value - margin, self.value + margin, self.n)

    def above(self, bound: float) -> float:
        """Return the one-sided p-value of the claim that the truth is above ``bound``."""
        if math.isinf(bound) or not self.error:
            return 0.0 if self.value > bound else 1.0
        return float(t.sf((self.value - bound) / self.error, self.freedom))

    def below(self, bound: float) -> float:
        """Return the one-sided p-value of the claim that the truth is below ``bound``."""
        return Estimate(-self.value, self.error, self.freedom, self.n).above(-bound)


def contrast(
    parts: Iterable[tuple[float, Sequence[float]]], scale: Scale = "difference"
) -> Estimate:
    """Return Σ weight · mean of some samples, each with its own spread (Welch).

    The degrees of freedom are Satterthwaite's.  ``ratio`` takes the logarithms of the means, whose
    error is the relative one; ``log`` takes the means of the logarithms.
    """
    value = variance = curvature = 0.0
    sizes = []
    for weight, values in parts:
        sample = np.asarray(values, dtype=np.float64)
        if len(sample) < 2:
            raise BadInputError("sample", [*values], "2 or more values", "run more seeds")
        if scale != "difference" and not (
            sample.mean() > 0 and (scale == "ratio" or min(sample) > 0)
        ):
            remedy = 'judge it with scale="difference"'
            raise BadInputError("values", [*values], "positive for a ratio", remedy)
        sample = np.log(sample) if scale == "log" else sample
        mean, error = float(sample.mean()), float(sample.std(ddof=1)) / math.sqrt(len(sample))
        if scale == "ratio":
            mean, error = math.log(mean), error / mean
        value += weight * mean
        share = (weight * error) ** 2
        variance += share
        curvature += share**2 / (len(sample) - 1)
        sizes.append(len(sample))
    freedom = variance**2 / curvature if curvature else math.inf
    return Estimate(value, math.sqrt(variance), freedom, min(sizes))


def t_interval(values: Sequence[float], *, confidence: float = 0.95) -> Interval:
    """Return the mean of one value per seed with Student's interval, mean ± t_{n-1} · s/√n."""
    return contrast([(1.0, values)]).interval(confidence)


def paired_t_interval(
    first: Sequence[float], second: Sequence[float], *, confidence: float = 0.95
) -> Interval:
    """Return mean(first - second) with its t-interval, seed against seed."""
    if len(first) != len(second) or len(first) < 2:
        lengths = (len(first), len(second))
        remedy = "give both arms the same seeds"
        raise BadInputError("samples", lengths, "two equal lengths of 2 or more", remedy)
    return t_interval(np.subtract(first, second).tolist(), confidence=confidence)


@dataclass(frozen=True)
class Count:
    """``hits`` of ``size`` cases; the size is an effective one where cases share a seed."""

    hits: float
    size: float

    @classmethod
    def of(cls, clusters: Sequence[Sequence[bool]]) -> "Count":
        """Count the cases of all seeds, each seed's cases together (Korn and Graubard, 1998).

        The variance between seeds gives the number of independent cases that would tell as much;
        where it is zero because all cases agree, seeds are counted instead of cases.
        """
        cases = [case for cluster in clusters for case in cluster]
        size, seeds = len(cases), len(clusters)
        share = sum(cases) / size
        if size == seeds:
            return cls(sum(cases), size)
        if share in (0.0, 1.0):
            return cls(share * seeds, seeds)
        totals = np.array([sum(c) - share * len(c) for c in clusters])
        variance = float(seeds / (seeds - 1) * (totals**2).sum() / size**2) if seeds > 1 else 1.0
        effective = float(size)
        if variance:
            small = (t.ppf(0.975, size - 1) / t.ppf(0.975, max(1, seeds - 1))) ** 2
            effective = min(size, share * (1 - share) / variance * float(small))
        return cls(share * effective, effective)

    def interval(self, confidence: float = 0.95) -> Interval:
        """Return the share with Clopper and Pearson's interval."""
        tail, misses = (1 - confidence) / 2, self.size - self.hits
        low = float(beta.ppf(tail, self.hits, misses + 1)) if self.hits > 0 else 0.0
        high = float(beta.ppf(1 - tail, self.hits + 1, misses)) if misses > 0 else 1.0
        return Interval(self.hits / self.size, low, high, math.floor(self.size))

    def above(self, share: float) -> float:
        """Return the one-sided p-value of the claim that the true share is above this one."""
        return float(beta.cdf(share, self.hits, self.size - self.hits + 1)) if self.hits else 1.0

    def below(self, share: float) -> float:
        """Return the one-sided p-value of the claim that the true share is below this one."""
        return Count(self.size - self.hits, self.size).above(1 - share)


def fisher(strata: Iterable[tuple[int, int, int, int]]) -> tuple[float, float]:
    """Return the p-values of "more often" and "less often", (hits, size, hits, size) a stratum.

    Fisher's exact test; with several strata its generalisation, which compares the first arm's hits
    in all of them with what chance gives, each stratum's margins held.
    """
    chances, least, seen = np.ones(1), 0, 0
    for hits, size, other_hits, other_size in strata:
        all_hits, everyone = hits + other_hits, size + other_size
        low, high = max(0, all_hits - other_size), min(all_hits, size)
        ways = math.comb(everyone, size)
        own = [
            math.comb(all_hits, k) * math.comb(everyone - all_hits, size - k) / ways
            for k in range(low, high + 1)
        ]
        chances, least, seen = np.convolve(chances, own), least + low, seen + hits
    at = seen - least
    return min(1.0, float(chances[at:].sum())), min(1.0, float(chances[: at + 1].sum()))


def shift_interval(first: Sequence[float], second: Sequence[float]) -> Interval:
    """Return the Hodges-Lehmann shift of ``first`` over ``second`` with its rank-based interval."""
    shifts = np.sort(np.subtract.outer(first, second), axis=None)
    n, m = len(first), len(second)
    cut = n * m / 2 - 1.96 * math.sqrt(n * m * (n + m + 1) / 12)
    cut = max(0, min(math.floor(cut), (len(shifts) - 1) // 2))
    return Interval(
        float(np.median(shifts)), float(shifts[cut]), float(shifts[-1 - cut]), min(n, m)
    )


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
