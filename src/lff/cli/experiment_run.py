"""What ``lff experiment run`` does: plan, launch, gather, judge."""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from lff.cli.experiment import print_verdicts
from lff.core.errors import BadInputError, RunError
from lff.experiments.gathering import gather, gather_fields, table_path
from lff.experiments.spec import Cell, Experiment, ScaleName
from lff.launch.files import LOG, OUTCOME, PROGRESS
from lff.launch.local import Show, Task, launch
from lff.launch.worker import read_job_table
from lff.stats.fields import FIELDS, beside, read_fields, write_fields
from lff.stats.tables import write_table
from lff.training import versions

SHOWN_LINES = 5


def run_experiments(
    experiments: Sequence[Experiment],
    scale: ScaleName,
    *,
    workers: int,
    root: Path,
    results: Path,
    shard: tuple[int, int],
    ray: str | None,
) -> None:
    """Run the jobs of all of them as one sweep, then write each one's table and judge it."""
    cells = {experiment.name: experiment.cells(scale) for experiment in experiments}
    jobs = {cell.digest: cell.job for part in cells.values() for cell in part}
    mine = [*jobs.items()][shard[0] :: shard[1]]
    waiting = {digest: job for digest, job in mine if not _is_done(root, digest)}
    say = Console(stderr=True, highlight=False).print
    say(f"{len(jobs)} jobs at scale {scale}, {len(jobs) - len(mine)} of them other shards'")
    say(f"{len(mine) - len(waiting)} are done, {len(waiting)} to do, in {root}")
    if waiting:
        with bars(root) as show:
            tasks = launch_jobs([job for _, job in mine], root, workers, ray, show)
        _report_failures(tasks, root)
    for experiment in experiments:
        own = cells[experiment.name]
        missing = {cell.digest for cell in own if not _is_done(root, cell.digest)}
        if missing:
            say(f"{experiment.name}: {len(missing)} jobs to do elsewhere; no table yet")
            continue
        write_table_of(experiment, own, scale, root=root, results=results)


def launch_jobs(
    jobs: Sequence[object], root: Path, workers: int, ray: str | None, show: Show
) -> list[Task]:
    """Run jobs by a pool here, or on Ray."""
    if ray is None:
        return launch(jobs, root, workers=workers, show=show)
    try:
        from lff.launch.ray import launch_on_ray
    except ImportError:
        remedy = "pip install 'learned-fourier-features[ray]'"
        raise BadInputError("ray", ray, "installed", remedy) from None
    address = None if ray == "here" else ray
    here = workers if address is None else None
    return launch_on_ray(jobs, root.resolve(), address=address, workers=here, show=show)


def write_table_of(
    experiment: Experiment,
    cells: Sequence[Cell],
    scale: ScaleName,
    *,
    root: Path,
    results: Path,
) -> None:
    """Gather the jobs' tables into the experiment's, and print the verdicts."""
    tables = {cell.digest: read_job_table(root / "jobs" / cell.digest) for cell in cells}
    rows = gather(experiment, cells, tables)
    path = table_path(results, experiment.name, scale)
    provenance = {
        "command": f"lff experiment run {experiment.name} --scale {scale}",
        "scale": scale,
        "jobs": len(tables),
        "seeds": len({row.seed for row in rows}),
        "digests": sorted(tables),
        "versions": versions(),
    }
    write_table(path, rows, provenance=provenance)
    surfaces = {digest: read_fields(root / "jobs" / digest / FIELDS) for digest in tables}
    fields = gather_fields(cells, surfaces)
    if fields:
        write_fields(beside(path), fields)
    Console(stderr=True, highlight=False).print(f"table: {path}")
    print_verdicts(experiment, rows, scale, provenance)


def count_done(experiment: Experiment, scale: ScaleName, root: Path) -> tuple[int, int]:
    """Return how many jobs are done, and how many there are."""
    digests = {cell.digest for cell in experiment.cells(scale)}
    return sum(_is_done(root, digest) for digest in digests), len(digests)


def _is_done(root: Path, digest: str) -> bool:
    return (root / "jobs" / digest / OUTCOME).exists()


@contextmanager
def bars(root: Path) -> Iterator[Show]:
    """Show one bar over all jobs and one for each that is running."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    more = (TimeElapsedColumn(), TextColumn("{task.fields[seen]}"))
    last = 0.0
    with Progress(*columns, *more, console=console, disable=not console.is_terminal) as bar:
        total = bar.add_task("jobs", total=None, seen="")
        lines: dict[str, object] = {}

        def show(tasks: Sequence[Task]) -> None:
            nonlocal last
            done = sum(task.state in ("done", "failed") for task in tasks)
            failed = sum(task.state == "failed" for task in tasks)
            seen = f"{failed} failed" if failed else ""
            bar.update(total, total=len(tasks), completed=done, seen=seen)
            for task in tasks:
                _show_task(bar, lines, task, root)
            if not console.is_terminal and time.monotonic() - last > 60:
                last = time.monotonic()
                console.print(f"{done} of {len(tasks)} jobs done {seen}", highlight=False)

        yield show


def _show_task(bar: Progress, lines: dict[str, object], task: Task, root: Path) -> None:
    if task.state == "running":
        if task.digest not in lines:
            lines[task.digest] = bar.add_task(task.digest[:8], total=100, seen="")
        try:
            note = json.loads((root / "jobs" / task.digest / PROGRESS).read_text())
        except (OSError, ValueError):
            return
        percent = int(100 * note["fraction"])
        bar.update(lines[task.digest], completed=percent, seen=note["seen"])  # type: ignore[arg-type]
    elif task.digest in lines:
        bar.remove_task(lines.pop(task.digest))  # type: ignore[arg-type]


def _report_failures(tasks: Sequence[Task], root: Path) -> None:
    failed = [task for task in tasks if task.state == "failed"]
    if not failed:
        return
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    for task in failed:
        log = root / "jobs" / task.digest / LOG
        end = log.read_text().strip().splitlines()[-SHOWN_LINES:] if log.exists() else []
        console.print(f"job {task.digest} failed with {task.code}; {log} ends:", markup=False)
        for line in end:
            console.print(f"  {line}", markup=False)
    raise RunError(f"{len(failed)} of {len(tasks)} jobs failed; mend and run the same command")
