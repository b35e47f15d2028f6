"""JSON as the store writes it: sorted, finite, and the same when read back."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lff.core.errors import BadInputError, BadTypeError, CorruptError
from lff.store.atomic import read_bytes, write_bytes

LARGEST = 64 * 2**20
"""Bytes; nothing of ours comes near, so that a larger file is not ours."""


def dumps(name: str, data: Any, *, indent: int | None = None) -> bytes:
    """Return the one text of this data, or raise an error that names the part that is not JSON."""
    _check(name, data)
    separators = (",", ":") if indent is None else (",", ": ")
    text = json.dumps(
        data, sort_keys=True, allow_nan=False, indent=indent, separators=separators, default=dict
    )
    return text.encode() + b"\n"


def read_json(path: Path, *, limit: int = LARGEST) -> dict[str, Any]:
    """Read a JSON object, or raise an error that names the file."""
    return loads(read_bytes(path, limit=limit), path)


def loads(text: bytes, path: Path) -> dict[str, Any]:
    """Parse a JSON object that was read from ``path``."""
    try:
        data = json.loads(text.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        why = type(error).__name__ if isinstance(error, RecursionError) else str(error)
        raise CorruptError(f"{path} is not JSON ({why[:80]}); restore or remove it") from None
    if not isinstance(data, dict):
        raise CorruptError(f"{path} is not a JSON object; restore or remove it")
    return data


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Write a JSON object for people and programs, atomically."""
    write_bytes(path, dumps(path.name, data, indent=2))


def flat(data: Any, prefix: str = "") -> dict[str, Any]:
    """Return nested data under dotted names.

    >>> flat({"algo": {"gamma": 0.99, "hidden": [8, 8]}, "seed": 0})
    {'algo.gamma': 0.99, 'algo.hidden': [8, 8], 'seed': 0}
    """
    if not isinstance(data, Mapping) or not data:
        return {prefix: data} if prefix else {}
    items = [flat(value, f"{prefix}.{key}" if prefix else str(key)) for key, value in data.items()]
    return {name: value for item in items for name, value in item.items()}


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _check(name: str, data: Any) -> None:
    if isinstance(data, Mapping):
        for key, value in data.items():
            if not isinstance(key, str):
                # json would make "0" of 0, and the reader would look for 0
                raise BadTypeError(f"{name}'s key", key, "a string", "use str(key)")
            _check(f"{name}.{key}", value)
    elif isinstance(data, list | tuple):
        for index, value in enumerate(data):
            _check(f"{name}[{index}]", value)
    elif isinstance(data, float):
        if not math.isfinite(data):
            raise BadInputError(name, data, "finite (JSON lacks NaN)", "use None")
    elif not (data is None or isinstance(data, str | int)):
        raise BadTypeError(name, data, "plain JSON data", "store arrays as tensors")
