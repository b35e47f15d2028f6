"""The kinds of claims that a table can support or contradict.

Computed    deterministic numbers lie within bounds, or in order
Better      one arm beats another, or a number; or its gain beats another gain (Welch)
Equivalent  two arms differ by less than a fixed margin
MoreOften   an event happens in most runs, or in more runs of one arm than of another (exact)
Slope       a statistic grows with x; Exponent: a power of the steps lies within bounds
Correlates  two metrics of a run rise and fall together

Each is plain data with a ``judge`` method, over one number for each run's curve
(:mod:`lff.stats.curves`).  With several tasks a claim is about their mean, unless ``on_at_least``
asks for a number of tasks.  Returns are read against the random policy: where no arm has learned
there is no signal.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Literal

import numpy as np
from scipy.stats import mannwhitneyu

from lff.core.config import LATER
from lff.core.errors import BadInputError
from lff.stats.claim import Kind, Tasks, is_silent
from lff.stats.counted import Computed as Computed
from lff.stats.counted import MoreOften as MoreOften
from lff.stats.curves import Curves, power_of, rank_correlation
from lff.stats.intervals import Interval, Scale, contrast, paired_t_interval, shift_interval
from lff.stats.metrics import RANDOM, Metric, span_of
from lff.stats.tables import Row
from lff.stats.verdicts import FEWEST_SEEDS, Bounds, Test, Verdict, conjunction


@dataclass(frozen=True, kw_only=True)
class Estimated(Kind):
    """A kind that is decided by a contrast of means and the bounds of what is claimed."""

    scale: Scale = "difference"
    """Difference or ratio of means, or ratio of geometric means.  Over several tasks, differences
    of returns are shares of each task's span."""

    def _test(self, curves: Curves, tasks: Tasks) -> Test:
        parts = [(weight / len(tasks), v) for weight, v in self._parts(curves, tasks)]
        fewest = min(len(values) for _, values in parts)
        if fewest < FEWEST_SEEDS:
            few = f"{fewest} runs, fewer than {FEWEST_SEEDS}"
            return Test(1.0, 1.0, f"{self._of(tasks)}: {few}")
        if not all(np.isfinite(values).all() for _, values in parts):
            return Test(1.0, 1.0, f"{self._of(tasks)}: infinite in some runs; count them instead")
        found = contrast(parts, self.scale)
        low, high = self._bounds(tasks)
        supports = max(found.above(low), found.below(high))
        contradicts = min(found.below(low), found.above(high))
        shown = found.interval()
        asked = [f"> {self._shown(low)}"] * (low > -math.inf and (low, high) != (0.0, math.inf))
        asked += [f"< {self._shown(high)}"] * (high < math.inf)
        bounds = Bounds(low, high)
        if self.scale != "difference":
            value, least, most = (math.exp(v) for v in (shown.estimate, shown.low, shown.high))
            shown = Interval(value, least, most, shown.n)
            bounds = Bounds(math.exp(low), math.exp(high), is_ratio=True)
        words = f", asked for {' and '.join(asked)}" if asked else ""
        p = min(1.0, 2 * min(supports, contradicts))
        because = f"{self._of(tasks)}: {shown}{words}, p = {p:.2g}"
        return Test(supports, contradicts, because, shown, bounds=bounds)

    def spread(self, rows: Sequence[Row]) -> tuple[float, float, int, int] | None:
        """Return what power follows from; None if the table lacks runs.

        The contrast's variance with one run of each arm; the baseline's mean in the contrast's
        units; how many samples there are, and runs of each.
        """
        curves, tasks = self._read(rows)
        parts = [(w / len(tasks), v) for w, v in self._parts(curves, tasks)] if tasks else []
        if not parts or min(len(values) for _, values in parts) < 2:
            return None
        alone = [contrast([part], self.scale) for part in parts]
        variance = sum(one.error**2 * one.n for one in alone)
        unit = sum(abs(one.value) for one in alone[1::2] or alone)
        return variance, unit, len(parts), min(one.n for one in alone)

    def limits(self, rows: Sequence[Row]) -> tuple[float, float]:
        """Return the bounds of what is claimed, in the contrast's units."""
        return self._bounds(self._read(rows)[1])

    def _parts(self, curves: Curves, tasks: Tasks) -> Iterator[tuple[float, Sequence[float]]]:
        """Yield weights and samples; weights are divided by the number of tasks afterwards."""
        raise NotImplementedError

    def _bounds(self, tasks: Tasks) -> tuple[float, float]:
        return 0.0, math.inf

    def _shown(self, bound: float) -> str:
        return f"{bound if self.scale == 'difference' else math.exp(bound):.3g}"

    def _unit(self, task: str, tasks: Tasks) -> float:
        """Return what a difference on a task is divided by."""
        shared = self.metric.policies and self.scale == "difference" and len(tasks) > 1
        return (span_of(task) or 1.0) if shared else 1.0


@dataclass(frozen=True)
class Better(Estimated):
    """``arm`` is better than ``than``, an arm or a number.

    ``over``: then the gain of ``arm`` over ``than`` is larger than that of another pair of arms,
    whose curves may end elsewhere.  ``sign``: 1 if more is better, -1 if less is; None: as the
    metric says.  ``by``: then the gain is at least so much, a factor where means are divided.
    ``share``: then ``arm`` has at least this share of what ``than`` gains over the random policy.
    The steps of "first above" are compared by ranks, since a run that does not get there has no
    number.
    """

    arm: str
    _: KW_ONLY
    than: str | float
    over: tuple[str, str] | None = None
    by: float | None = None
    sign: Literal[1, -1] | None = None
    share: float | None = field(default=None, metadata=LATER)

    @property
    def arms(self) -> tuple[str, ...]:
        than = (self.than,) if isinstance(self.than, str) else ()
        return (self.arm, *than, *(self.over or ()))

    @property
    def _apart(self) -> Sequence[tuple[str, ...]]:
        return (self.arms[:2], self.over) if self.over else ()

    @property
    def _sign(self) -> int:
        return self.sign or (-1 if self.statistic == "first above" else self.metric.sign)

    def _of(self, tasks: Tasks) -> str:
        word = "minus" if self.scale == "difference" else "over"
        pair = self.arm
        if isinstance(self.than, str):
            pair = f" {word} ".join([self.arm, self.than][:: self._sign])
        if self.share:
            pair = f"{self.arm} minus {self.share:g} of {self.than}, both above the random policy"
        if self.over:
            pair = f"gain of {pair}, {word} that of {f' {word} '.join(self.over)}"
        unit = "share of span, " if self._unit(tasks[0], tasks) != 1 else ""
        return f"{unit}{self._measured}, {pair}" + self._mean_of(tasks)

    def _mean_of(self, tasks: Tasks) -> str:
        return f", mean of {len(tasks)} tasks" if len(tasks) > 1 else ""

    def _parts(self, curves: Curves, tasks: Tasks) -> Iterator[tuple[float, Sequence[float]]]:
        direction = self._sign if isinstance(self.than, str) else 1
        for task in tasks:
            weight = direction / self._unit(task, tasks)
            share = self.share or 1.0
            for sign, arm in zip((1, -share, -1, 1), self.arms, strict=False):
                yield sign * weight, self._values(curves, arm, task)
            if self.share:
                yield (share - 1.0) * weight, curves.reference(RANDOM, task)

    def _bounds(self, tasks: Tasks) -> tuple[float, float]:
        if isinstance(self.than, str):
            least = self.by or 0.0 if self.scale == "difference" else math.log(self.by or 1.0)
            return least, math.inf
        than = self.than if self.scale == "difference" else math.log(self.than)
        return (than, math.inf) if self._sign > 0 else (-math.inf, than)

    def _unit(self, task: str, tasks: Tasks) -> float:
        """Return what a difference is divided by; a number to compare with has its own unit."""
        return super()._unit(task, tasks) if isinstance(self.than, str) else 1.0

    def _test(self, curves: Curves, tasks: Tasks) -> Test:
        if self.statistic == "first above":
            return self._ranks(curves, tasks)
        test = super()._test(curves, tasks)
        if len(tasks) > 1 or len(self.arms) != 2 or test.interval is None:
            return test
        shared = set.intersection(*({*curves.seeds(arm, tasks[0])} for arm in self.arms))
        pairs = [
            [curves.statistic(arm, tasks[0], s, self.statistic) for s in sorted(shared)]
            for arm in self.arms
        ]
        if len(shared) < 2 or not np.isfinite(pairs).all():
            return test
        notes = (f"paired difference {paired_t_interval(*pairs[:: self._sign])}",)
        return replace(test, notes=notes)

    def _ranks(self, curves: Curves, tasks: Tasks) -> Test:
        if len(tasks) > 1:
            return conjunction({t: self._ranks(curves, [t]) for t in tasks}, len(tasks))
        arm, than = (self._values(curves, one, tasks[0]) for one in self.arms)
        if min(len(arm), len(than)) < FEWEST_SEEDS:
            return Test(1.0, 1.0, f"{self._of(tasks)}: fewer than {FEWEST_SEEDS} runs")
        first, second = (arm, than)[:: self._sign]
        p = [float(mannwhitneyu(first, second, alternative=a).pvalue) for a in ("greater", "less")]
        shown = shift_interval(first, second)
        both = min(1.0, 2 * min(p))
        return Test(p[0], p[1], f"{self._of(tasks)}: {shown}, by ranks p = {both:.2g}", shown)


@dataclass(frozen=True)
class Equivalent(Better):
    """``arm`` is as good as ``than``: they differ by less than a margin fixed beforehand.

    A ratio of means lies between 1/margin and margin.  A difference, for returns that may be
    negative, lies within ± margin as a share of the task's span (of one where it has none).
    """

    _: KW_ONLY
    margin: float = 1.2
    scale: Scale = "ratio"

    def __post_init__(self) -> None:
        super().__post_init__()
        least = 0.0 if self.scale == "difference" else 1.0
        if not self.margin > least:
            raise BadInputError(
                "margin", self.margin, f"above {least:g}", "use 1.2, or 0.2 of a span"
            )

    @property
    def _sign(self) -> int:
        return 1

    def _bounds(self, tasks: Tasks) -> tuple[float, float]:
        if self.scale != "difference":
            middle = 0.0 if isinstance(self.than, str) else math.log(self.than)
            return middle - math.log(self.margin), middle + math.log(self.margin)
        alone = self.metric.policies and len(tasks) == 1
        margin = self.margin * ((span_of(tasks[0]) or 1.0) if alone else 1.0)
        middle = 0.0 if isinstance(self.than, str) else self.than
        return middle - margin, middle + margin


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
class Slope(Estimated):
    """The statistic grows (``sign`` 1) or shrinks (-1) with x.

    The least-squares slope Σ(x−x̄)y/Σ(x−x̄)² of the arms' means.  ``log_x``: per factor of ten in
    x.  Returns of different tasks count as shares of their spans.  ``margin``: then the slope is
    claimed to be flat, within ± margin.
    """

    points: tuple[Point, ...]
    _: KW_ONLY
    sign: Literal[1, -1] = 1
    log_x: bool = False
    margin: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        xs = [point.x for point in self.points]
        if len(set(xs)) < 2:
            raise BadInputError("points", xs, "at 2 or more different x", "give more points")
        if self.log_x and min(xs) <= 0:
            raise BadInputError("points", xs, "above 0 on a logarithmic axis", "set log_x=False")
        if len({point.task is None for point in self.points}) > 1:
            tasks = [point.task for point in self.points]
            raise BadInputError("points", tasks, "all with a task or all without", "give it to all")

    @property
    def arms(self) -> tuple[str, ...]:
        names = [name for p in self.points for name in (p.variant, p.minus) if name]
        return tuple(dict.fromkeys(names))

    @property
    def _has_tasks(self) -> bool:
        return self.points[0].task is not None

    def _runs(self, curves: Curves, task: str) -> bool:
        names = [(name, p.task or task) for p in self.points for name in (p.variant, p.minus)]
        return all(curves.seeds(name, place) for name, place in names if name)

    def _decide(self, curves: Curves, tasks: Tasks) -> Verdict:
        if not self._has_tasks:
            return super()._decide(curves, tasks)
        return self._guarded(curves, [""]).verdict(self.alpha)

    def _silent(self, curves: Curves, task: str) -> bool:
        if not self._has_tasks:
            return super()._silent(curves, task)
        return all(is_silent(curves, str(p.task), [p.variant, p.minus]) for p in self.points)

    def _beside(self, curves: Curves, task: str) -> tuple[str, ...]:
        return () if self._has_tasks else super()._beside(curves, task)

    def _of(self, tasks: Tasks) -> str:
        what = self._measured
        if any(point.minus for point in self.points):
            what = f"difference in {what}"
        per = "per tenfold x" if self.log_x else "per unit of x"
        return f"{'' if self.sign > 0 else 'minus the '}slope of {what}, {per}"

    def _parts(self, curves: Curves, tasks: Tasks) -> Iterator[tuple[float, Sequence[float]]]:
        x = np.array([point.x for point in self.points], dtype=np.float64)
        x = np.log10(x) if self.log_x else x
        weights = self.sign * (x - x.mean()) / ((x - x.mean()) ** 2).sum()
        for task in tasks:
            for weight, point in zip(weights, self.points, strict=True):
                at = point.task or task
                share = float(weight) / self._unit(at, [task, at] if self._has_tasks else tasks)
                yield share, self._values(curves, point.variant, at)
                if point.minus:
                    yield -share, self._values(curves, point.minus, at)

    def _bounds(self, tasks: Tasks) -> tuple[float, float]:
        return (0.0, math.inf) if self.margin is None else (-self.margin, self.margin)


@dataclass(frozen=True)
class OfOneRun(Estimated):
    """A kind that is decided by one number for each run of an arm, within bounds."""

    arm: str
    _: KW_ONLY
    above: float = -math.inf
    below: float = math.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        if not -math.inf <= self.above < self.below or self.above == -self.below == -math.inf:
            bounds = (self.above, self.below)
            raise BadInputError("bounds", bounds, "one or two, in order", "set above or below")

    @property
    def arms(self) -> tuple[str, ...]:
        return (self.arm,)

    def _number(self, curves: Curves, task: str, seed: int) -> float:
        raise NotImplementedError

    def _values(self, curves: Curves, arm: str, task: str) -> list[float]:
        found = [self._number(curves, task, seed) for seed in curves.seeds(arm, task)]
        return [value for value in found if math.isfinite(value)]

    def _parts(self, curves: Curves, tasks: Tasks) -> Iterator[tuple[float, Sequence[float]]]:
        for task in tasks:
            yield 1.0, self._values(curves, self.arm, task)

    def _bounds(self, tasks: Tasks) -> tuple[float, float]:
        return self.above, self.below


@dataclass(frozen=True)
class Exponent(OfOneRun):
    """The metric is a power of the steps whose exponent lies within the bounds.

    One least-squares slope of log value on log step per run.  Steps below ``first`` and above
    ``last`` are left out of the fit.
    """

    _: KW_ONLY
    first: int = 1
    last: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.first < 1:
            raise BadInputError("first", self.first, "1 or more", "0 has no logarithm")

    def _of(self, tasks: Tasks) -> str:
        return f"exponent of {self.metric.title}, {self.arm}"

    def _number(self, curves: Curves, task: str, seed: int) -> float:
        return power_of(curves.raw(self.arm, task, seed), first=self.first, last=self.last)


@dataclass(frozen=True)
class Correlates(OfOneRun):
    """Over each run's curve two metrics rise and fall together (or against each other).

    Spearman's rank correlation over the steps that both have, one per run.  NaN is left out,
    infinity ranks highest.
    """

    _: KW_ONLY
    other: Metric

    def _of(self, tasks: Tasks) -> str:
        return f"rank correlation of {self.metric.title} and {self.other.title}, {self.arm}"

    def _number(self, curves: Curves, task: str, seed: int) -> float:
        other = curves.beside(self.other)
        return rank_correlation(*(c.raw(self.arm, task, seed) for c in (curves, other)))
