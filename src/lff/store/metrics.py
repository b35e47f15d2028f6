"""Metrics as JSON lines: one row a call, none lost and none repeated when a killed run goes on."""

import csv
import hashlib
import io
import json
import math
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lff.core.errors import BadInputError, BadTypeError, CorruptError
from lff.store.atomic import loads, read_bytes, refuse_size, reported, sync_folder, write_all

STEP = "env_step"
LARGEST_NUMBER = sys.float_info.max


class MetricsFile:
    r"""A file of rows ``{"env_step": int, name: value, ...}``, keys sorted, floats by ``repr``.

    A value is a number, null, a string, or a list of those; NaN and infinity become null, since a
    diverging run is what some come to see.  What depends on clock or machine belongs in a second
    file, so that equal runs have equal bytes.  Only the holder of the run's lock may open one.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> metrics = MetricsFile(Path(folder.name) / "metrics.jsonl")
    >>> metrics.append({"env_step": 1000, "eval/return": 12.5})
    >>> metrics.position["bytes"], metrics.position["rows"]
    (40, 1)
    >>> metrics.close()
    >>> [*read_rows(metrics.path)]
    [{'env_step': 1000, 'eval/return': 12.5}]
    >>> folder.cleanup()
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        with reported("open", self.path):
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            self._descriptor = os.open(self.path, flags | os.O_NONBLOCK, 0o666)
            try:
                found = os.fstat(self._descriptor)
                if not stat.S_ISREG(found.st_mode):
                    raise CorruptError(f"{self.path} is not a regular file; move it away")
                refuse_size(self.path, found.st_size)
                data = os.pread(self._descriptor, found.st_size, 0)
                self._go_to(data[: data.rfind(b"\n") + 1])
                os.ftruncate(self._descriptor, self._bytes)  # half a row: its writer was killed
                sync_folder(self.path.parent)
            except BaseException:
                os.close(self._descriptor)
                raise

    @property
    def position(self) -> dict[str, Any]:
        """The end of the file in bytes and rows, and the SHA-256 up to there, for a checkpoint."""
        sha256 = self._hash.hexdigest()
        return {"bytes": self._bytes, "rows": self._rows, "sha256": sha256}

    def append(self, row: Mapping[str, Any]) -> None:
        """Add one row.  It survives a kill at once, a power cut after :meth:`sync`."""
        values = plain(row)
        if type(values.get(STEP)) is not int:
            raise BadTypeError(STEP, row.get(STEP), "an integer", "count environment steps")
        line = json.dumps(values, sort_keys=True, allow_nan=False).encode() + b"\n"
        with reported("write", self.path, size=len(line)):
            try:
                write_all(self._descriptor, line)
            except BaseException:
                os.ftruncate(self._descriptor, self._bytes)
                raise
        self._bytes += len(line)
        self._rows += 1
        self._hash.update(line)

    def sync(self) -> None:
        """Make every row durable; call it before a checkpoint that holds :attr:`position`."""
        with reported("sync", self.path):
            os.fsync(self._descriptor)

    def truncate(self, position: Mapping[str, Any]) -> None:
        """Go back to a checkpoint's position: later rows will be written again."""
        data = prefix(self.path, position)
        with reported("truncate", self.path):
            os.ftruncate(self._descriptor, len(data))
            os.fsync(self._descriptor)
        self._go_to(data)

    def close(self) -> None:
        """Make every row durable and close the file."""
        if self._descriptor >= 0:
            self.sync()
            os.close(self._descriptor)
            self._descriptor = -1

    def _go_to(self, data: bytes) -> None:
        self._bytes, self._rows = len(data), data.count(b"\n")
        self._hash = hashlib.sha256(data)


def prefix(path: Path, position: Any) -> bytes:
    """Return what a metrics file held at a checkpoint's position, checked against its hash."""
    size, rows, sha256 = (
        position.get(name) if isinstance(position, Mapping) else None
        for name in ("bytes", "rows", "sha256")
    )
    if type(size) is not int or type(rows) is not int or size < 0:
        raise CorruptError(f"no position in {path}: {str(position)[:80]}; it is not ours")
    data = read_bytes(path)[:size]
    if len(data) != size or data.count(b"\n") != rows or data[-1:] not in (b"", b"\n"):
        lost = f"{path} has not {rows} rows in its first {size} bytes"
        raise CorruptError(f"{lost}; restore it from a backup")
    if sha256 is not None and sha256 != hashlib.sha256(data).hexdigest():  # None: an older layout
        lost = f"the first {rows} rows of {path} are not what was written"
        raise CorruptError(f"{lost}; restore it from a backup")
    return data


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a metrics file, also of one that is being written, without half a row."""
    lines = read_bytes(path).split(b"\n")
    for number, line in enumerate(lines[:-1], 1):
        try:
            row = loads(line, path)
            whole = type(row.get(STEP)) is int and all(map(_is_stored, row.values()))
        except CorruptError:
            whole = False
        if not whole:
            place = f"{path}, line {number}"
            raise CorruptError(f"{place} is not a row of metrics; restore or remove it")
        yield row


def _is_stored(value: Any) -> bool:
    """Return whether a value is one that :func:`plain` returns."""
    if isinstance(value, list):
        return all(map(_is_stored, value))
    if isinstance(value, int | float):
        return -LARGEST_NUMBER <= value <= LARGEST_NUMBER
    return value is None or isinstance(value, str)


def rows_to_csv(rows: list[dict[str, Any]]) -> bytes:
    """Return rows as one wide table; the step comes first, then names in order."""
    names = sorted({name for row in rows for name in row} - {STEP})
    cells = ([_cell(row.get(name)) for name in (STEP, *names)] for row in rows)
    return csv_bytes([STEP, *map(_inert, names)], cells)


def csv_bytes(headings: Iterable[str], rows: Iterable[Iterable[Any]]) -> bytes:
    """Return a table as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(headings)
    writer.writerows(rows)
    return text.getvalue().encode()


def plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row as JSON can hold it: numbers of Python's own, null for NaN and infinity."""
    return {name: _plain(name, value) for name, value in row.items()}


def _plain(name: object, value: Any) -> Any:
    if not isinstance(name, str):
        raise BadTypeError("a metric's name", name, "a string", "see docs/metrics")
    if isinstance(value, list | tuple):
        return [_plain(name, item) for item in value]
    if not isinstance(value, str | int | float) and hasattr(value, "item"):
        try:  # a 0-d tensor or a number of numpy's
            value = value.item()
        except (ValueError, RuntimeError):
            raise BadInputError(name, value, "one number", "log its mean, or a list") from None
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    raise BadTypeError(name, value, "a number, a string, None or a list of those", "convert it")


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return _inert(value)
    return json.dumps(value, sort_keys=True) if isinstance(value, bool | list | dict) else value


def _inert(text: str) -> str:
    """A spreadsheet runs what begins like a formula."""
    return "'" + text if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
