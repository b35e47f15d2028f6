"""Numbers for the tables of a page: what each variant came to, over seeds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lff.stats import Row, paired_t_interval


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
        interval = paired_t_interval([*values], [0.0] * len(values))
        low, high = interval.low, interval.high
    cut = len(ordered) // 4
    with np.errstate(invalid="ignore"):
        mean = float(ordered.mean())
        iqm = float(ordered[cut : len(ordered) - cut].mean())
    return Summary(len(ordered), mean, low, high, iqm, float(ordered[0]), float(ordered[-1]), lost)


def last_values(rows: Sequence[Row], variant: str, task: str, metric: str) -> list[float]:
    """Return each seed's value at its last step, by seed."""
    ends: dict[int, tuple[int, float]] = {}
    for row in _own(rows, variant, task, metric):
        if row.seed not in ends or row.step >= ends[row.seed][0]:
            ends[row.seed] = (row.step, row.value)
    return [ends[seed][1] for seed in sorted(ends)]


def mean_values(rows: Sequence[Row], variant: str, task: str, metric: str) -> list[float]:
    """Return each seed's mean over its steps, by seed."""
    found: dict[int, list[float]] = {}
    for row in _own(rows, variant, task, metric):
        found.setdefault(row.seed, []).append(row.value)
    return [float(np.mean(found[seed])) for seed in sorted(found)]


def number(value: float) -> str:
    """Write a number for people.

    >>> number(1234.5678), number(0.00012345), number(float("inf")), number(float("nan"))
    ('1,235', '0.0001234', '∞', '–')
    """
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    text = f"{value:,.0f}" if 1000 <= size < 1e7 else f"{value:.4g}"
    return text.replace("e+0", "e").replace("e-0", "e-").replace("-", "−")


def _own(rows: Sequence[Row], variant: str, task: str, metric: str) -> list[Row]:
    wanted = (variant, task, metric)
    return [row for row in rows if (row.variant, row.task, row.metric) == wanted]
