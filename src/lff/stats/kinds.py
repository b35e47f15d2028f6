"""The kinds of claims that a table can confirm or refute.

Each is plain data with a ``judge`` method, over the statistic of each run's curve
(:mod:`lff.stats.curves`), seed against seed: only seeds that all compared arms have are used.  With
several tasks a claim is judged on each and holds if it holds on enough of them
(:func:`lff.stats.verdicts.judge_tasks`); the counting kinds count seeds over all tasks together.
Fewer than five seeds are always inconclusive.  Returns are always read against the random policy:
where all arms stay within two of its standard deviations there is no signal.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.stats import spearmanr

from lff.core.errors import BadInputError
from lff.stats.curves import Curves, Statistic, check_statistic, describe
from lff.stats.intervals import paired_t_interval, t_interval
from lff.stats.metrics import RETURN, Metric
from lff.stats.paired import Paired
from lff.stats.tables import Row
from lff.stats.verdicts import (
    Verdict,
    judge_better,
    judge_bounds,
    judge_count,
    judge_equivalent,
    judge_tasks,
)


@dataclass(frozen=True)
class Better:
    """``arm`` is better than ``than``: the paired t-interval of the difference is above zero."""

    arm: str
    _: KW_ONLY
    name: str = ""
    text: str = ""
    than: str
    metric: Metric = RETURN
    statistic: Statistic = "mean"
    sign: Literal[1, -1] | None = None
    """1 if more is better, -1 if less is; None: as the metric says, and fewer steps are better."""
    tasks: tuple[str, ...] | None = None
    """Which tasks; all of the table if not given."""
    on_at_least: float | None = None
    """On how many of the tasks it must hold, or on what share of them; all if not given."""

    def __post_init__(self) -> None:
        check_statistic(self.statistic, self.metric)
        if self.sign is not None:
            _check_sign(self.sign)

    def judge(self, rows: Sequence[Row]) -> Verdict:
        """Judge it task by task."""
        curves = Curves(rows, metric=self.metric, variants=(self.arm, self.than))
        natural = -1 if self.statistic == "first above" else self.metric.sign
        first, second = (self.arm, self.than)[:: self.sign or natural]
        of = f"{describe(self.statistic, self.metric)}, {first} minus {second}"

        def decide(paired: Paired) -> Verdict:
            verdict = judge_better(paired_t_interval(*paired.columns), of=of)
            return replace(verdict, details=(paired.bootstrap(),))

        return judge_arms(self, curves, (first, second), decide, of=of)


@dataclass(frozen=True)
class AsGood:
    """``arm`` is as good as ``than``: the interval lies within ± a share of what ``than`` has."""

    arm: str
    _: KW_ONLY
    name: str = ""
    text: str = ""
    than: str
    share: float = 0.2
    """The margin, as a share of the mean statistic of ``than``."""
    metric: Metric = RETURN
    statistic: Statistic = "mean"
    tasks: tuple[str, ...] | None = None
    on_at_least: float | None = None

    def __post_init__(self) -> None:
        check_statistic(self.statistic, self.metric)
        if not self.share > 0:
            raise BadInputError("share", self.share, "above 0", "use 0.2")

    def judge(self, rows: Sequence[Row]) -> Verdict:
        """Judge it task by task."""
        curves = Curves(rows, metric=self.metric, variants=(self.arm, self.than))
        of = f"{describe(self.statistic, self.metric)}, {self.arm} minus {self.than}"

        def decide(paired: Paired) -> Verdict:
            margin = self.share * abs(float(np.mean(paired.columns[1])))
            verdict = judge_equivalent(paired_t_interval(*paired.columns), margin=margin, of=of)
            return replace(verdict, details=(paired.bootstrap(),))

        return judge_arms(self, curves, (self.arm, self.than), decide, of=of)


@dataclass(frozen=True)
class InSeeds:
    """The statistic is above (below) a bound in at least a share of the seeds.

    With ``than`` the bounds are multiples of that arm's statistic at the same task and seed, so
    ``than="random policy", below=1.5`` says "less than 1.5 times the random policy".
    """

    arm: str
    _: KW_ONLY
    name: str = ""
    text: str = ""
    metric: Metric
    above: float | None = None
    below: float | None = None
    than: str | None = None
    share: float = 0.6
    statistic: Statistic = "last"
    tasks: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        check_statistic(self.statistic, self.metric)
        _check_share(self.share)
        if self.above is None and self.below is None:
            raise BadInputError("bounds", None, "one or two", "set above or below")

    def judge(self, rows: Sequence[Row]) -> Verdict:
        """Count the runs in which it holds."""
        arms = [self.arm] if self.than is None else [self.arm, self.than]
        curves = Curves(rows, metric=self.metric, variants=arms)
        unit = "" if self.than is None else f" times {self.than}"
        bounds = [f"> {self.above:g}{unit}"] if self.above is not None else []
        bounds += [f"< {self.below:g}{unit}"] if self.below is not None else []
        what = f"{describe(self.statistic, self.metric)} of {self.arm} {' and '.join(bounds)}"
        return _count(
            curves, arms, self.tasks, self.statistic, holds=self._holds, share=self.share, what=what
        )

    def _holds(self, values: Sequence[float]) -> bool:
        value, unit = values[0], values[1] if self.than is not None else 1.0
        return (self.above is None or value > self.above * unit) and (
            self.below is None or value < self.below * unit
        )


@dataclass(frozen=True)
class Monotone:
    """From the first variant to the last the statistic never goes against the direction.

    Neighbours may be equal, the two ends may not.
    """

    variants: tuple[str, ...]
    _: KW_ONLY
    name: str = ""
    text: str = ""
    metric: Metric
    direction: Literal["rises", "falls"]
    share: float = 0.8
    """The share of the seeds in which it must hold."""
    statistic: Statistic = "last"
    tasks: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        check_statistic(self.statistic, self.metric)
        _check_share(self.share)
        if len(self.variants) < 2:
            raise BadInputError("variants", self.variants, "2 or more", "give them in order")

    def judge(self, rows: Sequence[Row]) -> Verdict:
        """Count the runs in which it holds."""
        curves = Curves(rows, metric=self.metric, variants=self.variants)
        order = f"from {self.variants[0]} to {self.variants[-1]}"
        what = f"{describe(self.statistic, self.metric)} {self.direction} {order}"
        return _count(
            curves,
            self.variants,
            self.tasks,
            self.statistic,
            holds=self._holds,
            share=self.share,
            what=what,
        )

    def _holds(self, values: Sequence[float]) -> bool:
        upward = list(values) if self.direction == "rises" else list(values)[::-1]
        return upward == sorted(upward) and upward[0] < upward[-1]


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
class Slope:
    """The statistic grows (``sign`` 1) or shrinks (-1) with x.

    One least-squares slope per seed, Σ(x−x̄)(y−ȳ)/Σ(x−x̄)²; the t-interval of the slopes decides.
    """

    points: tuple[Point, ...]
    _: KW_ONLY
    name: str = ""
    text: str = ""
    metric: Metric = RETURN
    statistic: Statistic = "mean"
    sign: Literal[1, -1] = 1
    log_x: bool = False
    """Slope per factor of ten in x."""
    tasks: tuple[str, ...] | None = None
    on_at_least: float | None = None

    def __post_init__(self) -> None:
        check_statistic(self.statistic, self.metric)
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
        curves = Curves(rows, metric=self.metric, variants=names)
        what = describe(self.statistic, self.metric)
        if any(point.minus for point in self.points):
            what = f"difference in {what}"
        per = "per tenfold x" if self.log_x else "per unit of x"
        of = f"{'' if self.sign > 0 else 'minus the '}slope of {what}, {per}"

        def judge_task(task: str) -> Verdict:
            ours = [(p.variant, p.task or task) for p in self.points]
            rivals = [(p.minus, p.task or task) for p in self.points if p.minus]
            paired = Paired.of(curves, [*ours, *rivals], self.statistic)
            return paired.judge(
                lambda: judge_better(t_interval(self._slopes(paired)), of=of), of=of
            )

        if self.points[0].task is not None:
            return _over_tasks(["across tasks"], judge_task, None)
        return _over_tasks(self.tasks or curves.tasks, judge_task, self.on_at_least)

    def _slopes(self, paired: Paired) -> list[float]:
        x = np.array([point.x for point in self.points], dtype=np.float64)
        x = np.log10(x) if self.log_x else x
        y = np.array(paired.columns[: len(x)])
        rivals = iter(paired.columns[len(x) :])
        for i, point in enumerate(self.points):
            if point.minus:
                y[i] -= next(rivals)
        x = x - x.mean()
        return [float(slope) for slope in self.sign * (x @ y) / (x @ x)]


@dataclass(frozen=True)
class Correlates:
    """Over each run's curve two metrics rise and fall together (or against each other).

    Spearman's rank correlation over the steps that both have, one per seed; their t-interval is
    above (below) the bound.  NaN is left out, infinity ranks highest.
    """

    arm: str
    _: KW_ONLY
    name: str = ""
    text: str = ""
    metric: Metric
    other: Metric
    above: float | None = None
    below: float | None = None
    tasks: tuple[str, ...] | None = None
    on_at_least: float | None = None

    def __post_init__(self) -> None:
        if (self.above is None) == (self.below is None):
            bounds = (self.above, self.below)
            raise BadInputError("bounds", bounds, "one", "set above or below")

    def judge(self, rows: Sequence[Row]) -> Verdict:
        """Judge it task by task."""
        first, second = (
            Curves(rows, metric=name, variants=[self.arm]) for name in (self.metric, self.other)
        )
        of = f"rank correlation of {self.metric.title} and {self.other.title}, {self.arm}"

        def judge_task(task: str) -> Verdict:
            seeds = sorted({*first.seeds(self.arm, task)} & {*second.seeds(self.arm, task)})
            found = {
                seed: rank_correlation(
                    first.raw(self.arm, task, seed), second.raw(self.arm, task, seed)
                )
                for seed in seeds
            }
            values = [r for r in found.values() if math.isfinite(r)]
            out = [str(seed) for seed, r in found.items() if not math.isfinite(r)]
            notes = (f"no correlation in seeds {', '.join(out)}",) if out else ()
            if len(values) < 2:
                return Verdict("inconclusive at this scale", f"{of}: {len(values)} seeds", notes)
            verdict = judge_bounds(
                t_interval(values),
                of=of,
                above=-math.inf if self.above is None else self.above,
                below=math.inf if self.below is None else self.below,
            )
            return replace(verdict, details=notes)

        return _over_tasks(self.tasks or first.tasks, judge_task, self.on_at_least)


def judge_arms(
    claim: Any,
    curves: Curves,
    arms: Sequence[str],
    decide: Callable[[Paired], Verdict],
    *,
    of: str,
) -> Verdict:
    """Judge a claim about arms on each of its tasks by the statistics of paired seeds."""

    def judge_task(task: str) -> Verdict:
        paired = Paired.of(curves, [(arm, task) for arm in arms], claim.statistic)
        return paired.judge(lambda: decide(paired), of=of)

    return _over_tasks(claim.tasks or curves.tasks, judge_task, claim.on_at_least)


def rank_correlation(first: dict[int, float], second: dict[int, float]) -> float:
    """Return Spearman's ρ over the shared steps; NaN if under 3, or if one side is constant."""
    steps = [s for s in first if s in second and not math.isnan(first[s] + second[s])]
    pairs = [[values[s] for s in steps] for values in (first, second)]
    if len(steps) < 3 or any(len(set(values)) == 1 for values in pairs):
        return math.nan
    return float(spearmanr(*pairs).statistic)


def _check_sign(sign: int) -> None:
    if sign not in (1, -1):
        raise BadInputError("sign", sign, "1 or -1", "use 1 if more is better")


def _check_share(share: float) -> None:
    if not 0 < share <= 1:
        raise BadInputError("share", share, "above 0 and at most 1", "use 0.6, say")


def _over_tasks(
    tasks: Sequence[str], judge_task: Callable[[str], Verdict], on_at_least: float | None
) -> Verdict:
    return judge_tasks({task: judge_task(task) for task in tasks}, at_least=on_at_least)


def _count(
    curves: Curves,
    variants: Sequence[str],
    tasks: Sequence[str] | None,
    statistic: Statistic,
    *,
    holds: Callable[[Sequence[float]], bool],
    share: float,
    what: str,
) -> Verdict:
    """Count the (task, seed) for which ``holds`` is true of the variants' statistics."""
    lines, seeds, cases = [], set(), []
    for task in tasks or curves.tasks:
        paired = Paired.of(curves, [(variant, task) for variant in variants], statistic)
        found = [holds(values) for values in zip(*paired.columns, strict=True)]
        seeds.update(paired.seeds)
        cases += found
        lines.append("; ".join((f"{task}: in {sum(found)} of {len(found)}", *paired.notes)))
    verdict = judge_count(sum(cases), of=len(cases), share=share, what=what, seeds=len(seeds))
    return replace(verdict, details=tuple(lines))
