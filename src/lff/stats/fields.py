"""Surfaces over a grid, stored beside a table for figures; verdicts do not read them.

A 64x64 surface as rows of a table would be 4,096 lines.  Here it is one entry of a JSON file,
``NAME.fields.json`` beside ``NAME.csv``: its lowest and highest value, and between them 65,534
levels, compressed.  That is four digits and more; a cell without a value (NaN) stays one.
"""

import base64
import json
import os
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lff.core.checks import check_size
from lff.core.errors import BadInputError, BadTypeError, CorruptError
from lff.store.atomic import LARGEST, loads, make_folder, read_bytes, shown, write_bytes

FIELDS = "fields.json"
"""The file in a job's folder; an experiment's is ``NAME.fields.json``."""
LEVELS = 65_534
MISSING = 65_535
NAMES = ("metric", "name", "variant", "task")


@dataclass(frozen=True, eq=False)
class Field:
    """Values on a grid, rows from top to bottom."""

    metric: str
    """Which panel shows it."""
    values: NDArray[np.float64]
    name: str = ""
    """What it is if it belongs to the task, as the truth does; empty: it is the variant's own."""
    variant: str = ""
    task: str = ""

    @property
    def title(self) -> str:
        """The title above it."""
        return self.name or self.variant


def field(metric: str, values: ArrayLike, *, name: str = "") -> Field:
    """Return a field of a job, whose variant and task come from its cell."""
    grid = np.asarray(values, dtype=np.float64)
    if grid.ndim != 2 or not grid.size:
        raise BadTypeError("a field's shape", grid.shape, "(rows, columns)", "reshape it")
    return Field(metric, np.where(np.isfinite(grid), grid, np.nan), name=name)


def encode_fields(fields: Iterable[Field]) -> bytes:
    """Return fields as a JSON file; the same fields give the same bytes."""
    lines = ",\n".join(json.dumps(_encode(one), ensure_ascii=False) for one in fields)
    return f"[\n{lines}\n]\n".encode()


def write_fields(path: Path, fields: Iterable[Field]) -> None:
    """Write fields to a JSON file, in a folder that is made if need be."""
    make_folder(path.parent)
    write_bytes(path, encode_fields(fields))


def read_fields(path: Path) -> list[Field]:
    """Read what :func:`write_fields` wrote; none if there is no such file."""
    if not os.path.lexists(path):
        return []
    entries = shown(loads(read_bytes(path, limit=LARGEST), path, kind=list))
    try:
        return [_decode(entry) for entry in entries]
    except (ValueError, LookupError, TypeError, OverflowError, zlib.error) as error:
        why = " ".join(str(error).split())[:80]
        raise CorruptError(f"{path} holds no fields ({why}); restore or remove it") from None


def beside(table: Path) -> Path:
    """Return where the fields of a table are."""
    return table.with_name(f"{table.stem}.{FIELDS}")


def of_panel(fields: Sequence[Field], metric: str, task: str) -> list[Field]:
    """Return what a panel shows of a task: what belongs to the task first, each once."""
    own = [one for one in fields if (one.metric, one.task) == (metric, task)]
    first = {one.name: one for one in reversed(own) if one.name}
    shared = [one for one in own if first.get(one.name) is one]
    return shared + [one for one in own if not one.name]


def _encode(one: Field) -> dict[str, Any]:
    finite = one.values[np.isfinite(one.values)]
    low, high = (float(f"{v:.9g}") for v in (finite.min(), finite.max())) if finite.size else (0, 0)
    unit = (high - low) / LEVELS or 1.0
    levels = np.clip(np.rint((np.nan_to_num(one.values, nan=low) - low) / unit), 0, LEVELS)
    codes = np.where(np.isfinite(one.values), levels, MISSING).astype("<u2")
    packed = base64.b64encode(zlib.compress(codes.tobytes(), 9)).decode()
    numbers = {"shape": list(one.values.shape), "low": low, "high": high, "cells": packed}
    return {name: getattr(one, name) for name in NAMES} | numbers


def _decode(entry: dict[str, Any]) -> Field:
    rows, columns = map(check_size, ("rows", "columns"), entry["shape"])
    packed = base64.b64decode(entry["cells"], validate=True)
    raw = zlib.decompressobj().decompress(packed, 2 * rows * columns)  # no more than it may be
    codes = np.frombuffer(raw, dtype="<u2").reshape(rows, columns)
    low, high = float(entry["low"]), float(entry["high"])
    values = low + codes * ((high - low) / LEVELS)
    if not high >= low:
        raise BadInputError("a field's values", (low, high), "from low to high", "write it again")
    names = {name: str(entry[name]) for name in NAMES}
    return Field(values=np.where(codes == MISSING, np.nan, values), **names)
