"""``lff report NAME|RUN...``: one page that needs nothing else; ``--all`` makes a site."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from lff.cli.files import require_figures
from lff.core.errors import BadInputError
from lff.experiments import find_experiment, list_experiments
from lff.experiments.results import find_table, need_table
from lff.experiments.spec import ScaleName
from lff.runs.read import names_of, read_run
from lff.stats import Published, read_published

if TYPE_CHECKING:
    from lff.report import Entry


def report(
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
    require_figures("report")
    if all_:
        _site(what, out or Path("site"), results, scale, force=force)
        return
    if not what:
        remedy = "name an experiment or a run directory, or use --all"
        raise BadInputError("report", "nothing", "of something", remedy)
    stem = Path(what[0]).resolve().name if len(what) == 1 else "runs"
    path = out or Path(f"{stem}.html")
    if len(what) == 1 and not Path(what[0]).is_dir():
        _experiment(what[0], path, results, scale, force=force)
    else:
        _runs([Path(word) for word in what], path, force=force)


def _experiment(
    name: str, path: Path, results: Path, scale: ScaleName | None, *, force: bool
) -> None:
    from lff.report import check_replaceable, write_page

    find_experiment(name)
    need_table(results, name, scale)
    check_replaceable(path, force=force)
    entry = entry_of(name, results, scale)
    write_page(path, entry.page())
    print(f"{path}: {name} at scale {entry.scale}, {len(entry.rows):,} numbers")  # noqa: T201
    for claim, verdict in entry.judged:
        print(f"  {claim.name}: {verdict.outcome} ({verdict.because})")  # noqa: T201


def _runs(folders: list[Path], path: Path, *, force: bool) -> None:
    from lff.report import check_replaceable, run_page, write_page

    for folder in folders:
        if not folder.is_dir():
            known = str(folder) in list_experiments()
            constraint = "alone if an experiment" if known else "a run directory"
            remedy = "make one page for each, or lff report --all" if known else "name a folder"
            raise BadInputError("report", str(folder), constraint, remedy)
    check_replaceable(path, force=force)
    named = zip(folders, names_of(folders), strict=True)
    runs = [read_run(folder, name=name) for folder, name in named]
    write_page(path, run_page(runs))
    rows = sum(len(run.rows) for run in runs)
    print(f"{path}: {', '.join(run.name for run in runs)}, {rows:,} rows of metrics")  # noqa: T201


def _site(
    what: tuple[str, ...], folder: Path, results: Path, scale: ScaleName | None, *, force: bool
) -> None:
    from lff.report import write_site

    if what:
        raise BadInputError("report", what, "empty with --all", "leave the names or --all out")
    if folder.exists() and not folder.is_dir():
        raise BadInputError("out", str(folder), "a folder with --all", "use another name")
    entries = [entry_of(name, results, scale) for name in list_experiments()]
    paths = write_site(folder, entries, force=force)
    print(f"{paths[-1]}: {len(paths) - 1} of {len(entries)} experiments have been run")  # noqa: T201


def entry_of(name: str, results: Path, scale: ScaleName | None) -> "Entry":
    """Return an experiment with its table and the verdicts on its claims, if it has a table."""
    from lff.report import Entry

    experiment = find_experiment(name)
    table = find_table(results, experiment.name, scale)
    if table is None:
        return Entry(experiment=experiment)
    if not table.rows:
        remedy = f"run it again: lff experiment run {name} --scale {table.scale}"
        raise BadInputError("table", str(table.path), "more than a head", remedy)
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
