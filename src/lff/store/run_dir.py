"""A run directory describes itself: config, command, versions, metrics, checkpoints, replay.

Every byte that is kept has a hash: those of a checkpoint in its manifest; those of the metrics up
to it, of the replay, the evaluations and the reference in its meta; that of the config in
``run.json``, which holds its own.  ``lff.store.verify`` checks all of them.
"""

import contextlib
import logging
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Literal, Self

from lff.core import config as configs
from lff.core.errors import BadInputError, CorruptError, RunError, StorageError
from lff.store import atomic
from lff.store import checkpoint as checkpoints
from lff.store.checkpoint import CHECKPOINTS, LAYOUT, UNSEALED, Checkpoint, check_layout
from lff.store.lock import HOLDER, LOCK, RunLock
from lff.store.metrics import STEP, MetricsFile, plain, prefix, read_rows, rows_to_csv
from lff.store.segments import SegmentRef, SegmentStore, find_refs

Status = Literal["empty", "started", "finished"]
STORE = "store"
"""The key under which a checkpoint's meta holds positions in the metrics files, and hashes."""
FILES = "files"
"""The key within, for the hashes of evaluations, reference and contact sheet by name."""
CONFIG_HASH = "config_sha256"
"""The key of ``run.json`` for the hash of the config, of each start."""
_SECRET = re.compile(r"key|token|secret|passw", re.IGNORECASE)
_START = {"bytes": 0, "rows": 0}
OPENED = ("metrics", "timing", "segments")

logger = logging.getLogger(__name__)


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
        text = atomic.read_bytes(self.config_file, limit=atomic.LARGEST)
        if (known := self.config_hashes()) and atomic.sha256(text) not in known:
            remedy = "restore it, or start again by the command that started the run"
            raise CorruptError(f"{self.config_file} is not what was written; {remedy}")
        config: dict[str, Any] = atomic.loads(text, self.config_file)
        return config

    @property
    def info(self) -> dict[str, Any]:
        """Command line, versions and seed of the first start; ``restarts`` lists the later ones."""
        return atomic.read_sealed(self.info_file, self._must_be_sealed)

    def _must_be_sealed(self, stored: Mapping[str, Any]) -> bool:
        if atomic.SEAL not in stored:
            check_layout(self.path, stored.get("layout", 1))
        return stored.get("layout") != UNSEALED

    def config_hashes(self) -> list[str]:
        """Return the hashes of the configs of all starts; none if ``run.json`` does not say."""
        try:
            info = self.info
        except StorageError:
            return []
        later = info.get("restarts")
        starts = [info, *(later if isinstance(later, list) else [])]
        return [s[CONFIG_HASH] for s in starts if isinstance(s, dict) and CONFIG_HASH in s]

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
        atomic.make_folder(self.path)
        with RunLock(self.path), contextlib.ExitStack() as stack:
            self._refuse_strangers()
            self._refuse_other_config(config, text, may_differ)
            self._lay_out(text, info)
            for name in OPENED:
                stack.callback(vars(self).pop, name, None)
            self.metrics = stack.enter_context(closing(MetricsFile(self.metrics_file)))
            self.timing = stack.enter_context(closing(MetricsFile(self.timing_file)))
            self.segments = SegmentStore(self.replay)
            self._files: dict[str, str] = {}
            yield self

    def resume(self) -> Checkpoint | None:
        """Go back to the newest good checkpoint (None: to the very start), and return it.

        Rows, segments and evaluations after it are removed: the run will write them again.  What a
        killed :meth:`save` had still to do (tidy up, write the CSV) is done.
        """
        checkpoints.adopt(self.path)
        found = checkpoints.load_latest(self.path, check=self._check)
        positions = found.meta[STORE] if found else {}
        self.metrics.truncate(positions.get("metrics", _START))
        try:
            self.timing.truncate(positions.get("timing", _START))
        except CorruptError as error:
            logger.warning("%s; its rows are dropped, the run goes on", error)
            self.timing.truncate(_START)
        if found and not found.passed_over:  # a damaged one stays until it is written again
            checkpoints.prune(self.path, found.step)
        refs = [*find_refs(found.meta)] if found else []
        self.segments.rewind(refs, protected=self._in_use())
        if refs:
            self.drop_replay_before(min(refs, key=lambda ref: ref.segment))
        self._go_back(found.step if found else -1, {} if found is None else positions.get(FILES))
        if self.status == "finished":
            self.write_csv()
        return found

    def _go_back(self, last: int, files: dict[str, str] | None) -> None:
        """Remove evaluations after the step ``last``; report what is not what was written.

        A damaged reference is removed: it can be played again.  A checkpoint of an older layout has
        no hashes, None.
        """
        evaluations = [p for p in self.evaluations.glob("*.json") if p.stem.isdecimal()]
        atomic.remove(path for path in evaluations if int(path.stem) > last)
        if files is None:
            return
        self._files = dict(files)
        for name in files:
            try:
                check_hash(self.path / name, files[name])
            except StorageError as error:
                logger.warning("%s; the run goes on", error)
                if name == self._name(self.reference_file):
                    atomic.remove([self.reference_file])
        if not self.has_hash(self.sheet_file):
            atomic.remove([self.sheet_file])

    def has_hash(self, path: Path) -> bool:
        """Return whether the next checkpoint already knows what was written to a file."""
        return self._name(path) in self._files

    def save(
        self, step: int, arrays: atomic.Arrays, meta: Mapping[str, Any], *, final: bool = False
    ) -> Path:
        """Write a checkpoint that knows what the metrics held; a final one also writes the CSV.

        References to segments may stand anywhere in ``meta``.
        """
        if STORE in meta:
            raise BadInputError("meta", STORE, "free of the store's own key", "rename that key")
        files = {"metrics": self.metrics, "timing": self.timing}
        for file in files.values():
            file.sync()
        for written in (self.reference_file, self.sheet_file):
            if written.exists() and not self.has_hash(written):
                self._files[self._name(written)] = atomic.sha256(atomic.read_bytes(written))
        store = {name: file.position for name, file in files.items()} | {FILES: self._files}
        path = checkpoints.save(self.path, step, arrays, {**meta, STORE: store}, final=final)
        if final:
            self.write_csv()
        return path

    def drop_replay_before(self, first: SegmentRef) -> int:
        """Delete segments older than ``first`` that no kept checkpoint refers to."""
        return self.segments.drop_before(first, protected=self._in_use())

    def write_evaluation(self, step: int, results: Mapping[str, Any]) -> Path:
        """Write ``evaluations/000012345.json``: equal results, equal bytes, NaN as null."""
        path = self.evaluations / f"{step:09d}.json"
        data = atomic.dumps(path.name, plain({**results, STEP: step}), indent=2)
        atomic.write_bytes(path, data)
        self._files[self._name(path)] = atomic.sha256(data)
        return path

    def write_csv(self) -> None:
        """Write ``metrics.csv``, the rows of ``metrics.jsonl`` as one wide table."""
        atomic.write_bytes(self.csv_file, rows_to_csv([*read_rows(self.metrics_file)]))

    def drift(self, versions: Mapping[str, str]) -> dict[str, tuple[str | None, str | None]]:
        """Return the packages whose version differs from the first start's: then and now."""
        then = self.info.get("versions", {})
        names = sorted({*then, *versions})
        pairs = {name: (then.get(name), versions.get(name)) for name in names}
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}

    def _name(self, path: Path) -> str:
        return path.relative_to(self.path).as_posix()

    def _check(self, checkpoint: Checkpoint) -> None:
        """Raise unless a run can go on from a checkpoint: its replay and metrics are there."""
        for _ in self.segments.each(find_refs(checkpoint.meta)):
            pass
        store = checkpoint.meta.get(STORE)
        if not isinstance(store, dict):
            raise CorruptError(f"{checkpoint.path} lacks positions in the metrics; it is not ours")
        prefix(self.metrics_file, store.get("metrics"))

    def _in_use(self) -> list[SegmentRef]:
        return [*find_refs([*checkpoints.kept_metas(self.path)])]

    def refuse_links(self) -> None:
        """Raise if a folder in here is a link: its files would be those of another place."""
        for folder in (self.checkpoints, self.replay, self.evaluations):
            atomic.refuse_link(folder)

    def _check_layout(self) -> None:
        """Refuse a run of another layout, before anything of it is read or written."""
        if os.path.lexists(self.info_file):
            # a damaged one is informational: it is reported, and written anew, at a start
            with contextlib.suppress(CorruptError):
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
        stored, known = atomic.read_bytes(self.config_file), self.config_hashes()
        if stored == text:
            return
        if known[-1:] == [atomic.sha256(text)] and atomic.sha256(stored) not in known:
            logger.warning("%s is not what was written; written again", self.config_file)
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

    def _lay_out(self, text: bytes, info: Mapping[str, Any]) -> None:
        for folder in (self.checkpoints, self.replay, self.evaluations):
            with atomic.reported("create", folder):
                folder.mkdir(exist_ok=True)
        for folder in (self.path, self.replay, self.evaluations):
            atomic.remove_temporaries(folder)
        start = {**_without_secrets(info), CONFIG_HASH: atomic.sha256(text)}
        stored: dict[str, Any] = {"layout": LAYOUT, **start}
        if self.config_file.exists() and self.info_file.exists():
            try:
                first = self.info
                before = first.get("restarts")
                restarts = [*(before if isinstance(before, list) else []), start]
                stored = {**first, "layout": LAYOUT, "restarts": restarts}
            except CorruptError as error:
                logger.warning("%s; written anew, without the earlier starts", error)
        atomic.write_json(self.info_file, atomic.seal(stored))
        # last: a folder with a config is a run; and never a config whose hash is not known yet
        if not self.config_file.exists() or atomic.read_bytes(self.config_file) != text:
            atomic.write_bytes(self.config_file, text)


def find_run(path: Path | str) -> RunDir:
    """Return the run directory at ``path``; raise if there is none, or one of another layout."""
    run = RunDir(path)
    run.refuse_links()
    if run.status == "empty":
        raise BadInputError("run", str(path), "a run directory", "start one with lff train")
    return run


def check_hash(path: Path, sha256: str) -> None:
    """Raise unless a file is there and has this hash."""
    if not path.exists():
        raise CorruptError(f"{path} is missing; restore it from a backup")
    if atomic.sha256(atomic.read_bytes(path)) != sha256:
        raise CorruptError(f"{path} is not what was written; restore it from a backup")


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
