"""Runs of the same seed side by side, and the base of the claims that are judged on them."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lff.stats.curves import Curves, Statistic, check_statistic, describe
from lff.stats.intervals import paired_t_interval, stratified_bootstrap, t_interval
from lff.stats.metrics import RANDOM, RETURN, ZERO, Metric
from lff.stats.tables import Row
from lff.stats.verdicts import (
    FEWEST_SEEDS,
    INCONCLUSIVE,
    Verdict,
    judge_bounds,
    judge_count,
    judge_tasks,
    lacks_signal,
)


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
        shared = set.intersection(*({*curves.seeds(*place)} for place in places))
        found = {
            seed: [curves.statistic(*place, seed, statistic) for place in places]
            for seed in sorted(shared)
        }
        rows = {seed: values for seed, values in found.items() if not any(map(math.isnan, values))}
        columns = [[values[i] for values in rows.values()] for i in range(len(places))]
        tasks = list(dict.fromkeys(task for _, task in places))
        notes = [
            f"{variant}{f' on {task}' if len(tasks) > 1 else ''} {np.mean(values):.4g}"
            for (variant, task), values in zip(places, columns, strict=True)
            if values
        ]
        if len(rows) < len(found):
            out = ", ".join(str(seed) for seed in found if seed not in rows)
            notes.append(f"no finite value in seeds {out}")
        silent = False
        if curves.metric.policies:
            notes += [_reference(curves, p, task) for task in tasks for p in (RANDOM, ZERO)]
            silent = bool(rows) and _silent(curves, places, list(rows), statistic)
        return cls(list(rows), columns, tuple(notes), silent)

    def judge(self, decide: Callable[["Paired"], Verdict], *, of: str) -> Verdict:
        """Judge by ``decide``, unless the seeds are too few, or nothing has learned, or …."""
        if len(self.seeds) < 2:
            verdict = Verdict(INCONCLUSIVE, f"{of}: {len(self.seeds)} paired seeds")
        elif not np.isfinite(self.columns).all():
            reason = f"{of}: infinite, which no t-interval can hold; count the seeds"
            verdict = Verdict(INCONCLUSIVE, reason)
        else:
            verdict = decide(self)
            if self.silent and len(self.seeds) >= FEWEST_SEEDS:
                reason = f"{verdict.because}; all within 2 standard deviations of the {RANDOM}"
                verdict = Verdict("no signal", reason, verdict.details)
        return replace(verdict, details=verdict.details + self.notes)

    def bootstrap(self) -> str:
        """The percentile bootstrap of the first place minus the second, beside the t-interval."""
        difference = np.subtract(self.columns[0], self.columns[1])[:, None]
        shown = stratified_bootstrap(difference, lambda sample: float(sample.mean()))
        return f"bootstrap [{shown.low:.3g}, {shown.high:.3g}]"


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


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Fields of every kind of claim."""

    name: str = ""
    text: str = ""
    metric: Metric = RETURN
    statistic: Statistic = "mean"
    """Of each run's curve; kinds that read whole curves do not use it."""
    tasks: tuple[str, ...] | None = None
    """Which tasks; all of the table if not given."""
    on_at_least: float | None = None
    """On how many of the tasks it must hold, or on what share of them; all if not given."""

    def __post_init__(self) -> None:
        check_statistic(self.statistic, self.metric)

    @property
    def _measured(self) -> str:
        return describe(self.statistic, self.metric)

    def _curves(self, rows: Sequence[Row], variants: Iterable[str]) -> Curves:
        return Curves(rows, metric=self.metric, variants=variants)

    def _judge(self, curves: Curves, judge_task: Callable[[str], Verdict]) -> Verdict:
        verdicts = {task: judge_task(task) for task in self.tasks or curves.tasks}
        return judge_tasks(verdicts, at_least=self.on_at_least)

    def _judge_arms(
        self, curves: Curves, arms: Sequence[str], of: str, decide: Callable[[Paired], Verdict]
    ) -> Verdict:
        def judge_task(task: str) -> Verdict:
            paired = Paired.of(curves, [(arm, task) for arm in arms], self.statistic)
            return paired.judge(decide, of=of)

        return self._judge(curves, judge_task)

    def _judge_pair(
        self, rows: Sequence[Row], arms: Sequence[str], judge: Callable[..., Verdict]
    ) -> Verdict:
        """Judge by the t-interval of one arm minus another, with the bootstrap beside it."""
        of = f"{self._measured}, {arms[0]} minus {arms[1]}"

        def decide(paired: Paired) -> Verdict:
            verdict = judge(paired_t_interval(*paired.columns), paired, of=of)
            return replace(verdict, details=(paired.bootstrap(),))

        return self._judge_arms(self._curves(rows, arms), arms, of, decide)

    def _judge_numbers(
        self, curves: Curves, arm: str, number: Callable[[str, int], float], of: str, **bound: float
    ) -> Verdict:
        """Judge whether one number per seed lies within bounds; seeds without one are named."""

        def judge_task(task: str) -> Verdict:
            found = {seed: number(task, seed) for seed in curves.seeds(arm, task)}
            values = [value for value in found.values() if math.isfinite(value)]
            out = [str(seed) for seed, value in found.items() if not math.isfinite(value)]
            kind = of.partition(" of ")[0].split()[-1]
            notes = (f"no {kind} in seeds {', '.join(out)}",) if out else ()
            if len(values) < 2:
                return Verdict(INCONCLUSIVE, f"{of}: {len(values)} seeds", notes)
            return replace(judge_bounds(t_interval(values), of=of, **bound), details=notes)

        return self._judge(curves, judge_task)

    def _judge_count(
        self,
        curves: Curves,
        arms: Sequence[str],
        holds: Callable[[Sequence[float]], bool],
        share: float,
        what: str,
    ) -> Verdict:
        """Count the (task, seed) for which ``holds`` is true of the arms' statistics."""
        lines, seeds, cases = [], set(), []
        for task in self.tasks or curves.tasks:
            paired = Paired.of(curves, [(arm, task) for arm in arms], self.statistic)
            found = [holds(values) for values in zip(*paired.columns, strict=True)]
            seeds.update(paired.seeds)
            cases += found
            lines.append("; ".join((f"{task}: in {sum(found)} of {len(found)}", *paired.notes)))
        verdict = judge_count(sum(cases), of=len(cases), share=share, what=what, seeds=len(seeds))
        return replace(verdict, details=tuple(lines))
