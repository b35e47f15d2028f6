"""The lock of a folder: one process writes.  It is the system's, and dies with its holder."""

import contextlib
import os
import socket
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from filelock import FileLock, Timeout

from lff.core.errors import BusyError, CorruptError, StorageError
from lff.core.memory import system_file
from lff.store import atomic

LOCK = ".lock"
HOLDER = ".lock-holder.json"
PATIENCE = 2.0
"""Seconds that a loser of the lock waits for the winner to write its name."""


class RunLock:
    """Of several starts in one folder exactly one runs; the others raise :class:`BusyError`.

    The lock is on the file, not on its name: whoever deletes ``.lock`` while a run goes on does not
    free it.  The next start would lock a new file; the holder's note names the one that he locked.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        self._inode = -1
        # a soft lock is a file: it would outlive a killed holder and lock the run for good
        self._lock = FileLock(
            self.folder / LOCK, timeout=0, fallback_to_soft=False, on_acquired=self._note_inode
        )

    def __enter__(self) -> Self:
        if (self.folder / LOCK).exists() and not (self.folder / LOCK).is_file():
            raise CorruptError(f"{self.folder / LOCK} is not a regular file; move it away")
        with atomic.reported("lock", self.folder):
            try:
                self._lock.acquire()
            except Timeout:
                text = f"{self.folder} is in use by {self._holder()}"
                raise BusyError(f"{text}; wait for it, stop it, or use another --dir") from None
        try:
            self._refuse_other_holder()
            name = {"pid": os.getpid(), "host": socket.gethostname(), "boot": _boot()}
            started = datetime.now(UTC).isoformat(timespec="seconds")
            note = {**name, "started": started, "inode": self._inode}
            atomic.write_json(self.folder / HOLDER, note)
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):  # a stale name: the next holder overwrites it
            (self.folder / HOLDER).unlink(missing_ok=True)
        self._lock.release()

    def _note_inode(self, descriptor: int) -> None:
        self._inode = os.fstat(descriptor).st_ino

    def _refuse_other_holder(self) -> None:
        """Raise if a live process may hold a lock file that stood here before this one."""
        with atomic.reported("lock", self.folder):
            replaced = os.stat(self.folder / LOCK).st_ino != self._inode  # noqa: PTH116
        holder: dict[str, Any] = {}
        with contextlib.suppress(StorageError):  # none, or damaged: it names nobody
            holder = atomic.read_json(self.folder / HOLDER)
        if replaced or (holder.get("inode", self._inode) != self._inode and not _is_dead(holder)):
            who = " on ".join(str(holder.get(name, "?"))[:80] for name in ("pid", "host"))
            text = f"{self.folder} is in use by pid {who}, whose {LOCK} was deleted or is a copy"
            raise BusyError(f"{text}; if that process is gone, remove {self.folder / HOLDER}")

    def _holder(self) -> str:
        """Return who holds the lock; the name may come a moment after the lock, or be a dead's."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            with contextlib.suppress(StorageError, LookupError):
                holder = atomic.read_json(self.folder / HOLDER)
                who = f"pid {holder['pid']} on {holder['host']} since {holder['started']}"
                if not _is_dead(holder):
                    return who
            time.sleep(0.02)
        return "another process, which has not said its name"


def _boot() -> str:
    """Return what names this start of the machine, or nothing where the system does not say."""
    return system_file(Path("/proc/sys/kernel/random/boot_id")).strip()


def _is_dead(holder: dict[str, Any]) -> bool:
    if holder.get("host") != socket.gethostname():
        return False
    if holder.get("boot", _boot()) != _boot():
        return True
    try:
        with contextlib.suppress(PermissionError, ValueError, TypeError, OverflowError):
            os.kill(int(holder.get("pid", "")), 0)
    except ProcessLookupError:
        return True
    return False
