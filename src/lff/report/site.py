"""A site of all experiments: an index with their verdicts, and a page each, for any static host."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lff.core.errors import BadInputError
from lff.experiments.spec import Claim, Experiment, Judged, ScaleName
from lff.report.experiment_page import experiment_page
from lff.report.html import check_replaceable, render, write_page
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

    @property
    def judged(self) -> list[tuple[Claim, Judged]]:
        """The claims with their verdicts."""
        return [*zip(self.experiment.claims, self.verdicts, strict=True)]

    @property
    def file(self) -> str:
        """The page's name, that of its experiment, which must be fit for it."""
        name = self.experiment.name
        if not re.fullmatch(r"[a-z0-9][a-z0-9._-]*", name) or name == "index":
            constraint = "lower-case letters, digits, dashes"
            raise BadInputError("experiment", name, constraint, "rename it")
        return f"{name}.html"

    def page(self, home: str | None = None) -> str:
        """Return the experiment's page; ``home`` is the address of an index."""
        assert self.scale is not None
        return experiment_page(
            self.experiment,
            self.rows,
            scale=self.scale,
            provenance=self.provenance,
            verdicts=self.verdicts,
            published=self.published,
            fields=self.fields,
            home=home,
        )


def write_site(folder: Path, entries: Iterable[Entry], *, force: bool = False) -> list[Path]:
    """Write the index and a page for each experiment that was run; return the files.

    Pages of our own are replaced, other files only with ``force``; all pages are made before the
    first is written, and the index is written last.
    """
    listed = [*entries]
    pages = {entry.file: entry.page(INDEX) for entry in listed if entry.scale}
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
    small = [e for e in run if e.scale is not None and e.experiment.is_small(e.scale)]
    return render(
        INDEX,
        title="lff: experiments and verdicts",
        run=run,
        waiting=[entry for entry in entries if not entry.scale],
        outcomes=Counter(verdict.outcome for entry in run for verdict in entry.verdicts),
        small=", ".join(f"{entry.experiment.name} ({entry.scale})" for entry in small),
    )
