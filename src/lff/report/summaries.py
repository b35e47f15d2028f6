"""Numbers and values in the tables of a page."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lff.stats import Curves, Statistic, interquartile_mean, t_interval


@dataclass(frozen=True)
class Summary:
    """One number per seed, in short."""

    seeds: int
    mean: float
    """Infinite if a seed is."""
    low: float
    high: float
    """The 95 % t-interval of the mean; NaN with fewer than two seeds or none finite."""
    iqm: float
    """The mean of the middle half."""
    least: float
    most: float
    lost: int
    """Seeds that are not finite."""


def summarize(values: Sequence[float]) -> Summary:
    """Return mean, interval, mean of the middle half, and range.

    >>> summarize([1.0, 2.0, 3.0, 10.0]).iqm
    2.5
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    lost = int((~np.isfinite(ordered)).sum())
    low = high = math.nan
    if len(ordered) > 1 and not lost:
        interval = t_interval([*values])
        low, high = interval.low, interval.high
    cut = len(ordered) // 4
    middle = ordered[cut : len(ordered) - cut]
    mean = float(ordered.mean()) if not lost else math.inf
    if lost:
        iqm = float(middle.mean()) if np.isfinite(middle).all() else math.inf
    else:
        iqm = interquartile_mean(ordered[:, None])
    return Summary(len(ordered), mean, low, high, iqm, float(ordered[0]), float(ordered[-1]), lost)


def values_of(curves: Curves, variant: str, task: str, statistic: Statistic) -> list[float]:
    """Return a statistic of each seed's curve, by seed, by the rule of the verdicts."""
    return [curves.statistic(variant, task, s, statistic) for s in curves.seeds(variant, task)]


def number(value: float | None) -> str:
    """Write a number for people.

    >>> number(1234.5678), number(0.00012345), number(float("inf")), number(None)
    ('1,235', '0.0001234', '∞', '–')
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    text = f"{value:,.0f}" if 1000 <= size < 1e7 else f"{value:.4g}"
    return text.replace("e+0", "e").replace("e-0", "e-").replace("-", "−")


def show(value: Any) -> str:
    """Write a value.

    >>> show([8, 8]), show(True), show(None), show(1000000), show(0.0003)
    ('8, 8', 'yes', '–', '1,000,000', '0.0003')
    """
    match value:
        case None:
            return "–"
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:g}"
        case list() | tuple():
            return ", ".join(map(show, value)) or "none"
        case _ if isinstance(value, Mapping):
            return ", ".join(f"{key} {show(inner)}" for key, inner in value.items()) or "none"
    return str(value)
