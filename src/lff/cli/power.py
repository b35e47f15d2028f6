"""``lff experiment power``: how many seeds a claim takes."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import tyro

from lff.cli.output import print_table
from lff.core.errors import BadInputError
from lff.experiments import Result, find_experiment, list_experiments, load
from lff.experiments.results import RESULTS, Table, check_results, find_table, record_path
from lff.experiments.spec import Experiment, ScaleName
from lff.launch.records import read_header
from lff.report.html import render
from lff.stats.power import EFFECT, plan

Names = tyro.conf.Positional[tuple[str, ...]]


def power(
    names: Names = (),
    /,
    *,
    all: bool = False,
    pilot: str | None = None,
    effect: float = EFFECT,
    markdown: bool = False,
    results: Path = RESULTS,
) -> None:
    """Print how many seeds each undecided claim takes, and what the planned ones can show.

    Args:
        names: which experiments.
        all: every experiment that has a table.
        pilot: take the spread from this experiment's table, for one that has not been run.
        effect: the smallest effect of interest, as a share of the baseline.
        markdown: print a table for a page, as docs/power.md.
        results: where tables are.
    """
    if not 0 < effect < 0.5:
        raise BadInputError("effect", effect, "between 0 and 0.5", "use 0.25")
    rows: list[tuple[str, ...]] = []
    for name in chosen(names, results, all=all):
        experiment = find_experiment(name)
        source = load(pilot or experiment, results=results)
        rows += power_rows(experiment, source, effect, results, planning=pilot is not None)
    head = ("claim", "verdict", "runs", "power", "shows from", "runs needed", "machine time")
    if markdown:
        lines = [head, ("---",) * len(head), *rows]
        print(render("power.md", effect=f"{effect:.0%}", lines=lines), end="")
    else:
        print_table(head, rows)


def chosen(
    names: Sequence[str], results: Path, scale: ScaleName | None = None, *, all: bool
) -> Sequence[str]:
    """Return the experiments that are named, or all that have a table."""
    if all == bool(names):
        remedy = "name some of lff experiment list, or give --all"
        raise BadInputError("experiments", names, "named, or --all alone", remedy)
    if all:
        check_results(results)
    return names or [n for n in list_experiments() if find_table(results, n, scale)]


def power_rows(
    experiment: Experiment, source: Result, effect: float, results: Path, *, planning: bool
) -> Iterator[tuple[str, ...]]:
    """Yield a line for each claim that is planned, or undecided."""
    verdicts = {} if planning else source.verdicts
    seconds = job_seconds(source.on_disk, results)
    for claim in experiment.claims:
        outcome = verdicts[claim.name].outcome if verdicts else "planned"
        if outcome not in ("planned", "undecided here"):
            continue
        planned = None
        if planning:
            planned = len({cell.seed for cell in experiment.cells(source.scale)})
        found = plan(claim, source.table, n=planned, effect=effect)
        if found is None:
            yield f"{experiment.name} {claim.name}", outcome, *("-" * 5)
            continue
        places = len(claim.arms) * len(claim.tasks or {row.task for row in source.table})
        more = max(0, (found.needed or 0) - found.n) * places * seconds / 3600
        yield (
            f"{experiment.name} {claim.name}",
            outcome,
            str(found.n),
            f"{found.power:.2f}",
            "-" if found.least is None else f"{found.least:.0%}",
            "over 1,000" if found.needed is None else str(found.needed),
            f"{more:.2g} core hours" if found.needed and seconds else "-",
        )


def job_seconds(table: Table, results: Path) -> float:
    """Return the mean time of a table's jobs whose records are there; 0 if none is."""
    paths = [record_path(results, digest) for digest in table.jobs]
    found = [float(read_header(path).get("seconds", 0)) for path in paths if path.exists()]
    return sum(found) / len(found) if found else 0.0
