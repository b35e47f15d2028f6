"""The base of all kinds of claims: whose it is, when it was fixed, how tasks are combined."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Literal

import numpy as np

from lff.core.errors import BadInputError
from lff.stats.curves import Curves, Statistic, check_statistic, describe
from lff.stats.metrics import RANDOM, RETURN, ZERO, Metric, span_of
from lff.stats.tables import Row
from lff.stats.verdicts import ALPHA, Test, Verdict, conjunction, lacks_signal

Whose = Literal["paper, empirical", "paper, mathematical", "ours"]
PROSE = ("name", "text", "whose", "quote", "registered", "primary")  # fields that do not decide
Tasks = Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Fields of every kind of claim."""

    name: str = ""
    text: str = ""
    whose: Whose | None = None
    """Whose claim it is; the experiment's own if None."""
    quote: str = ""
    """Where the paper says it, and its words."""
    registered: str | None = None
    """The date on which it was fixed, before the first run; empty if post hoc; the experiment's own
    if None."""
    primary: bool = False
    """The one claim of a study that is judged without correction."""
    metric: Metric = RETURN
    statistic: Statistic = "mean"
    """Of each run's curve; kinds that read whole curves do not use it."""
    tasks: tuple[str, ...] | None = None
    """Which tasks; all of the table if not given."""
    on_at_least: int | None = None
    """On how many of the tasks it must hold; if not given, the mean over the tasks decides."""
    alpha: float = ALPHA
    """Level; less where the table is looked at more than once."""

    def __post_init__(self) -> None:
        check_statistic(self.statistic, self.metric)

    @property
    def arms(self) -> tuple[str, ...]:
        """The variants that it compares."""
        raise NotImplementedError

    def judge(self, rows: Sequence[Row]) -> Verdict:
        """Judge it by the rows of a table."""
        curves, tasks = self._read(rows)
        if not tasks:
            return Verdict("not run", "the table lacks rows for it")
        return self._decide(curves, tasks)

    def _read(self, rows: Sequence[Row]) -> tuple[Curves, Tasks]:
        """Return the curves, and the tasks on which all arms were run."""
        curves = Curves(rows, metric=self.metric, variants=self.arms, apart=self._apart)
        return curves, [t for t in self.tasks or curves.tasks if self._runs(curves, t)]

    @property
    def decides(self) -> dict[str, Any]:
        """The fields that decide, as plain data: a claim whose fields change is another claim."""
        named = {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if f.name not in PROSE and not (f.metadata and getattr(self, f.name) == f.default)
        }
        return {"kind": type(self).__name__, **{key: _plain(v) for key, v in named.items()}}

    @property
    def _apart(self) -> Sequence[tuple[str, ...]]:
        """Groups of arms whose curves end at steps of their own."""
        return ()

    def _runs(self, curves: Curves, task: str) -> bool:
        return all(curves.seeds(arm, task) for arm in self.arms)

    def _decide(self, curves: Curves, tasks: Tasks) -> Verdict:
        tests = {task: self._guarded(curves, [task]) for task in tasks}
        if len(tasks) == 1:
            return tests[tasks[0]].verdict(self.alpha)
        if self.on_at_least is None:
            whole = self._guarded(curves, tasks)
        else:
            whole = conjunction(tests, self.on_at_least)
        lines = tuple(
            "; ".join((f"{task}: {test.verdict(self.alpha)}", *test.notes))
            for task, test in tests.items()
        )
        alone = tuple((task, test.verdict(self.alpha)) for task, test in tests.items())
        return replace(whole.verdict(self.alpha), details=lines, tasks=alone)

    def _guarded(self, curves: Curves, tasks: Tasks) -> Test:
        """Return the test, or one that decides nothing where numbers are too few or infinite."""
        try:
            test = self._test(curves, tasks)
        except BadInputError as error:
            test = Test(1.0, 1.0, f"{self._of(tasks)}: {error}")
        notes = test.notes + (self._beside(curves, tasks[0]) if len(tasks) == 1 else ())
        silent = bool(self.metric.policies) and all(self._silent(curves, t) for t in tasks)
        return replace(test, notes=notes, silent=silent)

    def _test(self, curves: Curves, tasks: Tasks) -> Test:
        raise NotImplementedError

    def _of(self, tasks: Tasks) -> str:
        """Return what is measured, in words."""
        raise NotImplementedError

    @property
    def _measured(self) -> str:
        return describe(self.statistic, self.metric)

    def _values(self, curves: Curves, arm: str, task: str) -> list[float]:
        found = curves.values(arm, task, self.statistic)
        return [value for value in found if not math.isnan(value)]

    def _silent(self, curves: Curves, task: str) -> bool:
        """Return whether no arm has learned on a task."""
        return is_silent(curves, task, self.arms)

    def _beside(self, curves: Curves, task: str) -> tuple[str, ...]:
        """Return what a reader must know: means, runs left out, the reference policies."""
        notes = []
        for arm in self.arms:
            values, seeds = self._values(curves, arm, task), curves.seeds(arm, task)
            notes.append(f"{arm} {np.mean(values):.4g}" if values else f"{arm} without a number")
            if len(values) < len(seeds):
                notes.append(f"{len(seeds) - len(values)} of {len(seeds)} runs left out")
        for policy in (RANDOM, ZERO) if self.metric.policies else ():
            found = curves.reference(policy, task)
            spread = f" ± {np.std(found, ddof=1):.2g}" if len(found) > 1 else ""
            notes.append(f"{policy} {np.mean(found):.4g}{spread}" if found else f"{policy} unknown")
        return tuple(notes)


def is_silent(curves: Curves, task: str, arms: Iterable[str | None]) -> bool:
    """Return whether none of these arms ends above the random policy on a task."""
    ends = [float(np.mean(curves.values(arm, task, "last"))) for arm in arms if arm]
    return lacks_signal(ends, curves.reference(RANDOM, task), span=span_of(task))


def _plain(value: Any) -> Any:
    """Return a field as JSON data."""
    if is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, float) and math.isinf(value) else value
