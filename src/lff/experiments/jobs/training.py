"""The job that trains an agent; its run directory is ``run/`` inside the job's."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from lff.core.errors import NonFiniteError
from lff.experiments.spec import Cell
from lff.launch.job import DIVERGED, JobRow, Report
from lff.store import RunDir, read_rows
from lff.training import Loop, TrainConfig, train

REPORT_EVERY = 50
"""Actions between two reports of progress."""


@dataclass(frozen=True)
class TrainJob:
    """Train an agent, evaluate it on the way, and play the random and the zero policy once."""

    tag: ClassVar[str] = "train"

    config: TrainConfig
    """The run."""
    reference_episodes: int = 3
    """Episodes of the random and of the zero policy."""

    def run(self, folder: Path, report: Report) -> Iterable[JobRow]:
        """Train to the end, from the newest checkpoint if there is one, and read what was logged.

        A run whose numbers left the finite ones has its rows up to there, and an infinite |Q|.
        """
        path = folder / "run"
        broke = ""
        try:
            train(
                self.config,
                directory=path,
                watch=report_to(self.config.steps, report),
                command=["lff", "resume", "run"],
                reference_episodes=self.reference_episodes,
            )
        except NonFiniteError as error:
            broke = str(error)
        return list(read_run(path, self.config.seed, diverged=bool(broke)))


def over_seeds(jobs: Mapping[tuple[str, str], TrainJob], seeds: int) -> tuple[Cell, ...]:
    """Return the job of every variant and task for every seed, these last: arms keep pace."""
    return tuple(
        Cell(name, task, replace(job, config=replace(job.config, seed=seed)))
        for seed in range(seeds)
        for (name, task), job in jobs.items()
    )


def read_run(path: Path, seed: int, *, diverged: bool = False) -> Iterator[JobRow]:
    """Yield what a run directory measured, at the steps of its evaluations.

    Of the metrics of training those at the same steps; ``train/q_max`` is the largest since the
    step before.  Lists (histograms) are given at the first and last step, entry by entry.
    """
    rows = [*read_rows(RunDir(path).metrics_file)]
    evaluated = {row["env_step"] for row in rows if "eval/return" in row}
    lists = [row["env_step"] for row in rows if any(isinstance(v, list) for v in row.values())]
    ends = {*lists[:1], *lists[-1:]}
    largest = 0.0
    for row in rows:
        step = row.pop("env_step")
        if "train/q_max" in row:
            largest = max(largest, _number(row.pop("train/q_max")))
            if step in evaluated:
                yield JobRow(seed, step, "train/q_max", largest)
                largest = 0.0
        for name, value in row.items():
            if isinstance(value, list) and step in ends:
                yield from (JobRow(seed, step, f"{name}[{i}]", v) for i, v in enumerate(value))
            elif isinstance(value, int | float) and step in evaluated:
                yield JobRow(seed, step, name, value)
    yield from _outside(path, seed, diverged=diverged, last=max(evaluated, default=0))


def _outside(path: Path, seed: int, *, diverged: bool, last: int) -> Iterator[JobRow]:
    """Yield what the metrics do not hold: that Q left the numbers, and the simple policies."""
    if diverged:
        yield JobRow(seed, last, "train/q_max", math.inf)
        yield JobRow(seed, last, DIVERGED, 1.0)
    for policy, returns in sorted(RunDir(path).reference.items()):
        finite = [r for r in returns if r is not None]
        if finite:
            yield JobRow(seed, 0, f"{policy} return", sum(finite) / len(finite))


def _number(value: Any) -> float:
    """Return infinity for null, which metrics files have for a non-finite number."""
    return math.inf if value is None else float(value)


def report_to(steps: int, report: Report, *, letter: str = "Q") -> Any:
    """Return a ``watch`` for a loop that reports progress, the last return and the largest |Q|.

    PPO's critic is called V.
    """

    def watch(run: Loop, event: str) -> None:
        if event == "step" and run.at.agent_step % REPORT_EVERY:
            return
        seen = f"|{letter}| {run.at.q_max:.3g}"
        if run.last_return is not None:
            seen = f"return {run.last_return:.1f}, {seen}"
        report(min(1.0, run.at.env_step / steps), seen)

    return watch
