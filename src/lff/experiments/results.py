"""Results on disk: records of jobs, tables that are views of them, and verdicts on tables.

``results/jobs/DIGEST.csv.gz`` is the record of one job, committed once (``lff.launch.records``).
``results/SCALE/NAME.csv`` is the table of an experiment, :func:`write_view` of the records; its
sidecar ``NAME.json`` maps the digest of each job in it to variant, task and seed.  A job counts as
finished if its record is there, or if the experiment's own sidecar lists it: its rows are then
taken from the table itself.  Nothing here needs torch.
"""

import hashlib
import json
import math
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lff.core.errors import BadInputError
from lff.experiments.spec import SCALES, Cell, Experiment, ScaleName
from lff.launch.job import JobRow
from lff.launch.records import OUTCOME, SUFFIX, pack_record, read_record
from lff.stats.claim import Kind
from lff.stats.fields import FIELDS, Field, beside, read_fields
from lff.stats.metrics import POLICIES
from lff.stats.tables import FILES, Row, check_table, read_sidecar, read_table, write_table
from lff.stats.verdicts import Verdict, adjust, no_verdict
from lff.store import make_folder, write_bytes
from lff.store.atomic import refuse_link

RUNS, RESULTS = Path("runs/experiments"), Path("results")
CLAIM_FORMAT = "lff-claims-1"


@dataclass(frozen=True)
class Table:
    """The table of an experiment at a scale, as it is on disk."""

    scale: ScaleName
    path: Path
    rows: list[Row]
    sidecar: dict[str, Any]
    """What made it: command, versions, the jobs in it."""

    @property
    def jobs(self) -> Mapping[str, Any]:
        """Digests of the jobs in the table, each with its (variant, task, seed)."""
        held = self.sidecar.get("jobs")
        return held if isinstance(held, dict) else {}

    @property
    def planned(self) -> int:
        """How many jobs the whole experiment has."""
        return int(self.sidecar.get("planned", len(self.jobs)))

    @property
    def is_partial(self) -> bool:
        """Whether jobs are missing."""
        return len(self.jobs) < self.planned

    @property
    def fields(self) -> list[Field]:
        """The surfaces beside it."""
        return read_fields(beside(self.path))

    def judge(self, experiment: Experiment) -> dict[str, Verdict]:
        """Judge every claim, by name; a partial table says how many jobs it holds instead.

        What was not fixed before the first run is marked, as is a claim that was changed after the
        table's first row.
        """
        if self.is_partial:
            return {c.name: no_verdict(len(self.jobs), self.planned) for c in experiment.claims}
        verdicts = {claim.name: claim.judge(self.rows) for claim in experiment.claims}
        primary = next((claim.name for claim in experiment.claims if claim.primary), None)
        fixed = self.sidecar.get("claims", {})
        places = [place for places in self.jobs.values() for place in places]
        for claim in experiment.claims:
            marks = [f"registered {claim.registered}" if claim.registered else "post hoc"]
            if claim.registered and fixed.get(claim.name) != claim_digest(claim, places):
                marks.append("changed after the first row")
            verdicts[claim.name] = replace(verdicts[claim.name], marks=tuple(marks))
        return adjust(verdicts, primary)


def document(experiment: Experiment, table: Table) -> dict[str, Any]:
    """Return the claims of a table with their verdicts as JSON data (docs/claim-format.md)."""
    verdicts = table.judge(experiment)
    claims = []
    for claim in experiment.claims:
        verdict = verdicts[claim.name]
        shown = verdict.interval
        claims.append(
            {
                "name": claim.name,
                "text": claim.text,
                "whose": claim.whose,
                "quote": claim.quote,
                "registered": claim.registered or None,
                "marks": [*verdict.marks],
                "primary": claim.primary,
                "decides": claim.decides,
                "outcome": verdict.outcome,
                "adjusted": verdict.adjusted or verdict.outcome,
                "p": verdict.p,
                "estimate": shown.estimate if shown else None,
                "interval": [shown.low, shown.high] if shown else None,
                "n": shown.n if shown else None,
                "because": verdict.because,
                "details": [*verdict.details],
            }
        )
    return {
        "format": CLAIM_FORMAT,
        "study": experiment.name,
        "title": experiment.title,
        "source": experiment.source,
        "scale": table.scale,
        "whole": not experiment.is_small(table.scale),
        "jobs": len(table.jobs),
        "planned": table.planned,
        "claims": claims,
    }


def claim_digest(claim: Kind, places: Iterable[Sequence[Any]]) -> str:
    """Return 16 hex digits that name what decides a claim: kind, arms, tasks, bounds and seeds.

    ``places``: (variant, task, seed) of all jobs of the experiment.
    """
    own = sorted([*place] for place in places if place[0] in claim.arms)
    text = json.dumps([claim.decides, own], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def table_path(results: Path, name: str, scale: ScaleName) -> Path:
    """Return where an experiment's table is at a scale."""
    refuse_link(results / scale)
    return results / scale / f"{name}.csv"


def find_table(results: Path, name: str, scale: ScaleName | None = None) -> Table | None:
    """Read the table of the largest scale there is, or of the given scale."""
    wanted: Iterable[ScaleName] = [scale] if scale else reversed([*SCALES])
    for candidate in wanted:
        path = table_path(results, name, candidate)
        if os.path.lexists(path):
            sidecar = read_sidecar(path)
            check_table(path, sidecar)
            sidecar.pop(FILES, None)
            return Table(candidate, path, read_table(path), sidecar)
    return None


def need_table(results: Path, name: str, scale: ScaleName | None = None) -> Table:
    """Read the same, or raise an error that says how to make it."""
    table = find_table(results, name, scale)
    if table is None:
        check_results(results)
        remedy = f"make it: lff experiment run {name} --scale {scale or 'laptop'}"
        where = f"{results}/*/{name}.csv"
        raise BadInputError(f"table of {name}", where, "a file that exists", remedy)
    return table


def check_results(results: Path) -> None:
    """Raise an error that says where the committed tables are, if there is no table at all."""
    if not any((results / scale).is_dir() for scale in SCALES):
        remedy = (
            "the committed tables are not in the package but in the source repository: run this in "
            "a clone, or name its folder by --results; lff experiment run makes new ones"
        )
        raise BadInputError("results", str(results), "a folder with tables", remedy)


def record_path(results: Path, digest: str) -> Path:
    """Return where the record of a job is."""
    refuse_link(results / "jobs")
    return results / "jobs" / f"{digest}{SUFFIX}"


def finished(
    experiment: Experiment, cells: Sequence[Cell], scale: ScaleName, *, results: Path, runs: Path
) -> set[str]:
    """Return the digests of the jobs that need not run: by record, own table, or local folder."""
    sidecar = read_sidecar(table_path(results, experiment.name, scale)).get("jobs")
    held = {*sidecar} if isinstance(sidecar, dict) else set()
    return {
        digest
        for digest in {cell.digest for cell in cells}
        if digest in held
        or record_path(results, digest).exists()
        or (runs / "jobs" / digest / OUTCOME).exists()
    }


def collect(digests: Iterable[str], *, results: Path, runs: Path) -> None:
    """Write the records of jobs that have finished in their folders."""
    for digest in digests:
        path, folder = record_path(results, digest), runs / "jobs" / digest
        if not path.exists() and (folder / OUTCOME).exists():
            make_folder(path.parent)
            write_bytes(path, pack_record(folder))


def write_view(
    experiment: Experiment,
    cells: Sequence[Cell],
    scale: ScaleName,
    *,
    results: Path,
    runs: Path | None = None,
) -> Table:
    """Write an experiment's table from the records that are there, whole or partial; return it.

    The same records give the same bytes, in whatever order the jobs ended.  A table that holds more
    jobs is not replaced.  Surfaces come from the folders of jobs in ``runs``, else from the table.
    """
    path = table_path(results, experiment.name, scale)
    before = find_table(results, experiment.name, scale)
    records: dict[str, list[JobRow]] = {}
    jobs: dict[str, list[Any]] = {}
    versions: dict[str, str] = {}
    for cell in cells:
        record = record_path(results, cell.digest)
        if cell.digest not in records and record.exists():
            header, records[cell.digest] = read_record(record)
            versions = header.get("versions", versions)
        if cell.digest in records or (before and cell.digest in before.jobs):
            jobs.setdefault(cell.digest, []).append([cell.variant, cell.task, cell.seed])
    sidecar: dict[str, Any] = {
        "command": experiment.command or f"lff experiment run {experiment.name} --scale {scale}",
        "scale": scale,
        "jobs": jobs,
        "planned": len({cell.digest for cell in cells}),
        "versions": (before.sidecar.get("versions") if before else None) or versions,
    }
    if fixed := fixed_claims(experiment, cells, before):
        sidecar["claims"] = fixed
    rows = gather(experiment, cells, records, before.rows if before else ())
    end = experiment.until.get(scale, math.inf)
    rows = [row for row in rows if row.step <= end]
    sidecar["seeds"] = len({row.seed for row in rows})
    if before and len(before.jobs) > len(jobs):
        return before
    fields = _fields(cells, jobs, before, runs)
    write_table(path, rows, provenance=sidecar, fields=fields)
    return Table(scale, path, read_table(path), sidecar)


def fixed_claims(
    experiment: Experiment, cells: Sequence[Cell], before: Table | None
) -> dict[str, str]:
    """Return what decides each registered claim, as it was when the table got its first row."""
    if before and before.rows:
        return dict(before.sidecar.get("claims", {}))
    places = [(cell.variant, cell.task, cell.seed) for cell in cells]
    return {c.name: claim_digest(c, places) for c in experiment.claims if c.registered}


def gather(
    experiment: Experiment,
    cells: Sequence[Cell],
    records: Mapping[str, Sequence[JobRow]],
    before: Sequence[Row] = (),
) -> list[Row]:
    """Return the experiment's rows in the order of its cells.

    Rows of a job come from its record; without one, from the rows of the table ``before``.
    """
    titles = {metric.key: metric.title for metric in experiment.metrics}
    policies = {metric.title for metric in experiment.metrics if metric.policies}
    old: dict[tuple[str, str, int | None], list[Row]] = defaultdict(list)
    for row in before:
        for seed in (None, row.seed):
            old[row.variant, row.task, seed].append(row)
    rows: dict[tuple[Any, ...], Row] = {}
    for cell in cells:
        found: Iterable[Row | None]
        if cell.digest in records:
            own = records[cell.digest]
            found = (_row(experiment.name, cell, row, titles, policies) for row in own)
        else:  # its own rows, then those of the reference policies at its task and seed
            variants = (cell.variant, *POLICIES.values())
            found = (row for name in variants for row in old[name, cell.task, cell.seed])
        for one in found:
            if one is not None:
                rows.setdefault(one[:-1], one)
    return list(rows.values())


def gather_fields(cells: Sequence[Cell], found: Mapping[str, Sequence[Field]]) -> list[Field]:
    """Return the surfaces of all cells; those of a task are kept once."""
    fields: dict[tuple[str, ...], Field] = {}
    for cell in cells:
        for one in found.get(cell.digest, ()):
            variant = "" if one.name else cell.variant
            place = (cell.task, one.metric, one.name, variant)
            fields.setdefault(place, replace(one, variant=variant, task=cell.task))
    return list(fields.values())


def _fields(
    cells: Sequence[Cell], jobs: Mapping[str, Any], before: Table | None, runs: Path | None
) -> list[Field]:
    """Return the surfaces of the jobs in a table: from their folders, else from the old table."""
    old = before.fields if before else []
    found: dict[str, list[Field]] = {}
    for cell in cells:
        path = runs / "jobs" / cell.digest / FIELDS if runs else None
        if cell.digest in jobs and cell.digest not in found:
            found[cell.digest] = (read_fields(path) if path else []) or [
                one for one in old if one.task == cell.task and one.variant in ("", cell.variant)
            ]
    return gather_fields(cells, found)


def _row(
    name: str, cell: Cell, row: JobRow, titles: Mapping[str, str], policies: set[str]
) -> Row | None:
    if row.metric in POLICIES:
        for title in policies:
            return Row(name, POLICIES[row.metric], cell.task, row.seed, row.step, title, row.value)
        return None
    base, bracket, index = row.metric.partition("[")
    if base not in titles:
        return None
    title = f"{titles[base]}{bracket}{index}"
    return Row(name, cell.variant, cell.task, row.seed, row.step, title, row.value)
