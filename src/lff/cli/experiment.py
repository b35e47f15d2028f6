"""``lff experiment``: list, run, status, plot, verdict.

``list``, ``plot`` and ``verdict`` need tables alone, no torch and no simulator.
"""

import json
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console
from rich.table import Table

from lff.core.errors import BadInputError
from lff.experiments import find_experiment, list_experiments
from lff.experiments.gathering import find_table, need_table, read_provenance
from lff.experiments.spec import SCALES, Experiment, ScaleName
from lff.stats.tables import Row, read_table

RUNS, RESULTS = Path("runs/experiments"), Path("results")
Names = tyro.conf.Positional[tuple[str, ...]]


def list_() -> None:
    """List every experiment and what it asks."""
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "asks", "in the paper", "claims"):
        table.add_column(heading, overflow="fold")
    for experiment in list_experiments().values():
        claims = " ".join(claim.name for claim in experiment.claims)
        table.add_row(experiment.name, experiment.title, experiment.source, claims)
    Console().print(table)


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
    """Run experiments: what is done is not done again, what was interrupted goes on.

    Args:
        names: which, by name; lff experiment list has them all.
        scale: smoke (seconds a job), laptop (minutes a job) or paper.
        workers: jobs at a time, one thread each; as many as there are cores if not given.
        dir: where jobs keep their files; shared by all experiments.
        results: where tables go.
        shard: i/n, to run only every n-th job from the i-th (0 to n-1), where there is no Ray.
        ray: run the jobs as Ray tasks: alone it starts Ray on this machine, with an address it
            joins a cluster, whose nodes must share dir.
    """
    from lff.cli.experiment_run import run_experiments  # torch and simulators

    if not names:
        remedy = "name one: lff experiment list"
        raise BadInputError("experiments", names, "one or more names", remedy)
    chosen = [find_experiment(name) for name in names]
    share = parse_shard(shard)
    cores = len(os.sched_getaffinity(0))
    if workers is not None and workers < 1:
        raise BadInputError("workers", workers, "1 or more", f"leave it out for {cores}")
    run_experiments(
        chosen,
        scale,
        workers=workers or cores,
        root=dir,
        results=results,
        shard=share,
        ray=ray,
    )


def status(
    names: Names = (),
    /,
    *,
    dir: Path = RUNS,
    results: Path = RESULTS,
    as_json: Annotated[bool, tyro.conf.arg(name="json")] = False,
) -> None:
    """Say of every experiment how many jobs are done at each scale, and its verdicts.

    Args:
        names: which; all if none is given.
        dir: where jobs keep their files.
        results: where tables are.
        as_json: print JSON instead of a table.
    """
    from lff.cli.experiment_run import count_done

    known = list_experiments()
    found = []
    for experiment in [find_experiment(name) for name in names] or known.values():
        table = find_table(results, experiment.name)
        rows = read_table(table[1]) if table else []
        found.append(
            {
                "name": experiment.name,
                "title": experiment.title,
                "jobs": {scale: count_done(experiment, scale, dir) for scale in SCALES},
                "scale": table[0] if table else None,
                "verdicts": {c.name: c.judge(rows).outcome for c in experiment.claims}
                if rows
                else {},
            }
        )
    if as_json:
        print(json.dumps(found, indent=2, ensure_ascii=False))  # noqa: T201
        return
    _print_status(found)


def plot(
    names: Names,
    /,
    *,
    as_paper: bool = False,
    published: bool = False,
    scale: ScaleName | None = None,
    results: Path = RESULTS,
    out: Path | None = None,
) -> None:
    """Draw experiments from their tables.

    Args:
        names: which.
        as_paper: mean and one standard error, as the paper draws, instead of intervals.
        published: also draw scores of others that lie beyond our steps, as lines.
        scale: of which scale; the largest there is if not given.
        results: where tables are.
        out: the picture's file; runs/figures/NAME.png if not given.
    """
    from lff.cli.report import published_scores
    from lff.figures import save_figure
    from lff.report.drawing import draw_experiment
    from lff.stats.fields import beside, read_fields

    if out is not None and len(names) != 1:
        raise BadInputError("out", str(out), "given for one experiment", "leave it out")
    for name in names:
        experiment = find_experiment(name)
        _, path = need_table(results, name, scale)
        rows = read_table(path)
        end = max(row.step for row in rows)
        scores = [s for s in published_scores(results) if published or s.env_steps <= end]
        figure = draw_experiment(
            experiment, rows, as_paper=as_paper, published=scores, fields=read_fields(beside(path))
        )
        print(save_figure(figure, out or Path("runs/figures") / f"{name}.png"))  # noqa: T201


def verdict(
    names: Names = (),
    /,
    *,
    all: bool = False,
    markdown: bool = False,
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
    if all == bool(names):
        remedy = "lff experiment verdict fig8, or --all"
        raise BadInputError("experiments", names, "named, or --all alone", remedy)
    chosen = [find_experiment(name) for name in names] or [*list_experiments().values()]
    if all:
        chosen = [one for one in chosen if find_table(results, one.name, scale)]
    if markdown:
        from lff.cli.report import entry_of
        from lff.report.claims_page import claims_page

        print(claims_page(entry_of(one.name, results, scale) for one in chosen), end="")  # noqa: T201
        return
    for experiment in chosen:
        found, path = need_table(results, experiment.name, scale)
        print_verdicts(experiment, read_table(path), found, read_provenance(path))


def print_verdicts(
    experiment: Experiment, rows: Sequence[Row], scale: ScaleName, provenance: dict[str, Any]
) -> None:
    """Print claims, what became of them, and what decided it."""
    seeds = len({row.seed for row in rows})
    say = Console(soft_wrap=True, highlight=False).print
    say(f"[bold]{experiment.name}[/] {experiment.title}", markup=True)
    small = "; small scale, not the paper's numbers" if experiment.is_small(scale) else ""
    say(f"  scale {scale}, {seeds} seeds, {provenance.get('jobs', '?')} jobs{small}")
    for policy in ("random policy", "zero policy"):
        own = [row for row in rows if row.variant == policy]
        for task in dict.fromkeys(row.task for row in own):
            values = [row.value for row in own if row.task == task]
            say(f"  {policy} on {task}: return {sum(values) / len(values):.1f}")
    for claim in experiment.claims:
        judged = claim.judge(rows)
        say(f"  {claim.name}: {claim.text}", markup=False)
        say(f"    {judged.outcome}: {judged.because}", markup=False)
        for line in getattr(judged, "details", ()):
            say(f"      {line}", markup=False)


def completed(words: Sequence[str]) -> list[str]:
    """Return the command line with what may be left out: ``--ray`` alone means here.

    >>> completed(["run", "fig8", "--ray", "--scale", "smoke"])
    ['run', 'fig8', '--ray', 'here', '--scale', 'smoke']
    """
    full: list[str] = []
    for word, following in zip(words, [*words[1:], "--"], strict=True):
        full.append(word)
        if word == "--ray" and following.startswith("-"):
            full.append("here")
    return full


def parse_shard(text: str | None) -> tuple[int, int]:
    """Return (i, n) of "i/n"; (0, 1) for all."""
    if text is None:
        return 0, 1
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if match is None or int(match[1]) >= int(match[2]):
        raise BadInputError("shard", text, "i/n with 0 <= i < n", "use 0/2 and 1/2 for two halves")
    return int(match[1]), int(match[2])


def _print_status(found: Sequence[dict[str, Any]]) -> None:
    table = Table(box=None, pad_edge=False)
    for heading in ("name", *SCALES, "table", "verdicts"):
        table.add_column(heading)
    for line in found:
        jobs = [f"{done}/{total}" for done, total in line["jobs"].values()]
        verdicts = ", ".join(f"{name} {outcome}" for name, outcome in line["verdicts"].items())
        table.add_row(line["name"], *jobs, line["scale"] or "-", verdicts or "-")
    Console().print(table)


COMMANDS: dict[str, Callable[..., Any]] = {
    "list": list_,
    "run": run,
    "status": status,
    "plot": plot,
    "verdict": verdict,
}
