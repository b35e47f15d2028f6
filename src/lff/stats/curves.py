"""One number out of a run's curve: its mean, its end, its largest value, ….

A run that diverged has rows up to where it stopped, perhaps with NaN or infinity among them.  Left
out, they would flatter it; so there is one rule, for verdicts and figures alike:

- A value that is not finite is replaced by the last finite one before it, and where other runs of
  the compared arms continue, the curve stays at its last finite value up to their last step.
- In the largest value of any metric but the return, NaN and infinity count as infinity, which is
  above any bound: that is what a diverged Q-value is.
- A curve without one finite value has no statistic (NaN), and its seed is left out and named.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Literal, get_args

import numpy as np
from scipy.stats import rankdata

from lff.core.checks import check_choice
from lff.core.errors import BadInputError
from lff.stats.metrics import RANDOM, ZERO, Metric, span_of
from lff.stats.tables import Row

Statistic = Literal["mean", "last", "max", "min", "growth", "first above"]
"""Of a curve: its mean by trapezoids, last, largest, smallest, last over first, and the step of the
first evaluation above the random policy by a tenth of the task's span; its last step if none is."""
RISE = 0.1


def check_statistic(statistic: object, metric: Metric) -> None:
    """Raise unless there is such a statistic of this metric."""
    check_choice("statistic", statistic, get_args(Statistic))
    if statistic == "first above" and not metric.policies:
        remedy = "only a return has a random policy to leave"
        raise BadInputError("metric", metric.title, "return for 'first above'", remedy)


def describe(statistic: Statistic, metric: Metric) -> str:
    """Return the statistic of this metric in words."""
    title = metric.title
    return {
        "mean": f"mean {title} over the curve",
        "last": f"last {title}",
        "max": title if metric.peak else f"largest {title}",
        "min": f"smallest {title}",
        "growth": f"{title}, last over first,",
        "first above": f"steps until {title} passes the random policy by {RISE:.0%} of the span",
    }[statistic]


class Curves:
    """The curves of one metric, of some variants (or all) and of the reference policies.

    A curve is carried forward to the last step of the variants beside it: all, or those of its own
    group of ``apart``, for variants that are meant to run for different times.
    """

    def __init__(
        self,
        rows: Iterable[Row],
        *,
        metric: Metric,
        variants: Iterable[str] | None = None,
        apart: Iterable[Iterable[str]] = (),
    ) -> None:
        wanted = None if variants is None else {*variants, RANDOM, ZERO}
        self.metric, self._rows = metric, [*rows]
        self._beside: dict[Metric, Curves] = {}
        self._values: dict[tuple[str, str, int], dict[int, float]] = {}
        for row in self._rows:
            if row.metric == metric.title and (wanted is None or row.variant in wanted):
                curve = self._values.setdefault((row.variant, row.task, row.seed), {})
                curve[row.step] = row.value
        self._group = {variant: i for i, group in enumerate(apart) for variant in group}
        self._steps: dict[tuple[str, int | None], set[int]] = {}
        for (variant, task, _), curve in self._values.items():
            if variant not in (RANDOM, ZERO):
                self._steps.setdefault((task, self._group.get(variant)), set()).update(curve)

    def beside(self, metric: Metric) -> "Curves":
        """Return the curves of another metric of the same rows."""
        if metric not in self._beside:
            self._beside[metric] = Curves(self._rows, metric=metric)
        return self._beside[metric]

    @property
    def tasks(self) -> list[str]:
        """The tasks that some arm was run on, in the order of the table."""
        return list(dict.fromkeys(task for task, _ in self._steps))

    def seeds(self, variant: str, task: str) -> list[int]:
        """The seeds that this arm was run with."""
        return sorted(s for v, t, s in self._values if (v, t) == (variant, task))

    def raw(self, variant: str, task: str, seed: int) -> dict[int, float]:
        """A run's rows as they are, by step; empty if there are none."""
        return dict(sorted(self._values.get((variant, task, seed), {}).items()))

    def carried(self, variant: str, task: str, seed: int) -> dict[int, float]:
        """A run's curve by step, with the last finite value carried forward (see above)."""
        raw = self.raw(variant, task, seed)
        beside = self._steps.get((task, self._group.get(variant)), ())
        later = (step for step in beside if step > max(raw, default=math.inf))
        curve: dict[int, float] = {}
        last = math.nan
        for step in (*raw, *sorted(later)):
            value = raw.get(step, math.nan)
            last = value if math.isfinite(value) else last
            if math.isfinite(last):
                curve[step] = last
        return curve

    def statistic(self, variant: str, task: str, seed: int, statistic: Statistic) -> float:
        """One number out of the run's curve; NaN if it has no finite value."""
        if statistic == "max" and not self.metric.policies:
            raw = self.raw(variant, task, seed).values()
            return max((math.inf if math.isnan(v) else v for v in raw), default=math.nan)
        curve = self.carried(variant, task, seed)
        if not curve:
            return math.nan
        values = list(curve.values())
        if statistic == "first above":
            level = self._level(task)
            steps = (step for step, value in curve.items() if value > level)
            return math.nan if math.isnan(level) else next(steps, max(curve))
        if statistic == "growth":
            return values[-1] / values[0] if values[0] else math.nan
        if statistic == "last":
            return values[-1]
        if statistic == "mean" and len(curve) > 1:
            first, *_, last = curve
            return float(np.trapezoid(np.array(values), np.array([*curve]))) / (last - first)
        return float(getattr(np, statistic)(values))  # max or min, or the mean of one

    def values(self, variant: str, task: str, statistic: Statistic) -> list[float]:
        """The statistic of each seed's curve, by seed."""
        return [self.statistic(variant, task, s, statistic) for s in self.seeds(variant, task)]

    def reference(self, policy: str, task: str) -> list[float]:
        """The returns of the random or the zero policy, one per seed; empty if unknown."""
        return [value for value in self.values(policy, task, "mean") if math.isfinite(value)]

    def _level(self, task: str) -> float:
        """Return the return to pass; NaN if the random policy or the span is not known."""
        random, span = self.reference(RANDOM, task), span_of(task)
        return float(np.mean(random)) + RISE * span if random and span else math.nan


def power_of(curve: Mapping[int, float], *, first: int = 1, last: float | None = None) -> float:
    """Return the slope of log value on log step; NaN if fewer than two points have both.

    >>> round(power_of({10: 1.0, 100: 0.1, 1000: 0.01}), 12)
    -1.0
    """
    last = math.inf if last is None else last
    kept = [(s, v) for s, v in curve.items() if max(first, 1) <= s <= last and 0 < v < math.inf]
    if len(kept) < 2:
        return math.nan
    x, y = np.log(kept).T
    x = x - x.mean()
    return float(x @ y / (x @ x))


def rank_correlation(first: Mapping[int, float], second: Mapping[int, float]) -> float:
    """Return Spearman's ρ over the shared steps; NaN if under 3, or if one side is constant."""
    steps = [s for s in first if s in second and not math.isnan(first[s] + second[s])]
    pairs = [[values[s] for s in steps] for values in (first, second)]
    if len(steps) < 3 or any(len(set(values)) == 1 for values in pairs):
        return math.nan
    return float(np.corrcoef(*map(rankdata, pairs))[0, 1])
