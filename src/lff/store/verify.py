"""Verification of a run directory: every byte of it against the hashes that were stored with it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from lff.core.errors import CorruptError, StorageError
from lff.store import atomic
from lff.store import checkpoint as checkpoints
from lff.store.lock import HOLDER, LOCK
from lff.store.metrics import prefix, read_rows, rows_to_csv
from lff.store.run_dir import FILES, STORE, RunDir, check_hash
from lff.store.segments import SegmentStore, find_refs

State = Literal["ok", "damaged", "no hash"]


class Finding(NamedTuple):
    """A file or checkpoint, and whether it is what was written."""

    path: Path
    state: State
    why: str = ""


def check(path: Path, read: Callable[..., Any], *values: Any, hashed: bool = True) -> Finding:
    """Return whether reading a file raises an error; one without a hash is at most readable."""
    try:
        read(*values)
    except StorageError as error:
        return Finding(path, "damaged", str(error))
    return Finding(path, "ok" if hashed else "no hash")


def verify_run(folder: Path) -> list[Finding]:
    """Check every file of a run directory; the run may go on meanwhile.

    Rows and evaluations after the newest checkpoint have no hash yet: a run that resumes writes
    them again.  A file that is not ours has none either.
    """
    found: dict[Path, Finding] = {}
    for finding in _findings(RunDir(folder)):
        if finding.state == "damaged" or finding.path not in found:
            found[finding.path] = finding
    return [*found.values(), *unhashed(folder, {*found})]


def unhashed(folder: Path, known: set[Path]) -> Iterator[Finding]:
    """Yield the files below a folder that no finding names, and no finding of a folder covers."""
    for path in sorted(folder.rglob("*")):
        own = path.name in (LOCK, HOLDER) or not path.is_file()
        if not own and not known & {path, *path.parents}:
            yield Finding(path, "no hash")


def _has_seal(path: Path) -> bool:
    """Return whether a file has its hash in itself."""
    try:
        return atomic.SEAL.encode() in atomic.read_bytes(path)
    except StorageError:
        return False


def _findings(run: RunDir) -> Iterator[Finding]:
    yield check(run.info_file, lambda: run.info, hashed=_has_seal(run.info_file))
    yield check(run.config_file, lambda: run.config, hashed=bool(run.config_hashes()))
    segments = SegmentStore(run.replay) if run.replay.is_dir() else None
    newest = True
    for path in checkpoints.plain(run.path):
        try:
            found = checkpoints.load(path)
        except StorageError as error:
            if path.exists():  # else the run went on, and dropped it
                yield Finding(path, "damaged", str(error))
            continue
        yield Finding(path, "ok")
        for ref in find_refs(found.meta):
            if segments:
                yield check(run.replay / ref.name, segments.read, [ref])
        if newest:
            yield from _beside(run, found.meta.get(STORE))
        newest = False
    if run.status == "finished":
        yield check(run.csv_file, _check_csv, run)


def _beside(run: RunDir, store: Any) -> Iterator[Finding]:
    """Yield what the newest good checkpoint says of the other files."""
    store = store if isinstance(store, dict) else {}
    for name, path in (("metrics", run.metrics_file), ("timing", run.timing_file)):
        at = store.get(name)
        hashed = isinstance(at, dict) and "sha256" in at
        yield check(path, _check_rows, path, at, hashed=hashed)
    files = store.get(FILES)
    for name, sha256 in (files if isinstance(files, dict) else {}).items():
        yield check(run.path / name, check_hash, run.path / name, sha256)


def _check_rows(path: Path, position: Any) -> None:
    prefix(path, position)
    for _ in read_rows(path):
        pass


def _check_csv(run: RunDir) -> None:
    if atomic.read_bytes(run.csv_file) != rows_to_csv([*read_rows(run.metrics_file)]):
        raise CorruptError(f"{run.csv_file} is not the table of the metrics; start the run again")
