"""Trackers beside the files of a run: TensorBoard, Weights & Biases, MLflow.

``metrics.jsonl`` is the truth, and trackers are fed from it, never from the loop.  A sink is asked
to :meth:`~Sink.sync` after every checkpoint and at the end; it then adds the rows that it has not
got yet, of those that the newest checkpoint vouches for.  Rows after that checkpoint would be
written again by a killed run that goes on, so a tracker never sees them twice.  What a sink has got
is asked of the tracker itself, not of a note beside it that a kill could leave wrong:

TensorBoard   one event file per sync, named by its first and last row, there whole or not at all
W&B           offline: the folder is written anew by each start; online: the server's last step
MLflow        the length of each metric's history

Training does not know of them: a tracker that fails is given up with a warning, and neither config
nor metrics depend on one.
"""

import io
import logging
import math
import os
import secrets
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from lff.core.errors import BadInputError
from lff.store import RunDir, kept_metas, read_json, read_rows, write_bytes, write_json
from lff.store.atomic import sync_folder
from lff.store.metrics import STEP
from lff.store.run_dir import STORE

if TYPE_CHECKING:
    from lff.training.loop import Loop

logger = logging.getLogger(__name__)
Row = dict[str, Any]
MOST_METRICS = 1000
"""As many as MLflow takes at a time."""


class Sink(Protocol):
    """Shows a run's metrics elsewhere."""

    def sync(self, run: RunDir) -> None:
        """Add the rows that the tracker has not got yet."""

    def close(self) -> None:
        """Let go of files and connections."""


@dataclass(frozen=True, kw_only=True)
class Trackers:
    """Which trackers a run is shown in.  No part of its config: they change nothing."""

    tensorboard: bool = False
    """Event files in ``RUN/tensorboard``."""
    wandb: str | None = None
    """The W&B project; offline unless WANDB_MODE says otherwise."""
    mlflow: str | None = None
    """A tracking server's address, or a folder that gets a SQLite store."""

    def build(self) -> list[Sink]:
        """Return the sinks; a package that is missing is told with the line that installs it."""
        sinks: list[Sink] = []
        if self.tensorboard:
            sinks.append(TensorBoardSink())
        if self.wandb is not None:
            sinks.append(WandbSink(self.wandb))
        if self.mlflow is not None:
            sinks.append(MlflowSink(self.mlflow))
        return sinks

    @classmethod
    def of(cls, run: RunDir) -> "Trackers":
        """Return the trackers that a run was last started with."""
        file = run.path / NOTE
        stored = read_json(file) if file.exists() else {}
        return cls(**{name: stored[name] for name in asdict(cls()) if name in stored})


NOTE = "trackers.json"
"""Holds the run's name in the trackers and which they are."""


@contextmanager
def tracked(trackers: Trackers, folder: Path | str) -> Iterator[Callable[["Loop", str], None]]:
    """Give a ``watch`` for the loop that feeds the trackers after each checkpoint.

    A run that comes to its end is synced once more, so that a finished one can be shown later by
    starting it again.
    """
    sinks, started = trackers.build(), False

    def each(action: Callable[[Sink], None]) -> None:
        for sink in [*sinks]:
            try:
                action(sink)
            except Exception as error:  # noqa: BLE001 - whatever a tracker raises, training goes on
                sinks.remove(sink)
                name = type(sink).__name__.removesuffix("Sink")
                logger.warning("%s failed, training goes on without it: %s", name, error)

    def watch(run: "Loop", event: str) -> None:
        nonlocal started
        if sinks and not started:
            started = True
            _remember(run.run, trackers)
        if event == "saved":
            each(lambda sink: sink.sync(run.run))

    try:
        yield watch
        if sinks:
            _remember(RunDir(folder), trackers)
            each(lambda sink: sink.sync(RunDir(folder)))
    finally:
        each(lambda sink: sink.close())


def committed_rows(run: RunDir) -> list[Row]:
    """Return the rows that the newest checkpoint vouches for: a resume keeps them."""
    newest = next(kept_metas(run.path), None)
    if newest is None:
        return []
    wanted: int = newest[STORE]["metrics"]["rows"]
    return [row for row, _ in zip(read_rows(run.metrics_file), range(wanted), strict=False)]


def scalars(row: Row) -> dict[str, float]:
    """Return what a tracker can draw; null (NaN or infinity) is NaN, lists stay in the files."""
    return {
        name: math.nan if value is None else float(value)
        for name, value in row.items()
        if name != STEP and (value is None or isinstance(value, int | float))
    }


class TensorBoardSink:
    """Writes event files that ``tensorboard --logdir RUN`` reads."""

    def __init__(self) -> None:
        try:
            from tensorboard.compat.proto.event_pb2 import Event
            from tensorboard.summary.writer.record_writer import RecordWriter
        except ImportError:
            raise _missing("tensorboard") from None
        self._event, self._writer = Event, RecordWriter

    def sync(self, run: RunDir) -> None:
        """Write one more event file, if there are rows after those of the last."""
        folder, rows = run.path / "tensorboard", committed_rows(run)
        folder.mkdir(exist_ok=True)
        first = max((_last_row(path) for path in folder.glob(f"{EVENTS}*")), default=0)
        if first >= len(rows):
            return
        staged = run.path / ".tensorboard.new"  # TensorBoard would open it if it stood there
        write_bytes(staged, self._encode(rows[first:]))
        os.replace(staged, folder / f"{EVENTS}{first:09d}-{len(rows):09d}")  # noqa: PTH105
        sync_folder(folder)

    def close(self) -> None:
        """Nothing is open."""

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


def _last_row(path: Path) -> int:
    return int(path.name.rpartition("-")[2])


class WandbSink:
    """Logs to W&B, row n as step n, drawn over ``env_step``.

    Offline (the default; nothing leaves the machine) the rows go to a folder ``RUN/wandb/`` that
    ``wandb sync`` uploads; each start writes it anew, from the first row.
    """

    def __init__(self, project: str) -> None:
        try:
            import wandb
        except ImportError:
            raise _missing("wandb") from None
        self._project = project
        self._wandb: Any = wandb
        self._run: Any = None
        self._sent = 0

    def sync(self, run: RunDir) -> None:
        """Log the rows that are new."""
        rows = committed_rows(run)
        if self._run is None:
            self._open(run)
        for number in range(self._sent, len(rows)):
            row = rows[number]
            self._run.log({STEP: row[STEP], **scalars(row)}, step=number)
        self._sent = max(self._sent, len(rows))

    def close(self) -> None:
        """Wait until everything is written."""
        if self._run is not None:
            self._run.finish()
            self._run = None

    def _open(self, run: RunDir) -> None:
        name, mode = _identity(run), os.environ.get("WANDB_MODE") or "offline"
        offline = mode != "online"
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
            settings=self._wandb.Settings(
                console="off", disable_code=True, disable_git=True, silent=True
            ),
        )
        self._run.define_metric(STEP)
        self._run.define_metric("*", step_metric=STEP)
        self._sent = 0 if offline else self._run.step


class MlflowSink:
    """Logs to an MLflow server, or to ``mlflow.db`` in a folder."""

    def __init__(self, uri: str) -> None:
        try:
            from mlflow.entities import Metric, Param
            from mlflow.tracking import MlflowClient
        except ImportError:
            raise _missing("mlflow") from None
        if not uri:
            raise BadInputError("mlflow", uri, "an address or a folder", "use --mlflow mlruns")
        self._client_class, self._metric, self._param = MlflowClient, Metric, Param
        self._uri, self._client = uri, None
        self._name = ""
        self._have: Counter[str] = Counter()

    def sync(self, run: RunDir) -> None:
        """Log what the histories there do not hold yet."""
        rows = committed_rows(run)
        if self._client is None:
            self._open(run)
        seen: Counter[str] = Counter()
        new = []
        now = int(1000 * time.time())
        for row in rows:
            for name, value in scalars(row).items():
                seen[name] += 1
                if seen[name] > self._have[name]:
                    new.append(self._metric(name, value, now, row[STEP]))
        client: Any = self._client
        for start in range(0, len(new), MOST_METRICS):
            client.log_batch(self._name, metrics=new[start : start + MOST_METRICS])
        self._have = seen | self._have  # the larger of both
        client.update_run(self._name, "FINISHED" if run.status == "finished" else "RUNNING")

    def close(self) -> None:
        """Forget the connection."""
        self._client = None

    def _open(self, run: RunDir) -> None:
        uri = self._uri
        if "://" not in uri:
            folder = Path(uri).absolute()
            folder.mkdir(parents=True, exist_ok=True)
            uri = f"sqlite:///{folder / 'mlflow.db'}"
        client: Any = self._client_class(tracking_uri=uri)
        found = client.get_experiment_by_name("lff")
        home = found.experiment_id if found else client.create_experiment("lff")
        mark = _identity(run)
        runs = client.search_runs([home], f"tags.`lff.id` = '{mark}'")
        there = (
            runs[0]
            if runs
            else client.create_run(home, tags={"lff.id": mark}, run_name=run.path.name)
        )
        self._name = there.info.run_id
        known = there.data.params
        params = [
            self._param(name, str(value)[:500])
            for name, value in _flat(run.config).items()
            if name not in known
        ]
        for start in range(0, len(params), 100):
            client.log_batch(self._name, params=params[start : start + 100])
        for name in there.data.metrics:
            self._have[name] = len(client.get_metric_history(self._name, name))
        self._client = client


def _remember(run: RunDir, trackers: Trackers) -> None:
    write_json(run.path / NOTE, {"id": _identity(run), **asdict(trackers)})


def _identity(run: RunDir) -> str:
    """Return the name that this run directory has in the trackers, the same at every start."""
    file = run.path / NOTE
    stored = read_json(file).get("id") if file.exists() else None
    if stored is None:
        stored = secrets.token_hex(6)
        write_json(file, {"id": stored})
    return str(stored)


def _flat(data: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in data.items():
        name = f"{prefix}{key}"
        flat |= _flat(value, f"{name}.") if isinstance(value, Mapping) else {name: value}
    return flat


def _missing(extra: str) -> BadInputError:
    return BadInputError(
        extra,
        "no such module",
        f"installed for --{extra}",
        f"pip install 'learned-fourier-features[{extra}]'",
    )
