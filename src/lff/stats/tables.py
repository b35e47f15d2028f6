"""Tidy long tables, one number a row, and scores that others have published."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from lff.core.checks import Config, NonEmpty, NonNegative, Size
from lff.core.errors import BadInputError, CorruptError
from lff.store import write_bytes
from lff.store.atomic import read_lines


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
    write_bytes(path, text.getvalue().encode())
    write_bytes(path.with_suffix(".json"), sidecar_text(provenance).encode())


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


def read_table(path: Path) -> list[Row]:
    """Read a table that :func:`write_table` wrote."""
    reader = csv.reader(read_lines(path))
    if tuple(next(reader, ())) != Row._fields:
        remedy = f"its columns must be {', '.join(Row._fields)}"
        raise BadInputError("table", path.name, "tidy", remedy)
    try:
        return [
            Row(experiment, variant, task, int(seed), int(step), metric, float(value))
            for experiment, variant, task, seed, step, metric, value in reader
        ]
    except (ValueError, csv.Error) as error:
        line = f"{path}, line {reader.line_num}"
        raise CorruptError(f"{line} is not a row ({str(error)[:80]}); restore it") from None


Text = Annotated[str, NonEmpty("say where it is from")]


@dataclass(frozen=True, kw_only=True)
class Published(Config):
    """A score that others have published."""

    task: Text
    """Name without its family, ``cheetah-run``."""
    algorithm: Text
    env_steps: Size
    """Environment steps, action repeat included."""
    score: float
    spread: Annotated[float | None, NonNegative("leave it empty if unknown")]
    """Standard deviation over the seeds, where it is known."""
    seeds: Size
    source: Text


def read_published(path: Path) -> list[Published]:
    """Read a CSV file of published scores; each task, algorithm and step may appear once."""
    columns = tuple(field.name for field in fields(Published))
    reader = csv.DictReader(read_lines(path))
    if tuple(reader.fieldnames or ()) != columns:
        remedy = f"its columns must be {', '.join(columns)}"
        raise BadInputError("table", path.name, "of published scores", remedy)
    found = [_read_score(line, f"{path.name}, line {reader.line_num}") for line in reader]
    for key, count in Counter((s.task, s.algorithm, s.env_steps) for s in found).items():
        if count > 1:
            raise BadInputError("score", key, "given once", f"remove one from {path.name}")
    return found


def _read_score(line: dict[str, Any], where: str) -> Published:
    try:
        spread = float(line["spread"]) if line["spread"] else None
        numbers = {"score": float(line["score"]), "spread": spread}
        counts = {name: int(line[name]) for name in ("env_steps", "seeds")}
        return Published(**{**line, **numbers, **counts})
    except BadInputError as error:
        raise BadInputError("line", list(line.values()), "valid", f"{where}: {error}") from None
    except (TypeError, ValueError):
        remedy = f"look at {where}"
        raise BadInputError("line", list(line.values()), "seven fields", remedy) from None
