"""The kinds of claims that a table can confirm or refute.

Each is plain data with a ``judge`` method, over the statistic of each run's curve
(:mod:`lff.stats.curves`), seed against seed: only seeds that all compared arms have are used.  With
several tasks a claim is judged on each and holds if it holds on enough of them
(:func:`lff.stats.verdicts.judge_tasks`); the counting kinds count seeds over all tasks together.
Fewer than five seeds are always inconclusive.  Returns are always read against the random policy:
where all arms stay within two of its standard deviations there is no signal.
"""

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Literal

import numpy as np

from lff.core.errors import BadInputError
from lff.stats.curves import Curves, Statistic, power_of, rank_correlation
from lff.stats.intervals import Interval, t_interval
from lff.stats.metrics import Metric
from lff.stats.paired import Kind, Paired
from lff.stats.tables import Row
from lff.stats.verdicts import Verdict, judge_better, judge_equivalent, judge_tasks


@dataclass(frozen=True)
class Better(Kind):
    """``arm`` is better than ``than``: the paired t-interval of the difference is above zero.

    ``sign``: 1 if more is better, -1 if less is; None: as the metric says, and fewer steps are.
    """

    arm: str
    _: KW_ONLY
    than: str
    sign: Literal[1, -1] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_sign(self.sign or 1)

    def judge(self, rows: Sequence[Row]) -> Verdict:
        """Judge it by the rows of a table."""
        natural = -1 if self.statistic == "first above" else self.metric.sign
        arms = (self.arm, self.than)[:: self.sign or natural]
        return self._judge_pair(rows, arms, lambda gain, _, of: judge_better(gain, of=of))


@dataclass(frozen=True)
class AsGood(Kind):
    """``arm`` is as good as ``than``: the interval lies within ± a share of what ``than`` has."""

    arm: str
    _: KW_ONLY
    than: str
    share: float = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.share > 0:
            raise BadInputError("share", self.share, "above 0", "use 0.2")

    def judge(self, rows: Sequence[Row]) -> Verdict:
        """Judge it by the rows of a table."""

        def decide(difference: Interval, paired: Paired, of: str) -> Verdict:
            margin = self.share * abs(float(np.mean(paired.columns[1])))
            return judge_equivalent(difference, margin=margin, of=of)

        return self._judge_pair(rows, (self.arm, self.than), decide)


@dataclass(frozen=True)
class LargerGain(Kind):
    """``arm`` over ``than`` is a larger gain than ``other_arm`` over ``other_than``.

    A gain is the difference of a seed's two runs as a share of the baseline's mean over seeds, so
    that pairs which learn for different times on different scales can be compared.  A curve counts
    to the end of its own pair's, not to that of the longer pair.  The t-interval of gain minus gain
    decides, task by task.
    """

    arm: str
    _: KW_ONLY
    than: str
    other_arm: str
    other_than: str

    def judge(self, rows: Sequence[Row]) -> Verdict:
        """Judge it by the rows of a table."""
        arms = (self.arm, self.than, self.other_arm, self.other_than)
        pairs = (arms[:2], arms[2:])
        curves = Curves(rows, metric=self.metric, variants=arms, apart=pairs)
        gains = f"gain of {self.arm} over {self.than} minus {self.other_arm} over {self.other_than}"
        of = f"relative {self._measured}, {gains}"

        def decide(paired: Paired) -> Verdict:
            arm, than, other_arm, other_than = paired.columns
            difference = _gains(arm, than) - _gains(other_arm, other_than)
            return judge_better(t_interval([*difference]), of=of)

        return self._judge_arms(curves, arms, of, decide)


def _gains(arm: Sequence[float], than: Sequence[float]) -> np.ndarray:
    return np.subtract(arm, than) / max(abs(float(np.mean(than))), 1e-12)


@dataclass(frozen=True)
class Point:
    """A place on the x-axis of a :class:`Slope`."""

    x: float
    variant: str
    minus: str | None = None
    """Then y is the difference of the two variants: does their gap grow with x?"""
    task: str | None = None
    """Then x belongs to this task, say its dimension; else the slope is judged on each task."""


@dataclass(frozen=True)
class Slope(Kind):
    """The statistic grows (``sign`` 1) or shrinks (-1) with x.

    One least-squares slope per seed, Σ(x−x̄)(y−ȳ)/Σ(x−x̄)²; the t-interval of the slopes decides.
    ``log_x``: slope per factor of ten in x.
    """

    points: tuple[Point, ...]
    _: KW_ONLY
    sign: Literal[1, -1] = 1
    log_x: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_sign(self.sign)
        xs = [point.x for point in self.points]
        if len(set(xs)) < 2:
            raise BadInputError("points", xs, "at 2 or more different x", "give more points")
        if self.log_x and min(xs) <= 0:
            raise BadInputError("points", xs, "above 0 on a logarithmic axis", "set log_x=False")
        if len({point.task is None for point in self.points}) > 1:
            tasks = [point.task for point in self.points]
            raise BadInputError("points", tasks, "all with a task or all without", "give it to all")

    def judge(self, rows: Sequence[Row]) -> Verdict:
        """Judge it on each task, or once if the points name their tasks."""
        names = {p.variant for p in self.points} | {p.minus for p in self.points if p.minus}
        curves = self._curves(rows, names)
        what = self._measured
        if any(point.minus for point in self.points):
            what = f"difference in {what}"
        per = "per tenfold x" if self.log_x else "per unit of x"
        of = f"{'' if self.sign > 0 else 'minus the '}slope of {what}, {per}"

        def decide(paired: Paired) -> Verdict:
            return judge_better(t_interval(self._slopes(paired.columns)), of=of)

        def judge_task(task: str) -> Verdict:
            ours = [(p.variant, p.task or task) for p in self.points]
            rivals = [(p.minus, p.task or task) for p in self.points if p.minus]
            return Paired.of(curves, [*ours, *rivals], self.statistic).judge(decide, of=of)

        if self.points[0].task is not None:
            return judge_tasks({"across tasks": judge_task("")})
        return self._judge(curves, judge_task)

    def _slopes(self, columns: list[list[float]]) -> list[float]:
        x = np.array([point.x for point in self.points], dtype=np.float64)
        x = np.log10(x) if self.log_x else x
        y = np.array(columns[: len(x)])
        rivals = iter(columns[len(x) :])
        for i, point in enumerate(self.points):
            if point.minus:
                y[i] -= next(rivals)
        x = x - x.mean()
        return [float(slope) for slope in self.sign * (x @ y) / (x @ x)]


@dataclass(frozen=True)
class SlopeIs(Kind):
    """Against the steps the metric follows a power whose exponent lies between two bounds.

    One least-squares slope of log value on log step per seed; the t-interval of the slopes is
    inside the bounds (confirmed), outside (refuted), or across one of them (inconclusive).  Steps
    below ``first`` and above ``last`` are left out of the fit.
    """

    arm: str
    _: KW_ONLY
    low: float = -math.inf
    high: float = math.inf
    first: int = 1
    last: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.low < self.high:
            raise BadInputError("bounds", (self.low, self.high), "in order", "set low below high")
        if self.first < 1:
            raise BadInputError("first", self.first, "1 or more", "0 lacks a logarithm")

    def judge(self, rows: Sequence[Row]) -> Verdict:
        """Judge it by the rows of a table."""
        curves = self._curves(rows, [self.arm])

        def number(task: str, seed: int) -> float:
            return power_of(curves.raw(self.arm, task, seed), first=self.first, last=self.last)

        of = f"exponent of {self.metric.title}, {self.arm}"
        return self._judge_numbers(curves, self.arm, number, of, above=self.low, below=self.high)


@dataclass(frozen=True)
class Correlates(Kind):
    """Over each run's curve two metrics rise and fall together (or against each other).

    Spearman's rank correlation over the steps that both have, one per seed; their t-interval is
    above (below) the bound.  NaN is left out, infinity ranks highest.
    """

    arm: str
    _: KW_ONLY
    other: Metric
    above: float = -math.inf
    below: float = math.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        if math.isinf(self.above) == math.isinf(self.below):
            raise BadInputError("bounds", (self.above, self.below), "one", "set above or below")

    def judge(self, rows: Sequence[Row]) -> Verdict:
        """Judge it by the rows of a table."""
        curves = self._curves(rows, [self.arm])
        others = Curves(rows, metric=self.other, variants=[self.arm])

        def number(task: str, seed: int) -> float:
            return rank_correlation(*(c.raw(self.arm, task, seed) for c in (curves, others)))

        of = f"rank correlation of {self.metric.title} and {self.other.title}, {self.arm}"
        bounds = {"above": self.above, "below": self.below}
        return self._judge_numbers(curves, self.arm, number, of, **bounds)


@dataclass(frozen=True)
class InSeeds(Kind):
    """The statistic is above (below) a bound in at least a share of the seeds.

    With ``than`` the bounds are multiples of that arm's statistic at the same task and seed, so
    ``than="random policy", below=1.5`` says "less than 1.5 times the random policy".
    """

    arm: str
    _: KW_ONLY
    above: float | None = None
    below: float | None = None
    than: str | None = None
    share: float = 0.6
    statistic: Statistic = "last"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_count(self.share, self.on_at_least)
        if self.above is None and self.below is None:
            raise BadInputError("bounds", None, "one or two", "set above or below")

    def judge(self, rows: Sequence[Row]) -> Verdict:
        """Judge it by the rows of a table."""
        arms = [self.arm] if self.than is None else [self.arm, self.than]
        unit = "" if self.than is None else f" times {self.than}"
        bounds = [f"> {self.above:g}{unit}"] if self.above is not None else []
        bounds += [f"< {self.below:g}{unit}"] if self.below is not None else []
        what = f"{self._measured} of {self.arm} {' and '.join(bounds)}"
        return self._judge_count(self._curves(rows, arms), arms, self._holds, self.share, what)

    def _holds(self, values: Sequence[float]) -> bool:
        value, unit = values[0], values[1] if self.than is not None else 1.0
        return (self.above is None or value > self.above * unit) and (
            self.below is None or value < self.below * unit
        )


@dataclass(frozen=True)
class Monotone(Kind):
    """From the first variant to the last the statistic never goes against the direction.

    Neighbours may be equal, the two ends may not.  ``share``: of the seeds in which it must hold.
    """

    variants: tuple[str, ...]
    _: KW_ONLY
    direction: Literal["rises", "falls"]
    share: float = 0.8
    statistic: Statistic = "last"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_count(self.share, self.on_at_least)
        if len(self.variants) < 2:
            raise BadInputError("variants", self.variants, "2 or more", "give them in order")

    def judge(self, rows: Sequence[Row]) -> Verdict:
        """Judge it by the rows of a table."""
        curves = self._curves(rows, self.variants)
        order = f"from {self.variants[0]} to {self.variants[-1]}"
        what = f"{self._measured} {self.direction} {order}"
        return self._judge_count(curves, self.variants, self._holds, self.share, what)

    def _holds(self, values: Sequence[float]) -> bool:
        upward = list(values) if self.direction == "rises" else list(values)[::-1]
        return upward == sorted(upward) and upward[0] < upward[-1]


def _check_sign(sign: int) -> None:
    if sign not in (1, -1):
        raise BadInputError("sign", sign, "1 or -1", "use 1 if more is better")


def _check_count(share: float, on_at_least: float | None) -> None:
    if not 0 < share <= 1:
        raise BadInputError("share", share, "above 0 and at most 1", "use 0.6, say")
    if on_at_least is not None:
        remedy = "this kind counts seeds over all tasks: set share"
        raise BadInputError("on_at_least", on_at_least, "left out", remedy)
