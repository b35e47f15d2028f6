"""``lff report NAME|RUN...``: one page that needs nothing else; ``--all`` makes a site."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from lff.core.errors import BadInputError
from lff.experiments.spec import ScaleName

if TYPE_CHECKING:
    from lff.report import Entry
    from lff.stats import Published


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
        out: the page, NAME.html if not told; with --all the folder, "site" if not told.
        results: the folder with the tables of experiments.
        scale: take the table of this scale; the largest there is if not told.
        force: also replace a file that is no such page.
    """
    if all_:
        _site(what, out or Path("site"), results, scale, force=force)
        return
    if not what:
        remedy = "name an experiment or a run directory, or use --all"
        raise BadInputError("report", "nothing", "of something", remedy)
    path = out or Path(f"{_stem(what)}.html")
    if len(what) == 1 and not Path(what[0]).is_dir():
        _experiment(what[0], path, results, scale, force=force)
    else:
        _runs(what, path, force=force)


def _experiment(
    name: str, path: Path, results: Path, scale: ScaleName | None, *, force: bool
) -> None:
    from lff.experiments import find_experiment
    from lff.experiments.results import need_table

    _need_matplotlib()
    from lff.report import check_replaceable, experiment_page, write_page

    find_experiment(name)
    need_table(results, name, scale)
    check_replaceable(path, force=force)
    entry = entry_of(name, results, scale)
    assert entry.scale is not None
    text = experiment_page(
        entry.experiment,
        entry.rows,
        scale=entry.scale,
        provenance=entry.provenance,
        verdicts=entry.verdicts,
        published=entry.published,
        fields=entry.fields,
    )
    write_page(path, text)
    print(f"{path}: {name} at scale {entry.scale}, {len(entry.rows):,} numbers")  # noqa: T201
    for claim, verdict in zip(entry.experiment.claims, entry.verdicts, strict=True):
        print(f"  {claim.name}: {verdict.outcome} ({verdict.because})")  # noqa: T201


def _runs(what: tuple[str, ...], path: Path, *, force: bool) -> None:
    _need_matplotlib()
    from lff.report import check_replaceable, run_page, write_page
    from lff.runs.read import names_of, read_run

    folders = [Path(word) for word in what]
    _check_runs(folders)
    check_replaceable(path, force=force)
    named = zip(folders, names_of(folders), strict=True)
    runs = [read_run(folder, name=name) for folder, name in named]
    write_page(path, run_page(runs))
    rows = sum(len(run.rows) for run in runs)
    print(f"{path}: {', '.join(run.name for run in runs)}, {rows:,} rows of metrics")  # noqa: T201


def _site(
    what: tuple[str, ...], folder: Path, results: Path, scale: ScaleName | None, *, force: bool
) -> None:
    from lff.experiments import list_experiments

    if what:
        raise BadInputError("report", what, "empty with --all", "leave the names or --all out")
    _need_matplotlib()
    from lff.report import write_site

    if folder.exists() and not folder.is_dir():
        raise BadInputError("out", str(folder), "a folder with --all", "use another name")
    entries = [entry_of(name, results, scale) for name in list_experiments()]
    paths = write_site(folder, entries, force=force)
    print(f"{paths[-1]}: {len(paths) - 1} of {len(entries)} experiments have been run")  # noqa: T201


def entry_of(name: str, results: Path, scale: ScaleName | None) -> "Entry":
    """Return an experiment with its table and the verdicts on its claims, if it has a table."""
    from lff.experiments import find_experiment
    from lff.experiments.results import find_table
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


def published_scores(results: Path) -> "list[Published]":
    """Return the scores of others that lie beside the tables, none if there is no such file."""
    from lff.stats import read_published

    path = results / "published.csv"
    return read_published(path) if path.is_file() else []


def _check_runs(folders: list[Path]) -> None:
    from lff.experiments import list_experiments

    for folder in folders:
        if str(folder) in list_experiments() and not folder.is_dir():
            remedy = "make one page for each, or lff report --all"
            raise BadInputError("report", str(folder), "alone if an experiment", remedy)
        if not folder.is_dir():
            remedy = "name a folder that lff train made"
            raise BadInputError("run", str(folder), "a run directory", remedy)


def _stem(what: tuple[str, ...]) -> str:
    return Path(what[0]).resolve().name if len(what) == 1 else "runs"


def _need_matplotlib() -> None:
    try:
        import lff.report  # noqa: F401
    except ImportError:
        remedy = "pip install 'learned-fourier-features[figures]'"
        raise BadInputError("report", "no matplotlib", "drawn by matplotlib", remedy) from None
