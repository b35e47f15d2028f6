"""Forest plots: a line for each verdict, its interval as a bar beside what was asked for.

Numbers of different claims have different units, so each bar has its own scale.  The place of what
was asked for is the same on all: the middle, with the claimed side on the right; a claim with two
bounds has its claimed range in the middle.
"""

import math
from dataclasses import dataclass

from lff.stats import Interval
from lff.stats.verdicts import Bounds, Verdict

MARGIN = 1.08  # the half-width of a scale over the furthest end of its bar


@dataclass(frozen=True)
class Bar:
    """An interval on a scale from 0 to 100, and the claimed range."""

    low: float
    high: float
    dot: float
    claimed: tuple[float, float]
    outcome: str


def bars_of(verdict: Verdict) -> list[Bar]:
    """Return the bar of a verdict; those of its tasks where no single number decided it.

    >>> found = Verdict("supported here", "", interval=Interval(0.5, -0.5, 1.5, 5))
    >>> [round(place) for place in (bars_of(found)[0].low, bars_of(found)[0].high)]
    [35, 96]
    """
    if verdict.interval:
        return [_bar(verdict.interval, verdict.bounds, verdict.outcome)]
    return [bar for _, one in verdict.tasks for bar in bars_of(one)]


def _bar(interval: Interval, bounds: Bounds, outcome: str) -> Bar:
    scale = _log if bounds.is_ratio else float
    least, most = scale(bounds.low), scale(bounds.high)
    two = math.isfinite(least) and math.isfinite(most)
    zero = (least + most) / 2 if two else least if math.isfinite(least) else most
    sign = 1 if two or math.isfinite(least) else -1
    values = [sign * (scale(v) - zero) for v in (interval.low, interval.high, interval.estimate)]
    half = (most - least) / 2 if two else 0.0
    known = [abs(value) for value in values if math.isfinite(value)]
    reach = MARGIN * max([*known, 1.5 * half, 1e-300])
    *ends, dot = (50 + 50 * max(-1.0, min(1.0, value / reach)) for value in values)
    claimed = (50 - 50 * half / reach, 50 + 50 * half / reach) if two else (50.0, 100.0)
    return Bar(min(ends), max(ends), dot, claimed, outcome)


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf
