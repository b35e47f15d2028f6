"""A run directory describes itself: config, command, versions, metrics, checkpoints, replay.

One process writes to it.  The lock is the operating system's: it dies with its holder.
"""

import contextlib
import os
import re
import socket
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from filelock import FileLock, Timeout

from lff.core import config as configs
from lff.core.errors import BadInputError, BusyError, CorruptError, RunError, StorageError
from lff.store import atomic
from lff.store import checkpoint as checkpoints
from lff.store.checkpoint import CHECKPOINTS, LAYOUT, Checkpoint, check_layout
from lff.store.metrics import STEP, MetricsFile, plain, read_rows, rows_to_csv
from lff.store.segments import SegmentRef, SegmentStore, find_refs

Status = Literal["empty", "started", "finished"]
STORE = "store"
"""The key under which a checkpoint's meta holds the positions in the metrics files."""

LOCK = ".lock"
HOLDER = ".lock-holder.json"
PATIENCE = 2.0
"""Seconds that a loser of the lock waits for the winner to write its name."""
_SECRET = re.compile(r"key|token|secret|passw", re.IGNORECASE)
_START = {"bytes": 0, "rows": 0}
OPENED = ("metrics", "timing", "segments")


class RunLock:
    """Of several starts in one folder exactly one runs; the others raise :class:`BusyError`."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        # a soft lock is a file: it would outlive a killed holder and lock the run for good
        self._lock = FileLock(self.folder / LOCK, timeout=0, fallback_to_soft=False)

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
            name = {"pid": os.getpid(), "host": socket.gethostname()}
            started = datetime.now(UTC).isoformat(timespec="seconds")
            atomic.write_json(self.folder / HOLDER, {**name, "started": started})
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
                holder = atomic.read_json(self.folder / HOLDER)
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


class RunDir:
    """The files of one run.  Looking is free; writing happens within :meth:`start`.

    ``with RunDir(path).start(config, info=...) as run:`` holds the lock; then :meth:`resume` goes
    back to the newest good checkpoint, and :meth:`save` makes the next one.
    """

    metrics: MetricsFile
    """The open metrics file; like the next two, only within :meth:`start`."""
    timing: MetricsFile
    """The open file for what depends on clock and machine."""
    segments: SegmentStore
    """The replay's segments."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.config_file = self.path / "config.json"
        self.info_file = self.path / "run.json"
        self.metrics_file = self.path / "metrics.jsonl"
        self.timing_file = self.path / "timing.jsonl"
        self.csv_file = self.path / "metrics.csv"
        self.checkpoints = self.path / CHECKPOINTS
        self.replay = self.path / "replay"
        self.evaluations = self.path / "evaluations"
        self.reference_file = self.evaluations / "reference.json"
        self.sheet_file = self.path / "contact_sheet.png"

    def __getattr__(self, name: str) -> Any:
        """Say how to open what :meth:`start` opens; called for an attribute that is not there."""
        if name in OPENED:
            raise RunError(f"{self.path} is not open for writing; use `with run.start(...)`")
        raise AttributeError(name)

    @property
    def status(self) -> Status:
        """``empty``: no run yet; ``finished``: the final checkpoint is the newest; else started."""
        if not os.path.lexists(self.config_file):
            return "empty"
        self._check_layout()
        return "started" if checkpoints.final_step(self.path) is None else "finished"

    @property
    def config(self) -> dict[str, Any]:
        """The config as plain data, for ``from_dict``."""
        self._check_layout()
        return atomic.read_json(self.config_file)

    @property
    def info(self) -> dict[str, Any]:
        """Command line, versions and seed of the first start; ``restarts`` lists the later ones."""
        return atomic.read_json(self.info_file)

    @property
    def reference(self) -> dict[str, Any]:
        """Returns of the random and of the zero policy; empty if they were not played."""
        return atomic.read_json(self.reference_file) if self.reference_file.exists() else {}

    @contextlib.contextmanager
    def start(
        self, config: Any, *, info: Mapping[str, Any], may_differ: Collection[str] = ()
    ) -> Iterator[Self]:
        """Create the directory, or open it again for the same config, and hold its lock.

        Args:
            config: the run's frozen dataclass.
            info: command line (``command``), ``versions``, ``seed``, whatever tells how it was run.
                Values that follow an option named like a key, token, secret or password are
                replaced by ``***``.
            may_differ: dotted names of config fields that this start may change (``steps``, to go
                on with a finished run); its final checkpoint then becomes an ordinary one.

        Raises:
            BusyError: another process runs here.
            BadInputError: the folder holds another run, or something else.
            StorageError: the disk refused.
        """
        text = _text(config)
        self.refuse_links()  # before anything is written
        self._refuse_strangers()
        with atomic.reported("create", self.path):
            self.path.mkdir(parents=True, exist_ok=True)
        with RunLock(self.path), contextlib.ExitStack() as stack:
            self._refuse_strangers()
            self._refuse_other_config(config, text, may_differ)
            self._lay_out(text, info)
            for name in OPENED:
                stack.callback(vars(self).pop, name, None)
            self.metrics = stack.enter_context(closing(MetricsFile(self.metrics_file)))
            self.timing = stack.enter_context(closing(MetricsFile(self.timing_file)))
            self.segments = SegmentStore(self.replay)
            yield self

    def resume(self) -> Checkpoint | None:
        """Go back to the newest good checkpoint (None: to the very start), and return it.

        Rows, segments and evaluations after it are removed: the run will write them again.  What a
        killed :meth:`save` had still to do (tidy up, write the CSV) is done.
        """
        checkpoints.adopt(self.path)
        found = checkpoints.load_latest(self.path, check=self._check_replay)
        positions = found.meta.get(STORE, {}) if found else {}
        for name in ("metrics", "timing"):
            position: Any = _START
            if found:
                position = positions.get(name) if isinstance(positions, Mapping) else None
            if not isinstance(position, Mapping):
                where = found and found.path
                raise CorruptError(f"{where} lacks {name}'s position; it was not written by lff")
            getattr(self, name).truncate(position)
        if found and not found.passed_over:  # a damaged one stays until it is written again
            checkpoints.prune(self.path, found.step)
        refs = [*find_refs(found.meta)] if found else []
        self.segments.rewind(refs, protected=self._in_use())
        if refs:
            self.drop_replay_before(min(refs, key=lambda ref: ref.segment))
        last = found.step if found else -1
        evaluations = [p for p in self.evaluations.glob("*.json") if p.stem.isdecimal()]
        atomic.remove(path for path in evaluations if int(path.stem) > last)
        if self.status == "finished":
            self.write_csv()
        return found

    def save(
        self,
        step: int,
        arrays: Mapping[str, np.ndarray],
        meta: Mapping[str, Any],
        *,
        final: bool = False,
    ) -> Path:
        """Write a checkpoint that knows where the metrics stood; a final one also writes the CSV.

        References to segments may stand anywhere in ``meta``.
        """
        if STORE in meta:
            raise BadInputError("meta", STORE, "free of the store's own key", "rename that key")
        files = {"metrics": self.metrics, "timing": self.timing}
        for file in files.values():
            file.sync()
        positions = {name: file.position for name, file in files.items()}
        path = checkpoints.save(self.path, step, arrays, {**meta, STORE: positions}, final=final)
        if final:
            self.write_csv()
        return path

    def drop_replay_before(self, first: SegmentRef) -> int:
        """Delete segments older than ``first`` that no kept checkpoint refers to."""
        return self.segments.drop_before(first, protected=self._in_use())

    def write_evaluation(self, step: int, results: Mapping[str, Any]) -> Path:
        """Write ``evaluations/000012345.json``: equal results, equal bytes, NaN as null."""
        path = self.evaluations / f"{step:09d}.json"
        atomic.write_json(path, plain({**results, STEP: step}))
        return path

    def write_csv(self) -> None:
        """Write ``metrics.csv``, the rows of ``metrics.jsonl`` as one wide table."""
        rows_to_csv([*read_rows(self.metrics_file)], self.csv_file)

    def drift(self, versions: Mapping[str, str]) -> dict[str, tuple[str | None, str | None]]:
        """Return the packages whose version differs from the first start's: then and now."""
        then = self.info.get("versions", {})
        names = sorted({*then, *versions})
        pairs = {name: (then.get(name), versions.get(name)) for name in names}
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}

    def _check_replay(self, checkpoint: Checkpoint) -> None:
        for _ in self.segments.each(find_refs(checkpoint.meta)):
            pass

    def _in_use(self) -> list[SegmentRef]:
        return [*find_refs([*checkpoints.kept_metas(self.path)])]

    def refuse_links(self) -> None:
        """Raise if a folder in here is a link: its files would be those of another place."""
        for folder in (self.checkpoints, self.replay, self.evaluations):
            atomic.refuse_link(folder)

    def _check_layout(self) -> None:
        """Refuse a run of another layout, before anything of it is read or written."""
        if os.path.lexists(self.info_file):
            check_layout(self.path, self.info.get("layout", 1))

    def _refuse_strangers(self) -> None:
        if self.config_file.exists() or not self.path.is_dir():
            return
        with atomic.reported("read", self.path):
            names = {path.name for path in self.path.iterdir() if path.suffix != atomic.TEMPORARY}
        found = names - {LOCK, HOLDER, CHECKPOINTS, "replay", "evaluations"}
        own = {self.info_file.name, self.metrics_file.name, self.timing_file.name}
        if found - own or any(self.path.glob(f"{CHECKPOINTS}/*")):
            listed = ", ".join(sorted(found)[:3]) or CHECKPOINTS
            constraint = f"empty or a run (here are {listed} and no {self.config_file.name})"
            raise BadInputError("dir", str(self.path), constraint, "use another --dir")

    def _refuse_other_config(self, config: Any, text: bytes, may_differ: Collection[str]) -> None:
        if not self.config_file.exists():
            return
        self._check_layout()
        stored = atomic.read_bytes(self.config_file)
        if stored == text:
            return
        # else compared as it stands
        with contextlib.suppress(BadInputError, CorruptError), atomic.understood(self.path):
            stored = _text(configs.from_json(type(config), stored.decode()))  # with newer fields
        there, here = (atomic.flat(atomic.loads(data, self.config_file)) for data in (stored, text))
        names = sorted(n for n in {*there, *here} if there.get(n) != here.get(n))
        other = [n for n in names if n not in may_differ]
        if other:
            pairs = [(n, str(there.get(n))[:40], str(here.get(n))[:40]) for n in other[:5]]
            list_ = ", ".join(f"{n[:40]} ({then} there, {now} here)" for n, then, now in pairs)
            more = f" and {len(other) - 5} more" if len(other) > 5 else ""
            constraint = f"of a run of the same config: it differs in {list_}{more}"
            raise BadInputError("dir", str(self.path), constraint, "use another --dir")
        if names:
            checkpoints.reopen(self.path)
        atomic.write_bytes(self.config_file, text)

    def _lay_out(self, text: bytes, info: Mapping[str, Any]) -> None:
        for folder in (self.checkpoints, self.replay, self.evaluations):
            with atomic.reported("create", folder):
                folder.mkdir(exist_ok=True)
        for folder in (self.path, self.replay, self.evaluations):
            atomic.remove_temporaries(folder)
        stored: dict[str, Any] = {"layout": LAYOUT, **_without_secrets(info)}
        if self.config_file.exists() and self.info_file.exists():
            first = self.info
            before = first.get("restarts")
            restarts = before if isinstance(before, list) else []
            stored = {**first, "restarts": [*restarts, _without_secrets(info)]}
        atomic.write_json(self.info_file, stored)
        if not self.config_file.exists():  # last: a folder with a config is a run
            atomic.write_bytes(self.config_file, text)
            atomic.sync_folder(self.path.parent)


def find_run(path: Path | str) -> RunDir:
    """Return the run directory at ``path``; raise if there is none, or one of another layout."""
    run = RunDir(path)
    run.refuse_links()
    if run.status == "empty":
        raise BadInputError("run", str(path), "a run directory", "start one with lff train")
    return run


def _text(config: Any) -> bytes:
    return configs.to_json(config).encode() + b"\n"


def _without_secrets(info: Mapping[str, Any]) -> dict[str, Any]:
    command = info.get("command")
    if not isinstance(command, Sequence) or isinstance(command, str):
        return dict(info)
    shown, hide = [], False
    for word in map(str, command):
        option, equals, _ = word.partition("=")
        secret = bool(_SECRET.search(option)) and (word.startswith("-") or bool(equals))
        if hide and not word.startswith("-"):
            shown.append("***")
        else:
            shown.append(f"{option}=***" if secret and equals else word)
        hide = secret and not equals
    return {**info, "command": shown}
