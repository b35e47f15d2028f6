"""Runs of the same seed side by side: what every comparison of arms is made on."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lff.stats.aggregate import stratified_bootstrap
from lff.stats.curves import Curves, Statistic, shared_seeds
from lff.stats.metrics import RANDOM, ZERO
from lff.stats.verdicts import FEWEST_SEEDS, Outcome, Verdict, lacks_signal


@dataclass(frozen=True)
class Paired:
    """The statistic of several places (variant, task), for the seeds that all of them have."""

    seeds: list[int]
    columns: list[list[float]]
    """One list per place, in the order of ``seeds``; infinite where a maximum is."""
    notes: tuple[str, ...]
    """What a reader must know: means, seeds left out, the reference policies."""
    silent: bool
    """Whether all places are near the random policy."""

    @classmethod
    def of(
        cls, curves: Curves, places: Sequence[tuple[str, str]], statistic: Statistic
    ) -> "Paired":
        """Collect the statistic; a seed without a finite value somewhere is left out and named."""
        rows, out = {}, []
        for seed in shared_seeds(curves, places):
            values = [curves.statistic(*place, seed, statistic) for place in places]
            if any(math.isnan(value) for value in values):
                out.append(str(seed))
            else:
                rows[seed] = values
        columns = [[values[i] for values in rows.values()] for i in range(len(places))]
        notes = _means(places, columns)
        if out:
            notes += (f"no finite value in seeds {', '.join(out)}",)
        silent = False
        if curves.metric.policies:
            for task in dict.fromkeys(task for _, task in places):
                notes += tuple(_reference(curves, policy, task) for policy in (RANDOM, ZERO))
            silent = bool(rows) and _silent(curves, places, list(rows), statistic)
        return cls(list(rows), columns, notes, silent)

    def judge(self, decide: Callable[[], Verdict], *, of: str) -> Verdict:
        """Judge by ``decide``, unless the seeds are too few, or nothing has learned, or …."""
        inconclusive: Outcome = "inconclusive at this scale"
        if len(self.seeds) < 2:
            verdict = Verdict(inconclusive, f"{of}: {len(self.seeds)} paired seeds")
        elif not np.isfinite(self.columns).all():
            reason = f"{of}: infinite, which no t-interval can hold; count the seeds"
            verdict = Verdict(inconclusive, reason)
        elif self.silent and len(self.seeds) >= FEWEST_SEEDS:
            decided = decide()
            reason = f"{decided.because}; all within 2 standard deviations of the {RANDOM}"
            verdict = Verdict("no signal", reason, decided.details)
        else:
            verdict = decide()
        return Verdict(verdict.outcome, verdict.because, verdict.details + self.notes)

    def bootstrap(self) -> str:
        """The percentile bootstrap of the first place minus the second, beside the t-interval."""
        difference = np.subtract(self.columns[0], self.columns[1])[:, None]
        shown = stratified_bootstrap(difference, lambda sample: float(sample.mean()))
        return f"bootstrap [{shown.low:.3g}, {shown.high:.3g}]"


def _means(places: Sequence[tuple[str, str]], columns: list[list[float]]) -> tuple[str, ...]:
    several = len({task for _, task in places}) > 1
    names = [f"{variant} on {task}" if several else variant for variant, task in places]
    means = zip(names, columns, strict=True)
    return tuple(f"{name} {np.mean(values):.4g}" for name, values in means if values)


def _reference(curves: Curves, policy: str, task: str) -> str:
    found = curves.reference(policy, task)
    if not found:
        return f"{policy} unknown"
    spread = f" ± {np.std(found, ddof=1):.2g}" if len(found) > 1 else ""
    return f"{policy} {np.mean(found):.4g}{spread}"


def _silent(
    curves: Curves, places: Sequence[tuple[str, str]], seeds: list[int], statistic: Statistic
) -> bool:
    """Return whether no place has left the random policy of its task, where that is known.

    Compared by the statistic itself where that is a return, else by the mean of the curve.
    """
    shown: Statistic = "mean" if statistic in ("growth", "first above") else statistic
    for place in places:
        random = curves.reference(RANDOM, place[1])
        mean = float(np.mean([curves.statistic(*place, seed, shown) for seed in seeds]))
        if len(random) < 2 or not lacks_signal([mean], random):
            return False
    return True
