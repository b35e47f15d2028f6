"""One process per run directory.  The lock is the operating system's: it dies with its holder."""

import os
import socket
import time
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from filelock import FileLock, Timeout

from lff.core.errors import BusyError, CorruptError, StorageError
from lff.store.atomic import read_json, reported, write_json

LOCK = ".lock"
HOLDER = ".lock-holder.json"
PATIENCE = 2.0
"""Seconds that a loser waits for the winner to write its name."""


class RunLock:
    """Of several starts in one folder exactly one runs; the others raise :class:`BusyError`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, RunLock(Path(folder)):
    ...     try:
    ...         RunLock(Path(folder)).__enter__()
    ...     except BusyError as error:
    ...         print(f"pid {os.getpid()}" in str(error))
    True
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        # a soft lock is a file: it would outlive a killed holder and lock the run for good
        self._lock = FileLock(self.folder / LOCK, timeout=0, fallback_to_soft=False)

    def __enter__(self) -> Self:
        with reported("lock", self.folder):
            try:
                self._lock.acquire()
            except Timeout:
                raise BusyError(self._busy()) from None
        try:
            write_json(self.folder / HOLDER, _this_process())
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            (self.folder / HOLDER).unlink(missing_ok=True)
        except OSError:
            pass  # a stale name is harmless: the next holder overwrites it
        finally:
            self._lock.release()

    def _busy(self) -> str:
        holder = self._holder()
        if holder is None:
            who = "another process, which has not said its name"
        else:
            who = f"pid {holder['pid']} on {holder['host']} since {holder['started']}"
        return f"{self.folder} is in use by {who}; wait for it, stop it, or use another --dir"

    def _holder(self) -> dict[str, Any] | None:
        """Return who holds the lock; the name may come a moment after the lock, or be a dead's."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                holder = read_json(self.folder / HOLDER)
                if {"pid", "host", "started"} <= {*holder} and not _is_dead(holder):
                    return holder
            except (StorageError, CorruptError):
                pass
            if time.monotonic() > deadline:
                return None
            time.sleep(0.02)


def _this_process() -> dict[str, Any]:
    return {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _is_dead(holder: dict[str, Any]) -> bool:
    if holder["host"] != socket.gethostname():
        return False
    try:
        os.kill(int(holder["pid"]), 0)
    except ProcessLookupError:
        return True
    except (OSError, ValueError, TypeError):
        return False
    return False
