"""``lff experiment``: list, run, status, plot, verdict, power.

``list``, ``plot``, ``verdict`` and ``power`` need tables alone: neither torch nor a simulator.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from lff.cli.output import Json, print_table
from lff.cli.power import Names, chosen, power
from lff.cli.report import entry_of, published_scores
from lff.core.errors import BadInputError, StorageError
from lff.experiments import Result, find_experiment, list_experiments, load
from lff.experiments.engine import Show, run_all
from lff.experiments.results import RESULTS, RUNS, document, find_table, finished
from lff.experiments.spec import SCALES, ScaleName
from lff.launch.local import Task
from lff.launch.records import PROGRESS
from lff.report import save_figure
from lff.report.site import claims_page
from lff.stats.metrics import RANDOM, ZERO
from lff.store import read_json

QUIET_SECONDS = 60.0  # seconds between two lines of progress when output is not a terminal


def list_() -> None:
    """List every experiment and what it asks."""
    rows = [
        (one.name, one.title, one.source, " ".join(claim.name for claim in one.claims))
        for one in list_experiments().values()
    ]
    print_table(("name", "asks", "in the paper", "claims"), rows)


def run(
    names: Names,
    /,
    *,
    scale: ScaleName = "laptop",
    workers: int | None = None,
    dir: Path = RUNS,
    results: Path = RESULTS,
    shard: str | None = None,
    ray: Annotated[str | None, tyro.conf.arg(metavar="ADDRESS|here")] = None,
) -> None:
    """Run experiments: finished jobs are not run again, interrupted ones continue.

    Args:
        names: which, by name (lff experiment list) or as package.module:NAME of your own.
        scale: smoke (seconds a job), laptop (minutes a job) or paper.
        workers: jobs at a time, one thread each; as many as there are cores if not given.
        dir: where jobs keep their files; shared by all experiments.
        results: where tables and the records of jobs go.
        shard: i/n, to run only every n-th job from the i-th (0 to n-1), where there is no Ray.
        ray: run the jobs as Ray tasks: alone it starts Ray on this machine, with an address it
            joins a cluster, whose nodes must share dir.
    """
    if not names:
        remedy = "name one: lff experiment list"
        raise BadInputError("experiments", names, "one or more names", remedy)
    if workers is not None and workers < 1:
        raise BadInputError("workers", workers, "1 or more", "leave it out for all cores")
    say = Console(stderr=True, highlight=False, soft_wrap=True, markup=False).print
    with bars(dir) as show:
        made = run_all(
            names,
            scale,
            workers=workers,
            dir=dir,
            results=results,
            shard=parse_shard(shard),
            ray=ray,
            show=show,
            say=say,
        )
    for result in made:
        say(f"table: {result.on_disk.path}")
        print_verdicts(result)


def status(
    names: Names = (), /, *, dir: Path = RUNS, results: Path = RESULTS, as_json: Json = False
) -> None:
    """Print for every experiment how many jobs are done at each scale, and its verdicts.

    Args:
        names: which; all if none is given.
        dir: where jobs keep their files.
        results: where tables are.
    """
    lines: list[dict[str, Any]] = []
    for experiment in [find_experiment(name) for name in names] or list_experiments().values():
        jobs = {}
        for scale in SCALES:
            cells = experiment.cells(scale)
            done = finished(experiment, cells, scale, results=results, runs=dir)
            jobs[scale] = (len(done), len({cell.digest for cell in cells}))
        table = find_table(results, experiment.name)
        verdicts = Result(experiment, table).verdicts if table and table.rows else {}
        line: dict[str, Any] = {
            "name": experiment.name,
            "title": experiment.title,
            "jobs": jobs,
            "scale": table.scale if table else None,
            "verdicts": {name: verdict.outcome for name, verdict in verdicts.items()},
        }
        lines.append(line)
    if as_json:
        print(json.dumps(lines, indent=2, ensure_ascii=False))
        return
    rows = []
    for line in lines:
        counts = [f"{done}/{total}" for done, total in line["jobs"].values()]
        outcomes = ", ".join(f"{name} {outcome}" for name, outcome in line["verdicts"].items())
        done, total = line["jobs"]["laptop"]
        missing = f"{total - done} laptop jobs missing" if done < total else "no claims"
        rows.append([line["name"], *counts, line["scale"] or "-", outcomes or missing])
    print_table(("name", *SCALES, "table", "verdicts"), rows)


def plot(
    names: Names = (),
    /,
    *,
    all: bool = False,
    as_paper: bool = False,
    published: bool = False,
    across: int = 2,
    scale: ScaleName | None = None,
    results: Path = RESULTS,
    out: Path | None = None,
) -> None:
    """Draw experiments from their tables.

    Args:
        names: which.
        all: every experiment that has a table.
        as_paper: mean and one standard error, as the paper draws, instead of intervals.
        published: also draw scores of others that lie beyond our steps, as lines.
        across: panels in a row; 2 can be read on a phone, 4 suits a wide page.
        scale: of which scale; the largest there is if not given.
        results: where tables are.
        out: the folder of NAME.png, runs/figures if not given; of one experiment, also the file.
    """
    wanted = chosen(names, results, scale, all=all)
    if across < 1:
        raise BadInputError("across", across, "1 or more", "leave it out for 2")
    out = out or Path("runs/figures")
    if out.suffix and len(wanted) != 1:
        raise BadInputError("out", str(out), "a folder for several figures", "leave .png out")
    for name in wanted:
        result = load(name, scale, results=results)
        end = max(row.step for row in result.table)
        scores = [s for s in published_scores(results) if published or s.env_steps <= end]
        figure = result.figure(as_paper=as_paper, published=scores, across=across)
        print(save_figure(figure, out if out.suffix else out / f"{result.experiment.name}.png"))


def verdict(
    names: Names = (),
    /,
    *,
    all: bool = False,
    markdown: bool = False,
    as_json: Json = False,
    scale: ScaleName | None = None,
    results: Path = RESULTS,
) -> None:
    """Judge every claim of experiments by their tables.

    Args:
        names: which.
        all: every experiment that has a table.
        markdown: print one page of tables, as docs/claims.md.
        scale: of which scale; the largest there is if not given.
        results: where tables are.
    """
    wanted = chosen(names, results, scale, all=all)
    if markdown:
        print(claims_page(entry_of(name, results, scale) for name in wanted), end="")
        return
    loaded = [load(name, scale, results=results) for name in wanted]
    if as_json:
        pages = [document(one.experiment, one.on_disk) for one in loaded]
        print(json.dumps(pages, indent=2, ensure_ascii=False))
        return
    for one in loaded:
        print_verdicts(one)


def print_verdicts(result: Result) -> None:
    """Print claims, their verdicts, and the numbers that decided them."""
    experiment, table = result.experiment, result.on_disk
    seeds = len({row.seed for row in result.table})
    say = Console(soft_wrap=True, highlight=False).print
    say(f"[bold]{experiment.name}[/] {experiment.title}", markup=True)
    small = "; small scale, not the paper's numbers" if experiment.is_small(result.scale) else ""
    jobs = f"{len(table.jobs)} of {table.planned}" if table.is_partial else str(table.planned)
    say(f"  scale {result.scale}, {seeds} seeds, {jobs} jobs{small}")
    for policy in (RANDOM, ZERO):
        own = [row for row in result.table if row.variant == policy]
        for task in dict.fromkeys(row.task for row in own):
            values = [row.value for row in own if row.task == task]
            say(f"  {policy} on {task}: return {sum(values) / len(values):.1f}")
    verdicts = result.verdicts
    for claim in experiment.claims:
        judged = verdicts[claim.name]
        say(f"  {claim.name}: {claim.text}", markup=False)
        say(f"    {judged.outcome}: {judged.because}", markup=False)
        notes = [*judged.marks, f"claim: {claim.whose}", "primary" * claim.primary]
        if judged.adjusted not in (None, judged.outcome):
            notes.append(f"corrected over the study: {judged.adjusted}")
        say(f"      {'; '.join(filter(None, notes))}", markup=False)
        for line in judged.details:
            say(f"      {line}", markup=False)


def completed(words: Sequence[str]) -> list[str]:
    """Return the command line with what may be left out: ``--ray`` alone means here.

    >>> completed(["run", "fig8", "--ray", "--scale", "smoke"])
    ['run', 'fig8', '--ray', 'here', '--scale', 'smoke']
    """
    full: list[str] = []
    for word in (*words, "--"):
        if full and full[-1] == "--ray" and word.startswith("-"):
            full.append("here")
        full.append(word)
    return full[:-1]


def parse_shard(text: str | None) -> tuple[int, int]:
    """Return (i, n) of "i/n"; (0, 1) for all."""
    if text is None:
        return 0, 1
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if match is None or int(match[1]) >= int(match[2]):
        raise BadInputError("shard", text, "i/n with 0 <= i < n", "use 0/2 and 1/2 for two halves")
    return int(match[1]), int(match[2])


@contextmanager
def bars(root: Path) -> Iterator[Show]:
    """Show one bar over all jobs, with the time left, and one for each that is running."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    more = (TimeElapsedColumn(), TextColumn("{task.fields[text]}"))
    last = time.monotonic()
    with Progress(*columns, *more, console=console, disable=not console.is_terminal) as bar:
        total = bar.add_task("jobs", total=None, text="", visible=False)
        lines: dict[str, Any] = {}

        def show(tasks: Sequence[Task], left: str) -> None:
            nonlocal last
            done = sum(task.state in ("done", "failed") for task in tasks)
            failed = sum(task.state == "failed" for task in tasks)
            text = f"{failed} failed, {left}" if failed else left
            bar.update(total, total=len(tasks), completed=done, text=text, visible=True)
            for task in tasks:
                _show_task(bar, lines, task, root)
            if not console.is_terminal and time.monotonic() - last > QUIET_SECONDS:
                last = time.monotonic()
                console.print(f"{done} of {len(tasks)} jobs done, {text}", highlight=False)

        yield show


def _show_task(bar: Progress, lines: dict[str, Any], task: Task, root: Path) -> None:
    if task.state == "running":
        if task.digest not in lines:
            lines[task.digest] = bar.add_task(task.digest[:8], total=100, text="")
        try:
            note = read_json(root / "jobs" / task.digest / PROGRESS)
            shown: dict[str, Any] = {
                "completed": int(100 * note["fraction"]),
                "text": escape(note["text"]),
            }
        except (StorageError, LookupError, TypeError, ValueError, OverflowError):
            return
        bar.update(lines[task.digest], **shown)
    elif task.digest in lines:
        bar.remove_task(lines.pop(task.digest))


COMMANDS: dict[str, Callable[..., Any]] = {
    "list": list_,
    "run": run,
    "status": status,
    "plot": plot,
    "verdict": verdict,
    "power": power,
}


def experiment_command(words: Sequence[str]) -> None:
    """Run the experiments, draw and judge them: lff experiment --help."""
    tyro.extras.subcommand_cli_from_dict(
        COMMANDS,
        prog="lff experiment",
        description="Experiments: every figure and claim, one command each.",
        args=completed(words),
    )
