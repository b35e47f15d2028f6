"""One process per run directory.  The lock is the operating system's: it dies with its holder."""

import contextlib
import os
import socket
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from filelock import FileLock, Timeout

from lff.core.errors import BusyError, StorageError
from lff.store.atomic import read_json, reported, write_json

LOCK = ".lock"
HOLDER = ".lock-holder.json"
PATIENCE = 2.0
"""Seconds that a loser waits for the winner to write its name."""


class RunLock:
    """Of several starts in one folder exactly one runs; the others raise :class:`BusyError`."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        # a soft lock is a file: it would outlive a killed holder and lock the run for good
        self._lock = FileLock(self.folder / LOCK, timeout=0, fallback_to_soft=False)

    def __enter__(self) -> Self:
        with reported("lock", self.folder):
            try:
                self._lock.acquire()
            except Timeout:
                text = f"{self.folder} is in use by {self._holder()}"
                raise BusyError(f"{text}; wait for it, stop it, or use another --dir") from None
        try:
            name = {"pid": os.getpid(), "host": socket.gethostname()}
            started = datetime.now(UTC).isoformat(timespec="seconds")
            write_json(self.folder / HOLDER, {**name, "started": started})
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):  # a stale name: the next holder overwrites it
            (self.folder / HOLDER).unlink(missing_ok=True)
        self._lock.release()

    def _holder(self) -> str:
        """Return who holds the lock; the name may come a moment after the lock, or be a dead's."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            with contextlib.suppress(StorageError, LookupError):
                holder = read_json(self.folder / HOLDER)
                who = f"pid {holder['pid']} on {holder['host']} since {holder['started']}"
                if not _is_dead(holder):
                    return who
            time.sleep(0.02)
        return "another process, which has not said its name"


def _is_dead(holder: dict[str, Any]) -> bool:
    if holder["host"] != socket.gethostname():
        return False
    try:
        with contextlib.suppress(PermissionError, ValueError, TypeError):
            os.kill(int(holder["pid"]), 0)
    except ProcessLookupError:
        return True
    return False
