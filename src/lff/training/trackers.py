"""TensorBoard and Weights & Biases, fed from the files of a run.

Trackers read ``metrics.jsonl``, never the loop.  :meth:`~Tracker.sync` is called after every
checkpoint and at the end; it adds the rows that the tracker lacks, up to those that the newest
checkpoint covers.  Later rows would be written again by a killed run that resumes.  How many rows a
tracker holds is read from the tracker itself, as a counter beside it could be wrong after a kill:

TensorBoard   one event file per sync, named by its first and last row, written atomically
W&B           offline: each start rewrites the folder; online: the server's last step

A tracker that fails is dropped with a warning; config and metrics do not depend on trackers.
"""

import io
import logging
import math
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from lff.core.errors import CorruptError, require_extra
from lff.store import RunDir, kept_metas, read_json, read_rows, write_bytes, write_json
from lff.store.atomic import refuse_link, sync_folder
from lff.store.metrics import STEP
from lff.store.run_dir import STORE

if TYPE_CHECKING:
    from lff.training.loop import Loop

logger = logging.getLogger(__name__)
Row = dict[str, Any]


class Tracker(Protocol):
    """A second place for a run's metrics."""

    def sync(self, run: RunDir) -> None:
        """Add the rows that the tracker lacks."""

    def close(self) -> None:
        """Close files and connections."""


@dataclass(frozen=True, kw_only=True)
class Trackers:
    """Trackers of a run; not part of its config, since they do not affect its results."""

    tensorboard: bool = False
    """also write TensorBoard's event files, into RUN/tensorboard."""
    wandb: str | None = None
    """also log to this W&B project; offline unless WANDB_MODE=online."""

    def build(self) -> list[Tracker]:
        """Return the trackers; the error for a missing package has the line that installs it."""
        board: list[Tracker] = [TensorBoard()] if self.tensorboard else []
        return board if self.wandb is None else [*board, Wandb(self.wandb)]


NOTE = "trackers.json"
"""The run's name in the trackers, and nothing else: which trackers, the command line says."""


@contextmanager
def tracked(trackers: Trackers, folder: Path | str) -> Iterator[Callable[["Loop", str], None]]:
    """Yield a ``watch`` for the loop that syncs the trackers after each checkpoint.

    A run that reaches its end is synced once more, so that starting a finished run again with a
    tracker adds it there.
    """
    active = trackers.build()

    def each(action: Callable[[Tracker], None]) -> None:
        for tracker in [*active]:
            try:
                action(tracker)
            except Exception as error:  # noqa: BLE001 - whatever a tracker raises, training goes on
                active.remove(tracker)
                name = type(tracker).__name__
                logger.warning("%s failed, training goes on without it: %s", name, error)

    def watch(run: "Loop", event: str) -> None:
        if event == "saved":
            each(lambda tracker: tracker.sync(run.run))

    try:
        yield watch
        each(lambda tracker: tracker.sync(RunDir(folder)))
    finally:
        each(lambda tracker: tracker.close())


def committed_rows(run: RunDir) -> list[Row]:
    """Return the rows that the newest checkpoint covers; a resume keeps them."""
    newest = next(kept_metas(run.path), None)
    if newest is None:
        return []
    return [*islice(read_rows(run.metrics_file), newest[STORE]["metrics"]["rows"])]


def scalars(row: Row) -> dict[str, float]:
    """Return the scalars of a row; null (NaN or infinity) becomes NaN, lists are left out."""
    return {
        name: math.nan if value is None else float(value)
        for name, value in row.items()
        if name != STEP and (value is None or isinstance(value, int | float))
    }


class TensorBoard:
    """Event files for ``tensorboard --logdir RUN``."""

    def __init__(self) -> None:
        require_extra("tensorboard", "tensorboard", purpose="--tensorboard")
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.summary.writer.record_writer import RecordWriter

        self._event, self._writer = Event, RecordWriter

    def sync(self, run: RunDir) -> None:
        folder, rows = run.path / "tensorboard", committed_rows(run)
        refuse_link(folder)
        folder.mkdir(exist_ok=True)
        ends = [int(path.name.rpartition("-")[2]) for path in folder.glob(f"{EVENTS}*")]
        first = max(ends, default=0)
        if first >= len(rows):
            return
        staged = run.path / ".tensorboard.new"  # TensorBoard would open it if it stood there
        write_bytes(staged, self._encode(rows[first:]))
        os.replace(staged, folder / f"{EVENTS}{first:09d}-{len(rows):09d}")  # noqa: PTH105
        sync_folder(folder)

    def close(self) -> None:
        """Do nothing: no file stays open."""

    def _encode(self, rows: Sequence[Row]) -> bytes:
        buffer, now = io.BytesIO(), time.time()
        writer = self._writer(buffer)
        writer.write(self._event(wall_time=now, file_version="brain.Event:2").SerializeToString())
        for row in rows:
            event = self._event(wall_time=now, step=row[STEP])
            for name, value in scalars(row).items():
                event.summary.value.add(tag=name, simple_value=value)
            writer.write(event.SerializeToString())
        return buffer.getvalue()


EVENTS = "events.out.tfevents."


QUIET = {"console": "off", "disable_code": True, "disable_git": True, "silent": True}


class Wandb:
    """A W&B run: row n is step n, plotted over ``env_step``.

    Offline (the default; nothing is sent) the rows go to a folder ``RUN/wandb/`` for ``wandb
    sync``; each start rewrites it from the first row.
    """

    def __init__(self, project: str) -> None:
        require_extra("wandb", "wandb", purpose="--wandb")
        import wandb

        self._project = project
        self._wandb: Any = wandb
        self._run: Any = None
        self._sent = 0

    def sync(self, run: RunDir) -> None:
        rows = committed_rows(run)
        if self._run is None:
            self._open(run)
        for number, row in enumerate(rows[self._sent :], self._sent):
            self._run.log({STEP: row[STEP], **scalars(row)}, step=number)
        self._sent = max(self._sent, len(rows))

    def close(self) -> None:
        if self._run is not None:
            self._run.finish()
            self._run = None

    def _open(self, run: RunDir) -> None:
        name, mode = _identity(run), os.environ.get("WANDB_MODE") or "offline"
        offline = mode != "online"
        for own in (run.path / "wandb", run.path / "wandb" / "settings", run.path / ".wandb"):
            refuse_link(own)
            if own.name != "wandb" and own.exists():  # W&B would take the server's address from it
                raise CorruptError(f"{own} is not ours; move it away")
        if offline:
            for folder in (run.path / "wandb").glob(f"offline-run-*-{name}"):
                shutil.rmtree(folder)
        self._run = self._wandb.init(
            project=self._project,
            id=name,
            name=run.path.name,
            dir=run.path,
            config=run.config,
            mode=mode,
            resume=None if offline else "allow",
            settings=self._wandb.Settings(**QUIET),
        )
        self._run.define_metric(STEP)
        self._run.define_metric("*", step_metric=STEP)
        self._sent = 0 if offline else self._run.step


def _identity(run: RunDir) -> str:
    """Return the run directory's name in the trackers, equal at every start."""
    file = run.path / NOTE
    stored = str(read_json(file).get("id")) if file.exists() else ""
    if not re.fullmatch("[0-9a-f]{12}", stored):  # it becomes a part of paths
        stored = secrets.token_hex(6)
        write_json(file, {"id": stored})
    return stored
