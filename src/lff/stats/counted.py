"""Claims about single runs: true in all of them, in most, or in more than of another arm."""

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Literal

from lff.core.errors import BadInputError
from lff.stats.claim import Kind, Tasks
from lff.stats.curves import Curves, Statistic
from lff.stats.intervals import Count, Interval, fisher
from lff.stats.metrics import RANDOM, ZERO
from lff.stats.verdicts import Bounds, Test, Verdict


@dataclass(frozen=True)
class Counted(Kind):
    """A kind that asks of each run whether a statistic lies within bounds, or of arms in order.

    ``times``: then the bounds are multiples of that arm's statistic at the same task and seed, so
    ``times="random policy", above=2`` says "more than twice the random policy".  ``order``: instead
    of one arm's bounds, the statistic rises or falls from each arm to the next, at each seed
    (neighbours may be equal, the two ends may not).
    """

    arm: str = ""
    _: KW_ONLY
    above: float = -math.inf
    below: float = math.inf
    times: str | None = None
    order: tuple[str, ...] = ()
    direction: Literal["rises", "falls"] = "rises"
    statistic: Statistic = "last"

    def __post_init__(self) -> None:
        super().__post_init__()
        if bool(self.arm) == bool(self.order):
            raise BadInputError("arm", self.arm, "given, or else an order", "name one of the two")
        if self.arm and self.above == -self.below == -math.inf:
            raise BadInputError("bounds", None, "one or two", "set above or below")
        if self.order and len(self.order) < 2:
            raise BadInputError("order", self.order, "2 or more arms", "give them in order")

    @property
    def arms(self) -> tuple[str, ...]:
        times = () if self.times in (None, RANDOM, ZERO) else (str(self.times),)
        return self.order or (self.arm, *times)

    def _event(self, arm: str) -> str:
        if self.order:
            arms = ", ".join(self.order)
            return f"{self._measured} {self.direction} from each to the next of {arms}"
        unit = "" if self.times is None else f" times {self.times}"
        bounds = [f"> {self.above:g}{unit}"] * (self.above > -math.inf)
        bounds += [f"< {self.below:g}{unit}"] * (self.below < math.inf)
        return f"{self._measured} of {arm} {' and '.join(bounds)}"

    def _hits(self, curves: Curves, task: str, arm: str) -> dict[int, bool]:
        """Return for each seed whether it is so; seeds without a number are left out."""
        names = self.order or ((arm,) if self.times is None else (arm, self.times))
        shared = set.intersection(*({*curves.seeds(name, task)} for name in names))
        hits = {}
        for seed in sorted(shared):
            values = [curves.statistic(name, task, seed, self.statistic) for name in names]
            if not any(map(math.isnan, values)):
                hits[seed] = self._holds(values)
        return hits

    def _holds(self, values: Sequence[float]) -> bool:
        if self.order:
            upward = list(values) if self.direction == "rises" else list(values)[::-1]
            return upward == sorted(upward) and upward[0] < upward[-1]
        unit = values[1] if self.times is not None else 1.0
        above = self.above == -math.inf or values[0] > self.above * unit
        return above and (self.below == math.inf or values[0] < self.below * unit)


@dataclass(frozen=True)
class Computed(Counted):
    """It is so at every task and seed: for numbers that are deterministic, or exact."""

    def _decide(self, curves: Curves, tasks: Tasks) -> Verdict:
        found = {task: [*self._hits(curves, task, self.arm).values()] for task in tasks}
        cases = [case for hits in found.values() for case in hits]
        because = f"{self._event(self.arm)} in {sum(cases)} of {len(cases)}"
        lines = [
            "; ".join((f"{task}: in {sum(hits)} of {len(hits)}", *self._beside(curves, task)))
            for task, hits in found.items()
        ]
        holds = bool(cases) and all(cases)
        return Verdict("holds" if holds else "refuted", because, tuple(lines))


@dataclass(frozen=True)
class MoreOften(Counted):
    """It is so in more than half of the runs; or, with ``than``, more often than in that arm.

    One arm is judged by Clopper and Pearson's interval, by the effective number of runs where tasks
    share seeds; two arms by Fisher's exact test, stratified by task, for which the runs of a seed
    on different tasks count as independent.
    """

    _: KW_ONLY
    than: str | None = None

    @property
    def arms(self) -> tuple[str, ...]:
        return (*super().arms, *((self.than,) if self.than else ()))

    def _of(self, tasks: Tasks) -> str:
        return self._event(self.arm)

    def _test(self, curves: Curves, tasks: Tasks) -> Test:
        own = [self._hits(curves, task, self.arm) for task in tasks]
        if not any(own):
            return Test(1.0, 1.0, f"{self._of(tasks)}: in 0 of 0")
        if self.than is None:
            seeds = dict.fromkeys(seed for hits in own for seed in hits)
            count = Count.of([[h[seed] for h in own if seed in h] for seed in seeds])
            shown = count.interval()
            hits, size = sum(sum(h.values()) for h in own), sum(map(len, own))
            effective = f", {count.size:.3g} effective" if count.size < size else ""
            because = f"{self._of(tasks)} in {hits} of {size}{effective}"
            because += (
                f": {shown.estimate:.0%} [{shown.low:.0%}, {shown.high:.0%}], asked for > 50%"
            )
            return Test(count.above(0.5), count.below(0.5), because, shown, bounds=Bounds(low=0.5))
        other = [self._hits(curves, task, self.than) for task in tasks]
        strata = [
            (sum(a.values()), len(a), sum(b.values()), len(b))
            for a, b in zip(own, other, strict=True)
        ]
        supports, contradicts = fisher(strata)
        a, n, b, m = (sum(column) for column in zip(*strata, strict=True))
        if not (n and m):
            return Test(1.0, 1.0, f"{self._of(tasks)}: in {a} of {n} against {b} of {m}")
        shown = _difference(Count(a, n).interval(), Count(b, m).interval())
        p = min(1.0, 2 * min(supports, contradicts))
        because = f"{self._of(tasks)} in {a} of {n}, of {self.than} in {b} of {m}; difference "
        because += f"{shown.estimate:.0%} [{shown.low:.0%}, {shown.high:.0%}], Fisher p = {p:.2g}"
        return Test(supports, contradicts, because, shown)


def _difference(one: Interval, other: Interval) -> Interval:
    """Return the difference of two shares, with limits by Newcombe's rule from their own."""
    value = one.estimate - other.estimate
    low = math.hypot(one.estimate - one.low, other.high - other.estimate)
    high = math.hypot(one.high - one.estimate, other.estimate - other.low)
    return Interval(value, max(-1.0, value - low), min(1.0, value + high), min(one.n, other.n))
