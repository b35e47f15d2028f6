"""The kind of claim that names an exponent: errors fall as width to the power -1/2."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass

import numpy as np

from lff.core.errors import BadInputError
from lff.stats.curves import Curves
from lff.stats.intervals import t_interval
from lff.stats.metrics import Metric
from lff.stats.tables import Row
from lff.stats.verdicts import Verdict, judge_bounds, judge_tasks


@dataclass(frozen=True)
class SlopeIs:
    """Against the steps the metric follows a power whose exponent lies between two bounds.

    One least-squares slope of log value on log step per seed; the t-interval of the slopes is
    inside the bounds (confirmed), outside (refuted), or across one of them (inconclusive).
    """

    arm: str
    _: KW_ONLY
    name: str = ""
    text: str = ""
    metric: Metric
    low: float = -math.inf
    high: float = math.inf
    first: int = 1
    """Steps below this are left out of the fit."""
    last: int | None = None
    """So are steps above this."""
    tasks: tuple[str, ...] | None = None
    on_at_least: float | None = None

    def __post_init__(self) -> None:
        """Check the bounds."""
        if not self.low < self.high:
            bounds = (self.low, self.high)
            raise BadInputError("bounds", bounds, "in order", "set low below high")
        if self.first < 1:
            raise BadInputError("first", self.first, "1 or more", "0 lacks a logarithm")

    def judge(self, rows: Sequence[Row]) -> Verdict:
        """Judge it task by task."""
        curves = Curves(rows, metric=self.metric, variants=[self.arm])
        of = f"exponent of {self.metric.title}, {self.arm}"

        def judge_task(task: str) -> Verdict:
            found = [
                power_of(curves.raw(self.arm, task, seed), first=self.first, last=self.last)
                for seed in curves.seeds(self.arm, task)
            ]
            slopes = [slope for slope in found if math.isfinite(slope)]
            if len(slopes) < 2:
                return Verdict("inconclusive at this scale", f"{of}: {len(slopes)} seeds")
            return judge_bounds(t_interval(slopes), of=of, above=self.low, below=self.high)

        verdicts = {task: judge_task(task) for task in self.tasks or curves.tasks}
        return judge_tasks(verdicts, at_least=self.on_at_least)


def power_of(curve: Mapping[int, float], *, first: int = 1, last: int | None = None) -> float:
    """Return the slope of log value on log step; NaN if fewer than two points have both.

    >>> round(power_of({10: 1.0, 100: 0.1, 1000: 0.01}), 12)
    -1.0
    """
    kept = {
        step: value
        for step, value in curve.items()
        if step >= max(first, 1)
        and (last is None or step <= last)
        and math.isfinite(value)
        and value > 0
    }
    if len(kept) < 2:
        return math.nan
    x = np.log(np.array([*kept], dtype=np.float64))
    y = np.log(np.array([*kept.values()], dtype=np.float64))
    x -= x.mean()
    return float(x @ y / (x @ x))
