"""A site of all experiments: an index with their verdicts, and a page each, for any static host."""

import os
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lff.core.errors import BadInputError, StorageError
from lff.experiments.spec import Experiment, Judged, ScaleName
from lff.report.experiment_page import badge, experiment_page, join_times
from lff.report.markup import Markup, command, is_ours, page, section, tag
from lff.stats import Field, Published, Row

INDEX = "index.html"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """An experiment of the site; without a scale it has not been run."""

    experiment: Experiment
    scale: ScaleName | None = None
    rows: Sequence[Row] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)
    verdicts: Sequence[Judged] = ()
    published: Sequence[Published] = ()
    fields: Sequence[Field] = ()


def write_site(folder: Path, entries: Iterable[Entry], *, force: bool = False) -> list[Path]:
    """Write the index and a page for each experiment that was run; return the files.

    Pages of our own are replaced, other files only with ``force``; all pages are made before the
    first is written, and the index is written last.
    """
    listed = [*entries]
    pages = {_file(entry.experiment.name): _page(entry) for entry in listed if entry.scale}
    pages[INDEX] = index_page(listed)
    paths = {folder / name: text for name, text in pages.items()}
    for path in paths:
        check_replaceable(path, force=force)
    for path, text in paths.items():
        write_page(path, text)
    return [*paths]


def index_page(entries: Sequence[Entry]) -> str:
    """Return the index: every experiment, its scale, its verdicts, or the command that runs it."""
    run = [entry for entry in entries if entry.scale]
    waiting = [entry for entry in entries if not entry.scale]
    outcomes = [verdict.outcome for entry in run for verdict in entry.verdicts]
    chips = [join_times(outcome, outcomes.count(outcome)) for outcome in dict.fromkeys(outcomes)]
    body = [
        tag("h1", "Learned Fourier features: experiments and verdicts"),
        tag("p", f"{len(run)} of {len(entries)} experiments have been run.", class_="meta"),
        *([tag("div", *chips, class_="chips")] if chips else []),
        *_warning(run),
        *([section("Run", *map(_card, run))] if run else []),
        *([section("Not run yet", *map(_waiting, waiting))] if waiting else []),
    ]
    return page("lff: experiments and verdicts", body)


def check_replaceable(path: Path, *, force: bool) -> None:
    """Raise if a file is there that is no page of ours and must stay."""
    if path.is_dir():
        raise BadInputError("out", str(path), "no folder", "name a file in it")
    if path.exists() and not force and not is_ours(path):
        raise BadInputError("out", str(path), "new, or a page to replace", "use --force")


def write_page(path: Path, text: str) -> None:
    """Write a page whole or not at all, making its folder."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            Path(name).chmod(0o644)
            Path(name).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}") from error


def _warning(run: Sequence[Entry]) -> list[Markup]:
    """Return the line that names what was run smaller than it is."""
    small = [e for e in run if e.scale is not None and e.experiment.is_small(e.scale)]
    if not small:
        return []
    names = ", ".join(f"{entry.experiment.name} ({entry.scale})" for entry in small)
    return [tag("p", f"Small scale, not the paper's numbers: {names}.", class_="banner")]


def _card(entry: Entry) -> Markup:
    experiment = entry.experiment
    link = tag("a", experiment.title, href=_file(experiment.name))
    chips = [tag("span", c, class_="chip") for c in (experiment.name, f"scale: {entry.scale}")]
    judged = zip(experiment.claims, entry.verdicts, strict=True)
    claims = [
        tag("li", badge(verdict.outcome), tag("span", f"{claim.name}: {claim.text}"))
        for claim, verdict in judged
    ]
    return tag(
        "article",
        tag("p", link, class_="claim"),
        tag("div", *chips, class_="chips"),
        tag("p", f"Source: {experiment.source}.", class_="because"),
        *([tag("ul", *claims, class_="claims")] if claims else []),
        class_="card",
    )


def _waiting(entry: Entry) -> Markup:
    experiment = entry.experiment
    chips = [tag("span", words, class_="chip") for words in (experiment.name, "not run yet")]
    return tag(
        "article",
        tag("p", experiment.title, class_="claim"),
        tag("div", *chips, class_="chips"),
        tag("p", f"Source: {experiment.source}.", class_="because"),
        command(f"lff experiment run {experiment.name} --scale laptop"),
        class_="card",
    )


def _page(entry: Entry) -> str:
    assert entry.scale is not None
    return experiment_page(
        entry.experiment,
        entry.rows,
        scale=entry.scale,
        provenance=entry.provenance,
        verdicts=entry.verdicts,
        published=entry.published,
        fields=entry.fields,
        home=INDEX,
    )


def _file(name: str) -> str:
    """A page is named after its experiment, whose name must be fit for that."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]*", name) or name == "index":
        raise BadInputError("experiment", name, "lower-case letters, digits, dashes", "rename it")
    return f"{name}.html"
