"""Tidy long tables, one number a row, and scores that others have published."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from lff.core.checks import Config, NonEmpty, NonNegative, Size
from lff.core.errors import BadInputError, CorruptError
from lff.stats.fields import Field, beside, encode_fields
from lff.store import make_folder, write_bytes
from lff.store.atomic import LARGEST, read_bytes, read_lines, read_sealed, seal, sha256

FILES = "files"  # the key of a sidecar for the hashes of its table and surfaces, by name


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


def write_table(
    path: Path, rows: Iterable[Row], *, provenance: Mapping[str, Any], fields: Sequence[Field] = ()
) -> None:
    """Write rows to a CSV file, and what made them to a JSON file of the same name beside it.

    Surfaces go to a third.  The sidecar has the hashes of both, and its own.  While a table is
    replaced, its sidecar has the hashes of the old and of the new one: a kill in between is not
    taken for damage.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Row._fields)
    writer.writerows([*row[:-1], f"{row.value:.6g}"] for row in rows)
    written = {path: text.getvalue().encode()}
    if fields:
        written[beside(path)] = encode_fields(fields)
    make_folder(path.parent)
    hashes = {file.name: [sha256(data)] for file, data in written.items()}
    old = read_sidecar(path)
    known = old.get(FILES) or hashes
    if known != hashes:
        both = {name: [*known.get(name, ()), *new] for name, new in hashes.items()}
        write_sidecar(path, old, known | both)
    for file, data in written.items():
        write_bytes(file, data)
    write_sidecar(path, provenance, hashes)


def write_sidecar(path: Path, provenance: Mapping[str, Any], hashes: Mapping[str, Any]) -> None:
    """Write what made a table beside it, with the hashes of its files by name, and its own."""
    text = sidecar_text(seal({**provenance, FILES: hashes}))
    write_bytes(path.with_suffix(".json"), text.encode())


def read_sidecar(path: Path) -> dict[str, Any]:
    """Read what made a table; empty if it lacks a sidecar, without hashes if it is an old one."""
    sidecar = path.with_suffix(".json")
    if not sidecar.exists():
        return {}
    return read_sealed(sidecar, lambda data: FILES in data)


def check_table(path: Path, sidecar: Mapping[str, Any]) -> None:
    """Raise unless a table and its surfaces are what was written; an old sidecar does not say."""
    hashes = sidecar.get(FILES)
    if isinstance(hashes, dict) and path.name not in hashes:
        raise CorruptError(f"{path.with_suffix('.json')} is of another table; restore it")
    for file in (path, beside(path)):
        known = hashes.get(file.name) if isinstance(hashes, dict) else None
        if known and not file.exists():
            raise CorruptError(f"{file} is missing; restore it")
        if known and sha256(read_bytes(file, limit=LARGEST)) not in known:
            raise CorruptError(f"{file} is not what was written; restore it")


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
