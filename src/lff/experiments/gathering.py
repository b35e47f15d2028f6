"""From the tables of jobs to the table of an experiment, and where that is kept."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lff.core.errors import BadInputError
from lff.experiments.spec import SCALES, Cell, Experiment, ScaleName
from lff.launch.job import JobRow
from lff.stats.fields import Field
from lff.stats.tables import Row

POLICIES = {"random return": "random policy", "zero return": "zero policy"}
"""Metrics of jobs that are the return of a policy of their own."""


def table_path(results: Path, name: str, scale: ScaleName) -> Path:
    """Return where an experiment's table is at a scale."""
    return results / scale / f"{name}.csv"


def find_table(
    results: Path, name: str, scale: ScaleName | None = None
) -> tuple[ScaleName, Path] | None:
    """Return the table of the largest scale there is, or of the scale asked for."""
    wanted: Iterable[ScaleName] = [scale] if scale else reversed([*SCALES])
    for candidate in wanted:
        path = table_path(results, name, candidate)
        if path.exists():
            return candidate, path
    return None


def need_table(results: Path, name: str, scale: ScaleName | None = None) -> tuple[ScaleName, Path]:
    """Return the same, or say how to make it."""
    found = find_table(results, name, scale)
    if found is None:
        remedy = f"make it: lff experiment run {name} --scale {scale or 'laptop'}"
        raise BadInputError("table", f"{results}/*/{name}.csv", "there", remedy)
    return found


def gather(
    experiment: Experiment, cells: Sequence[Cell], tables: Mapping[str, Sequence[JobRow]]
) -> list[Row]:
    """Return the experiment's rows in one order, whatever the order in which jobs ended."""
    titles = dict(experiment.metrics)
    rows: dict[tuple[Any, ...], Row] = {}
    for cell in cells:
        for job_row in tables.get(cell.digest, ()):
            row = _row(experiment.name, cell, job_row, titles)
            if row is not None:
                rows.setdefault(row[:-1], row)
    return list(rows.values())


def gather_fields(cells: Sequence[Cell], found: Mapping[str, Sequence[Field]]) -> list[Field]:
    """Return the surfaces of all cells; what belongs to a task is kept once."""
    fields: dict[tuple[str, ...], Field] = {}
    for cell in cells:
        for one in found.get(cell.digest, ()):
            place = (cell.task, one.metric, one.name, "" if one.name else cell.variant)
            own = replace(one, variant="" if one.name else cell.variant, task=cell.task)
            fields.setdefault(place, own)
    return list(fields.values())


def _row(name: str, cell: Cell, row: JobRow, titles: Mapping[str, str]) -> Row | None:
    if row.metric in POLICIES and "eval/return" in titles:
        policy, title = POLICIES[row.metric], titles["eval/return"]
        return Row(name, policy, cell.task, row.seed, row.step, title, row.value)
    base, bracket, index = row.metric.partition("[")
    if base not in titles:
        return None
    title = f"{titles[base]}{bracket}{index}"
    return Row(name, cell.variant, cell.task, row.seed, row.step, title, row.value)


def read_provenance(path: Path) -> dict[str, Any]:
    """Return what made a table; empty if nobody said."""
    sidecar = path.with_suffix(".json")
    if not sidecar.exists():
        return {}
    data: dict[str, Any] = json.loads(sidecar.read_text())
    return data
