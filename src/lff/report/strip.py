"""Strip plots: networks as marks on one scale, with the better side always on the right.

A scale runs from 0 to 100 and is that of one number: numbers of different stresses have different
units, so each strip has its own.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from lff.stats.stress import Measured

EDGE = 5.0
"""Percent that stay free on both sides of a scale, for what lies beyond it."""
OUTER = 1.2
"""The percent from the side at which a mark beyond the scale is drawn."""
CLOSE = 5.0
"""Marks that are closer than this many percent stand in different lanes."""


@dataclass(frozen=True)
class Mark:
    """A number on a scale: its dot, and its interval from the left to the right."""

    name: str
    dot: float
    left: float
    right: float
    is_cut: tuple[bool, bool]
    """Whether the interval continues beyond the left and the right side."""
    is_finite: bool
    lane: int = 0
    """Marks in one lane do not touch."""


@dataclass(frozen=True)
class Scale:
    """A map from numbers to percent, in which more percent is better."""

    better: Literal["lower", "higher"]
    log: bool
    worst: float
    best: float
    """Both ends, after the sign and the logarithm."""

    @staticmethod
    def of(
        numbers: Iterable[Measured], *, better: Literal["lower", "higher"], log: bool = False
    ) -> "Scale":
        """Return the scale that holds all finite estimates.

        Intervals widen it at most threefold: the rest of a wider one is cut.
        """
        numbers = [*numbers]
        bare = Scale(better, log, 0.0, 1.0)
        inside = [v for one in numbers if math.isfinite(v := bare.value(one.estimate))]
        if not inside:
            return bare
        worst, best = min(inside), max(inside)
        ends = [bare.value(end) for one in numbers for end in (one.low, one.high)]
        ends = [end for end in ends if math.isfinite(end)]
        reach = best - worst
        if reach <= 1e-9 * max(abs(best), 1e-300):
            reach = max([abs(end - best) for end in ends], default=0.0) or abs(best) or 1.0
            worst, best = best - reach / 2, best + reach / 2
        kept = [min(max(end, worst - reach), best + reach) for end in ends]
        return Scale(better, log, min([worst, *kept]), max([best, *kept]))

    def value(self, number: float) -> float:
        """Return a number after the sign and the logarithm: more is better."""
        if self.log and not math.isnan(number):
            number = math.log10(number) if number > 0 else -math.inf
        return -number if self.better == "lower" else number

    def place(self, number: float) -> float:
        """Return the percent of a number; those beyond an end are at the side.

        >>> scale = Scale("lower", False, -10.0, 0.0)
        >>> scale.place(10.0), scale.place(5.0), scale.place(0.0), scale.place(11.0)
        (5.0, 50.0, 95.0, 1.2)
        """
        value = self.value(number)
        if not self.worst <= value <= self.best:
            return 100 - OUTER if value > self.best else OUTER
        return EDGE + (100 - 2 * EDGE) * (value - self.worst) / (self.best - self.worst)

    def mark(self, name: str, number: Measured) -> Mark:
        """Return the mark of a number; one that is not finite is at the worse side."""
        if not math.isfinite(number.estimate):
            return Mark(name, OUTER, OUTER, OUTER, (False, False), is_finite=False)
        dot = self.place(number.estimate)
        ends = [end for end in (number.low, number.high) if not math.isnan(end)]
        values = sorted(map(self.value, ends)) or [self.value(number.estimate)]
        left, *_, right = sorted((dot, dot, *map(self.place, ends)))
        is_cut = (values[0] < self.worst, values[-1] > self.best)
        return Mark(name, dot, left, right, is_cut, is_finite=True)

    def marks(self, numbers: Mapping[str, Measured]) -> list[Mark]:
        """Return the marks of several numbers, in lanes so that no two dots touch."""
        lanes: list[list[float]] = []
        found = []
        for name, number in numbers.items():
            mark = self.mark(name, number)
            free = [i for i, lane in enumerate(lanes) if _is_free(lane, mark.dot)]
            lane = free[0] if free else len(lanes)
            lanes[lane:] = lanes[lane:] or [[]]
            lanes[lane].append(mark.dot)
            found.append(Mark(**{**vars(mark), "lane": lane}))
        return found


def _is_free(lane: list[float], dot: float) -> bool:
    return all(abs(other - dot) >= CLOSE for other in lane)
