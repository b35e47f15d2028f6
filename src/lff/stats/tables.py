"""Tidy long tables, one number a row: what the studies write and the verdicts read."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lff.core.errors import BadInputError


class Row(NamedTuple):
    """One measured number and where it comes from."""

    experiment: str
    variant: str
    task: str
    seed: int
    step: int
    """Environment steps; gradient steps in studies without an environment."""
    metric: str
    value: float


def write_table(path: Path, rows: Iterable[Row], *, provenance: Mapping[str, Any]) -> None:
    """Write rows to a CSV file, and what made them to a JSON file of the same name beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Row._fields)
    writer.writerows([*row[:-1], f"{row.value:.6g}"] for row in rows)
    _write(path, text.getvalue())
    _write(path.with_suffix(".json"), sidecar_text(provenance))


def sidecar_text(provenance: Mapping[str, Any]) -> str:
    """Return what made a table as JSON, with one line for each entry of its mappings."""
    parts = []
    for key, value in sorted(provenance.items()):
        if isinstance(value, Mapping):
            lines = (f"    {_json(k)}: {_json(v)}" for k, v in sorted(value.items()))
            parts.append(f"  {_json(key)}: {{\n" + ",\n".join(lines) + "\n  }")
        else:
            parts.append(f"  {_json(key)}: {_json(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _write(path: Path, text: str) -> None:
    """Replace a file at once: a reader sees the old one or the new one."""
    temporary = path.with_name(f".{path.name}")
    temporary.write_text(text, encoding="utf-8", newline="")
    temporary.replace(path)


def read_table(path: Path) -> list[Row]:
    """Read a table that :func:`write_table` wrote."""
    with path.open(newline="") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames or ()) != Row._fields:
            remedy = f"its columns must be {', '.join(Row._fields)}"
            raise BadInputError("table", path.name, "tidy", remedy)
        return [
            Row(
                experiment=line["experiment"],
                variant=line["variant"],
                task=line["task"],
                seed=int(line["seed"]),
                step=int(line["step"]),
                metric=line["metric"],
                value=float(line["value"]),
            )
            for line in reader
        ]


def select(rows: Sequence[Row], **wanted: object) -> list[float]:
    """Return the values whose rows match, e.g. ``variant="LFF", metric="error"``, by seed."""
    found = [row for row in rows if all(getattr(row, k) == v for k, v in wanted.items())]
    return [row.value for row in sorted(found, key=lambda row: (row.seed, row.step))]
