"""Files of a job: its folder while it runs, and the record of a finished one that is committed.

A record is one small compressed file named by the job's digest: a line of JSON with the whole
config, the outcome and where it was computed, then every row as CSV, exact to the last bit.  The
same content gives the same bytes.
"""

import csv
import functools
import gzip
import json
import os
import platform
import subprocess
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from lff.core.config import digest_of
from lff.core.errors import CorruptError, printable
from lff.launch.job import JobRow
from lff.store import csv_bytes, make_folder, read_json
from lff.store.atomic import (
    LARGEST,
    loads,
    read_bytes,
    read_lines,
    read_sealed,
    refuse_link,
    reported,
)
from lff.store.run_dir import check_hash

JOB = "job.json"  # the job itself
LOG = "log.txt"  # its output, and the error that stopped it
PROGRESS = "progress.json"  # how far it is; removed at its end
TABLE = "table.csv"  # its rows
OUTCOME = "outcome.json"
"""Outcome, seconds, origin and hashes, written last: a folder that has it is finished."""
FILES = (JOB, TABLE, "fields.json")
"""The files of a finished job; its outcome has their hashes, and its own."""
SUFFIX = ".csv.gz"


class Record(NamedTuple):
    """A finished job: config and origin, and its rows."""

    header: dict[str, Any]
    rows: list[JobRow]


def open_log(folder: Path) -> TextIO:
    """Open a job's log to append to it, making its folder; neither may be a link."""
    refuse_link(folder)
    log = folder / LOG
    make_folder(folder)
    with reported("open", log):
        if os.path.lexists(log) and not (log.is_file() and not log.is_symlink()):
            raise CorruptError(f"{log} is not a regular file; move it away")
        return log.open("a", buffering=1)


def table_bytes(rows: Iterable[JobRow]) -> bytes:
    """Return a job's rows as CSV, exact to the last bit."""
    cells = ([row.seed, row.step, row.metric, repr(float(row.value))] for row in rows)
    return csv_bytes(JobRow._fields, cells)


def read_job_table(folder: Path) -> list[JobRow]:
    """Read the rows of a job from its folder."""
    return _read_rows(folder / TABLE, read_lines(folder / TABLE))


def read_outcome(folder: Path) -> dict[str, Any]:
    """Read how a job ended, every file of it checked against its hash; an old one has none."""
    path = folder / OUTCOME
    outcome = read_sealed(path, lambda data: "files" in data)
    hashes = outcome.pop("files", {})
    try:
        for name in FILES:
            if name in hashes:
                check_hash(folder / name, hashes[name])
    except CorruptError as error:
        raise CorruptError(f"{error}; or remove {path} to run the job again") from None
    return outcome


def pack_record(folder: Path) -> bytes:
    """Return the record of a finished job."""
    outcome = read_outcome(folder)
    header = {"job": read_json(folder / JOB), **outcome}
    line = json.dumps(header, sort_keys=True, ensure_ascii=False)
    table = read_bytes(folder / TABLE, limit=LARGEST)
    return gzip.compress(line.encode() + b"\n" + table, 9, mtime=0)


def read_record(path: Path) -> Record:
    """Read a record from its file; it must be that of the job whose name it has."""
    header, lines = _unpack(path)
    return Record(header, _read_rows(path, lines))


def read_header(path: Path) -> dict[str, Any]:
    """Read the config and origin of a record without its rows."""
    return _unpack(path)[0]


@functools.cache
def origin() -> dict[str, Any]:
    """Return commit, processor and C++ compiler of this machine, as far as they are known."""
    source = Path(__file__).resolve().parent
    compiler = os.environ.get("CXX") or "g++"
    return {
        "commit": _ask("git", "-C", str(source), "rev-parse", "HEAD"),
        "processor": _processor(),
        "compiler": (_ask(compiler, "--version") or "").partition("\n")[0] or None,
    }


def _unpack(path: Path) -> tuple[dict[str, Any], list[str]]:
    stream = zlib.decompressobj(wbits=31)  # of gzip
    try:
        text = stream.decompress(read_bytes(path, limit=LARGEST), LARGEST)
        if not stream.eof:
            raise ValueError(f"cut, or more than {LARGEST} bytes")
        header, *lines = map(printable, text.decode().splitlines())
        data = loads(header.encode(), path)
        name = digest_of(data["job"])
    except (EOFError, zlib.error, ValueError, LookupError) as error:
        raise CorruptError(f"{path} is not a record of a job ({error}); restore it") from None
    if name != path.name.removesuffix(SUFFIX):
        raise CorruptError(f"{path} is the record of another job, {name}; restore or remove it")
    return data, lines


def _read_rows(path: Path, lines: Iterable[str]) -> list[JobRow]:
    reader = csv.reader(lines)
    try:
        if tuple(next(reader)) != JobRow._fields:
            raise ValueError("other headings")
        return [JobRow(int(seed), int(step), name, float(v)) for seed, step, name, v in reader]
    except (StopIteration, ValueError, csv.Error) as error:
        why = str(error)[:80]
        raise CorruptError(f"{path} is not a table of a job ({why}); restore it") from None


def _ask(*command: str) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())
