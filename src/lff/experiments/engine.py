"""Running experiments: plan, launch, gather, judge.

    result = lff.experiments.run("fig8", scale="smoke")
    result.table, result.verdicts, result.figure()

Jobs whose rows are committed are not run again, here or on another machine; interrupted ones
continue from their checkpoints.  Tables are gathered while the jobs run.
"""

import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lff.core.config import tag_of
from lff.core.errors import BadInputError, RunError
from lff.experiments.registry import find_experiment
from lff.experiments.results import (
    RESULTS,
    RUNS,
    Table,
    collect,
    finished,
    need_table,
    record_path,
    write_view,
)
from lff.experiments.spec import Cell, Experiment, ScaleName
from lff.launch.local import Task, launch
from lff.launch.records import LOG, read_header
from lff.stats.tables import Published, Row
from lff.stats.verdicts import Verdict
from lff.store.atomic import read_lines

GATHER_EVERY = 60.0  # seconds between two partial tables
SHOWN_LINES = 5
Show = Callable[[Sequence[Task], str], None]
"""Takes the state of all jobs and the time left, about twice a second."""


@dataclass(frozen=True)
class Result:
    """An experiment's table at a scale, with its verdicts and figure."""

    experiment: Experiment
    on_disk: Table

    @property
    def scale(self) -> ScaleName:
        """The scale of the table."""
        return self.on_disk.scale

    @property
    def table(self) -> list[Row]:
        """The rows, one number each."""
        return self.on_disk.rows

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdict on each claim, by its name."""
        return self.on_disk.judge(self.experiment)

    def figure(
        self, *, as_paper: bool = False, published: Sequence[Published] = (), across: int = 2
    ) -> Any:
        """Draw the panels, ``across`` in a row; ``as_paper`` with one standard error as bands."""
        from lff.report.experiment_figure import draw_experiment

        return draw_experiment(
            self.experiment,
            self.table,
            as_paper=as_paper,
            published=published,
            fields=self.on_disk.fields,
            across=across,
        )


def run(
    name: str | Experiment,
    scale: ScaleName = "laptop",
    *,
    workers: int | None = None,
    dir: Path = RUNS,
    results: Path = RESULTS,
    ray: str | None = None,
) -> Result:
    """Run an experiment and return its table, verdicts and figure.

    Args:
        name: as in ``lff experiment list``, or ``package.module:NAME``, or the experiment.
        scale: smoke, laptop or paper.
        workers: processes, one job each at a time; as many as there are cores if None. 0 runs the
            jobs in this process, for a notebook or a debugger.
        dir: where jobs keep their files; shared by all experiments.
        results: where tables and the records of jobs go.
        ray: run the jobs on Ray: "here", or the address of a cluster.
    """
    (result,) = run_all([name], scale, workers=workers, dir=dir, results=results, ray=ray)
    return result


def load(
    name: str | Experiment, scale: ScaleName | None = None, *, results: Path = RESULTS
) -> Result:
    """Return an experiment with its committed table, of the largest scale if None."""
    experiment = find_experiment(name) if isinstance(name, str) else name
    return Result(experiment, need_table(results, experiment.name, scale))


def run_all(
    names: Sequence[str | Experiment],
    scale: ScaleName,
    *,
    workers: int | None = None,
    dir: Path = RUNS,
    results: Path = RESULTS,
    ray: str | None = None,
    shard: tuple[int, int] = (0, 1),
    show: Show | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> list[Result]:
    """Run the jobs of several experiments as one sweep; ``shard`` (i, n) takes every n-th job."""
    experiments = [find_experiment(name) if isinstance(name, str) else name for name in names]
    cores = len(os.sched_getaffinity(0))
    workers = cores if workers is None else workers
    if workers < 0:
        raise BadInputError("workers", workers, "0 or more", f"leave it out for {cores}")
    sweep = Sweep(experiments, scale, dir=dir, results=results)
    mine = [*sweep.jobs][shard[0] :: shard[1]]
    waiting = [digest for digest in mine if digest not in sweep.finished]
    others = len(sweep.jobs) - len(mine)
    say(f"{len(sweep.jobs)} jobs at scale {scale}, {others} of them in other shards")
    say(f"{len(mine) - len(waiting)} are done, {len(waiting)} to do, in {dir}")
    sweep.gather()
    if waiting:
        tasks = launch_jobs(
            [sweep.jobs[digest] for digest in waiting],
            dir,
            workers=workers,
            ray=ray,
            show=sweep.watch(workers, show),
        )
        sweep.gather()
        check_tasks(tasks, dir, say)
    return [Result(experiment, sweep.tables[experiment.name]) for experiment in experiments]


class Sweep:
    """The jobs of several experiments at a scale, their records and tables."""

    def __init__(
        self, experiments: Sequence[Experiment], scale: ScaleName, *, dir: Path, results: Path
    ) -> None:
        self.scale, self.dir, self.results = scale, dir, results
        self.experiments = experiments
        self.cells: dict[str, tuple[Cell, ...]] = {e.name: e.cells(scale) for e in experiments}
        self.jobs = {cell.digest: cell.job for part in self.cells.values() for cell in part}
        self.tables: dict[str, Table] = {}
        self.finished = self._finished()
        self._seconds: dict[str, float] = {}
        self._read_seconds(self.jobs)

    def _finished(self) -> set[str]:
        """Return the digests that no experiment needs to run any more."""
        missing: set[str] = set()
        for experiment in self.experiments:
            cells = self.cells[experiment.name]
            done = finished(experiment, cells, self.scale, results=self.results, runs=self.dir)
            missing |= {cell.digest for cell in cells} - done
        return {*self.jobs} - missing

    def gather(self) -> None:
        """Write the records of finished jobs, and every table from what is there."""
        collect(self.jobs, results=self.results, runs=self.dir)
        for experiment in self.experiments:
            self.tables[experiment.name] = write_view(
                experiment,
                self.cells[experiment.name],
                self.scale,
                results=self.results,
                runs=self.dir,
            )

    def watch(self, workers: int, show: Show | None) -> Callable[[Sequence[Task]], None]:
        """Return what a launcher calls: gathers now and then, and shows the time left."""
        last, done = time.monotonic(), 0

        def watch(tasks: Sequence[Task]) -> None:
            nonlocal last, done
            ended = [task.digest for task in tasks if task.state == "done"]
            if len(ended) > done and time.monotonic() - last > GATHER_EVERY:
                self.gather()
                last = time.monotonic()
            if len(ended) > done:
                collect(ended, results=self.results, runs=self.dir)
                self._read_seconds(ended)
                done = len(ended)
            if show:
                left = [task.job for task in tasks if task.state in ("waiting", "running")]
                show(tasks, self._time_left(left, workers))

        return watch

    def _read_seconds(self, digests: Iterable[str]) -> None:
        for digest in {*digests} - self._seconds.keys():
            path = record_path(self.results, digest)
            if path.exists():
                self._seconds[digest] = float(read_header(path).get("seconds", 0.0))

    def _time_left(self, jobs: Sequence[Any], workers: int) -> str:
        """Return the time that these jobs will take, by the finished ones of their kinds."""
        known: dict[str, list[float]] = defaultdict(list)
        for digest, seconds in self._seconds.items():
            known[tag_of(type(self.jobs[digest]))].append(seconds)
        alike = [known[tag_of(type(job))] for job in jobs]
        if not all(alike):
            return "time left known after the first job of each kind"
        total = sum(sum(seconds) / len(seconds) for seconds in alike)
        return f"about {_words(total / max(1, min(workers, len(jobs))))} left"


def launch_jobs(
    jobs: Sequence[Any],
    root: Path,
    *,
    workers: int,
    ray: str | None,
    show: Callable[[Sequence[Task]], None] | None,
) -> list[Task]:
    """Run jobs by processes here, or on Ray; return the state of each."""
    if ray is None:
        return launch(jobs, root, workers=workers, show=show)
    from lff.launch.ray import launch_on_ray

    where: dict[str, Any] = {"workers": workers} if ray == "here" else {"address": ray}
    return launch_on_ray(jobs, root.resolve(), **where, show=show)


def check_tasks(tasks: Sequence[Task], root: Path, say: Callable[[str], None]) -> None:
    """Raise if jobs failed, after the ends of their logs."""
    failed = [task for task in tasks if task.state == "failed"]
    for task in failed:
        log = root / "jobs" / task.digest / LOG
        end = read_lines(log)[-SHOWN_LINES:] if log.exists() else []
        say(f"job {task.digest} failed with {task.code}; {log} ends:")
        for line in end:
            say(f"  {line}")
    if failed:
        log = root / "jobs" / failed[0].digest / LOG
        count = f"{len(failed)} of {len(tasks)} jobs failed"
        raise RunError(f"{count}; see {log}, fix it and run the same command")


def _words(seconds: float) -> str:
    for size, unit in ((86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.0f} seconds"
