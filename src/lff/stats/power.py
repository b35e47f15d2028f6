"""Statistical power: how many seeds a claim takes, and what n runs of each arm can show.

The question is asked of an effect that is fixed beforehand, not of the one that was seen: power at
the estimate merely restates its p-value.  The spread is that of a table, of the study itself or of
a pilot.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scipy.stats import binom, nct, t

from lff.stats.claim import Kind
from lff.stats.counted import MoreOften
from lff.stats.intervals import Count, fisher
from lff.stats.kinds import Equivalent, Estimated, Slope
from lff.stats.tables import Row

EFFECT, POWER = 0.25, 0.8
"""The smallest effect of interest, as a share of the baseline, and how often it should be found."""
MOST = 1_000


@dataclass(frozen=True)
class Plan:
    """The power of a number of seeds for a claim."""

    n: int
    """Runs of each arm that were planned or are there."""
    power: float
    """How often n runs find the effect."""
    least: float | None
    """The smallest effect that n runs find, as a share; None for counts and equivalence."""
    needed: int | None
    """Runs of each arm that find the effect; None if a thousand do not."""


def plan(
    claim: Kind, rows: Sequence[Row], *, n: int | None = None, effect: float = EFFECT
) -> Plan | None:
    """Return what n seeds (those of the table if None) can show; None for what is not tested.

    For returns and errors the effect is a share of the baseline; for counts, so many points of a
    share (above one half, or between two arms); for equivalence, no difference at all.
    """
    if isinstance(claim, MoreOften):
        found, least = _of_counts(claim, effect), None
    elif isinstance(claim, Estimated):
        spread = claim.spread(rows)
        if spread is None:
            return None
        variance, unit, parts, size = spread
        n = n or size
        if isinstance(claim, Equivalent) or (isinstance(claim, Slope) and claim.margin):
            low, high = claim.limits(rows)
            found, least = _of_equivalence(variance, (high - low) / 2, parts, claim.alpha), None
        else:
            asked = math.log1p(effect) if claim.scale != "difference" else effect * unit

            def found(runs: int) -> float:
                return _of_difference(asked, variance, parts, runs, claim.alpha)

            least = _smallest(variance, unit, parts, n, claim)
    else:
        return None
    if n is None:
        n = len({row.seed for row in rows if row.variant in claim.arms})
    return Plan(n, float(found(n)), least, _needed(found))


def _needed(power: Callable[[int], float]) -> int | None:
    """Return the number of runs from which the power is enough, by doubling and halving."""
    high = 4
    while power(high) < POWER:
        if high >= MOST:
            return None
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if power(middle) < POWER else (low, middle)
    return high


def _of_difference(effect: float, variance: float, parts: int, n: int, alpha: float) -> float:
    """Return the power of a contrast whose variance with one run of each arm is ``variance``."""
    if n < 2:
        return 0.0
    if not variance:
        return 1.0
    freedom = parts * (n - 1)
    critical = t.ppf(1 - alpha / 2, freedom)
    return float(nct.sf(critical, freedom, effect / math.sqrt(variance / n)))


def _smallest(variance: float, unit: float, parts: int, n: int, claim: Estimated) -> float:
    """Return the smallest effect that n runs find, by bisection."""
    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        asked = math.log1p(middle) if claim.scale != "difference" else middle * unit
        if _of_difference(asked, variance, parts, n, claim.alpha) < POWER:
            low = middle
        else:
            high = middle
    return high


def _of_equivalence(
    variance: float, margin: float, parts: int, alpha: float
) -> Callable[[int], float]:
    def power(n: int) -> float:
        freedom, error = parts * (n - 1), math.sqrt(variance / n) or 1e-300
        room = margin / error - float(t.ppf(1 - alpha / 2, freedom))
        return max(0.0, 2 * float(t.cdf(room, freedom)) - 1)

    return power


def _of_counts(claim: MoreOften, effect: float) -> Callable[[int], float]:
    def power(n: int) -> float:
        if claim.than is None:
            chances = binom.pmf(range(n + 1), n, 0.5 + effect)
            wins = (2 * Count(k, n).above(0.5) <= claim.alpha for k in range(n + 1))
            return float(sum(c for c, won in zip(chances, wins, strict=True) if won))
        one, other = (binom.pmf(range(n + 1), n, 0.5 + s * effect / 2) for s in (1, -1))
        total = 0.0
        for k in range(n + 1):
            for j in range(k + 1):
                if one[k] * other[j] > 1e-9 and 2 * fisher([(k, n, j, n)])[0] <= claim.alpha:
                    total += one[k] * other[j]
        return total

    return power
