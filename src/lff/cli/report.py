"""``lff report NAME|RUN...`` and ``lff explore``: pages that need nothing else."""

from pathlib import Path
from typing import Annotated

import tyro

from lff.core.errors import BadInputError
from lff.experiments import find_experiment, list_experiments
from lff.experiments.results import find_table, need_table
from lff.experiments.spec import ScaleName
from lff.report import Entry, check_replaceable, run_page, write_page, write_site
from lff.report.explorer import explorer_page
from lff.runs.read import read_runs
from lff.stats import Published, read_published
from lff.store.atomic import understood


def report_command(
    what: tyro.conf.Positional[tuple[str, ...]] = (),
    /,
    *,
    all_: Annotated[bool, tyro.conf.arg(name="all")] = False,
    out: Path | None = None,
    results: Path = Path("results"),
    scale: ScaleName | None = None,
    force: bool = False,
) -> None:
    """Write an experiment or runs as one HTML page: no script, no network; light, dark, phone.

    Args:
        what: the name of an experiment, or one run directory or more.
        all_: instead, make a site of all experiments: an index with their verdicts, a page each.
        out: the page, NAME.html by default; with --all the folder, "site" by default.
        results: the folder with the tables of experiments.
        scale: take the table of this scale; the largest there is by default.
        force: also replace a file that is not such a page.
    """
    if all_:
        folder = out or Path("site")
        if what:
            raise BadInputError("report", what, "empty with --all", "leave the names or --all out")
        if folder.exists() and not folder.is_dir():
            raise BadInputError("out", str(folder), "a folder with --all", "use another name")
        entries = [entry_of(name, results, scale) for name in list_experiments()]
        paths = write_site(folder, entries, force=force)
        print(f"{paths[-1]}: {len(paths) - 1} of {len(entries)} experiments have been run")
        return
    if not what:
        remedy = "name an experiment or a run directory, or use --all"
        raise BadInputError("report", "nothing", "given experiments or runs", remedy)
    path = out or Path(f"{Path(what[0]).resolve().name if len(what) == 1 else 'runs'}.html")
    if len(what) == 1 and not Path(what[0]).is_dir():
        find_experiment(what[0])
        need_table(results, what[0], scale)
        check_replaceable(path, force=force)
        entry = entry_of(what[0], results, scale)
        write_page(path, entry.page())
        print(f"{path}: {what[0]} at scale {entry.scale}, {len(entry.rows):,} numbers")
        for claim, verdict in entry.judged:
            print(f"  {claim.name}: {verdict.outcome} ({verdict.because})")
        return
    for name in what:
        if not Path(name).is_dir():
            known = name in list_experiments()
            constraint = "alone if an experiment" if known else "a run directory"
            remedy = "make one page for each, or lff report --all" if known else "name a folder"
            raise BadInputError("report", name, constraint, remedy)
    check_replaceable(path, force=force)
    with understood(", ".join(what)):
        runs = read_runs([Path(name) for name in what])
        page = run_page(runs)
    write_page(path, page)
    rows = sum(len(run.rows) for run in runs)
    print(f"{path}: {', '.join(run.name for run in runs)}, {rows:,} rows of metrics")


def explore_command(*, out: Path = Path("explore.html"), force: bool = False) -> None:
    """Write a page with sliders: kernel, spectrum, learning times and a fit, for any σ.

    One file without network; open it in a browser.  Everything is computed there.

    Args:
        out: the page.
        force: also replace a file that is not such a page.
    """
    check_replaceable(out, force=force)
    write_page(out, explorer_page())
    print(f"{out}: open it in a browser")


def entry_of(name: str, results: Path, scale: ScaleName | None) -> Entry:
    """Return an experiment with its table and the verdicts on its claims, if it has a table."""
    experiment = find_experiment(name)
    table = find_table(results, experiment.name, scale)
    if table is None:
        return Entry(experiment=experiment)
    if not table.rows:
        remedy = f"run it again: lff experiment run {name} --scale {table.scale}"
        raise BadInputError("table", str(table.path), "a table with rows", remedy)
    return Entry(
        experiment=experiment,
        scale=table.scale,
        rows=table.rows,
        provenance=table.sidecar | {"jobs": len(table.jobs) or table.sidecar.get("jobs")},
        published=published_scores(results),
        fields=table.fields,
        verdicts=table.judge(experiment),
    )


def published_scores(results: Path) -> list[Published]:
    """Return the published scores beside the tables; none if there is no such file."""
    path = results / "published.csv"
    return read_published(path) if path.is_file() else []
