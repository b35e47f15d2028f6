"""A run directory's files (docs/run-directory.md), read by the standard library alone."""

import json
import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lff.core.errors import BadInputError, CorruptError, StorageError
from lff.report.values import flat

Evaluation = dict[str, Any]
SHEET = "contact_sheet.png"


@dataclass(frozen=True)
class RunFiles:
    """What a page can know of a run."""

    name: str
    config: dict[str, Any]
    """Flat: dotted names and plain values."""
    info: dict[str, Any]
    """Command line, versions and seed of the first start."""
    rows: tuple[dict[str, Any], ...]
    """The rows of the metrics file."""
    evaluations: tuple[Evaluation, ...]
    """Each evaluation, episode by episode, by step."""
    reference: dict[str, list[float | None]]
    """Returns of the random and of the zero policy."""
    finished: bool
    sheet: bytes | None = None
    """The contact sheet of a run from pixels, a PNG."""

    @property
    def env(self) -> str:
        """The task."""
        return str(self.config.get("env", "unknown task"))

    @property
    def seed(self) -> int:
        """The seed."""
        value = self.config.get("seed", 0)
        return value if isinstance(value, int) else 0

    @property
    def step(self) -> int:
        """Environment steps so far."""
        return max((int(row.get("env_step", 0)) for row in self.rows), default=0)

    @property
    def command(self) -> str:
        """The command line of the first start."""
        words = [str(word) for word in self.info.get("command") or ()]
        if words and Path(words[0]).name in ("lff", "__main__.py"):
            words[0] = "lff"
        return shlex.join(words)

    def curve(self, metric: str) -> list[tuple[int, float]]:
        """Return steps and values of a metric; null was not finite."""
        found = [
            (int(r["env_step"]), r[metric]) for r in self.rows if metric in r and "env_step" in r
        ]
        return [(step, as_number(v)) for step, v in found if not isinstance(v, str | list | dict)]

    def reference_mean(self, policy: str) -> float:
        """Return a policy's mean return, NaN if it is unknown."""
        values = [as_number(value) for value in self.reference.get(policy) or ()]
        return sum(values) / len(values) if values else math.nan


def read_run_files(path: Path, *, name: str | None = None) -> RunFiles:
    """Read a run directory, finished or not; nothing in it is written, locked or executed."""
    config = path / "config.json"
    if not config.is_file():
        remedy = "name an experiment or a folder that lff train made"
        raise BadInputError("run", str(path), "a run directory", remedy)
    stored = path / "evaluations"
    files = sorted(stored.glob("[0-9]*.json"))
    reference = stored / "reference.json"
    info = path / "run.json"
    return RunFiles(
        name=name or path.resolve().name,
        config=flat(_object(config)),
        info=_object(info) if info.is_file() else {},
        rows=tuple(_rows(path / "metrics.jsonl")),
        evaluations=tuple(_object(file) for file in files),
        reference=_object(reference) if reference.is_file() else {},
        finished=(path / "checkpoints" / "final" / "manifest.json").is_file(),
        sheet=_bytes(path / SHEET) if (path / SHEET).is_file() else None,
    )


def names_of(paths: Sequence[Path]) -> list[str]:
    """Call runs by their folders' names, or by their paths where those are alike."""
    short = [path.resolve().name for path in paths]
    return short if len({*short}) == len(paths) else [str(path) for path in paths]


def as_number(value: Any) -> float:
    """Return a number of a metrics file, which has null for what is not finite."""
    return float(value) if isinstance(value, int | float) else math.inf


def _object(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(_read(path))
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise CorruptError(f"{path} is no JSON object; restore or remove it")
    return data


def _rows(path: Path) -> list[dict[str, Any]]:
    """Return whole rows; half a row at the end is one that is being written."""
    if not path.is_file():
        return []
    found = []
    for number, line in enumerate(_read(path).split("\n")[:-1], 1):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise CorruptError(f"{path}, line {number} is no row of metrics; restore or remove it")
        found.append(row)
    return found


def _read(path: Path) -> str:
    return _bytes(path).decode(errors="replace")


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error
