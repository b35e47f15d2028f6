"""One reader of run directories, without torch: for comparisons, summaries and pages."""

import math
import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lff.core.errors import printable
from lff.stats.metrics import Role
from lff.store import find_run, flat, read_json, read_rows
from lff.store.atomic import LARGEST, read_bytes, shown

RETURN = "eval/return"
PLAIN = {"identity", "no-front", "matched-conv1x1"}  # types of fronts that an MLP and a CNN have
Curve = list[tuple[int, float]]


@dataclass(frozen=True)
class Run:
    """The config of a run and its measurements so far."""

    name: str
    config: dict[str, Any]
    """Flat: dotted names and plain values."""
    info: dict[str, Any]
    """Command line, versions and seed of the first start."""
    rows: tuple[dict[str, Any], ...]
    """Of the metrics file."""
    timing: tuple[dict[str, Any], ...]
    evaluations: tuple[dict[str, Any], ...]
    """Each evaluation, episode by episode, in order of steps."""
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
    def role(self) -> Role:
        """The role of its network in a comparison, by its fronts but the actor's."""
        names = [name for name in self.config if name.endswith("front.type")]
        fronts = {str(self.config[name]) for name in names if ".actor." not in name}
        if any("control" in front or front == "tanh" for front in fronts):
            return "control"
        if any("fourier" in front for front in fronts):
            return "ours"
        plain = fronts <= PLAIN and not self.config.get("algo.regularizers")
        return "baseline" if plain else "rival"

    @property
    def steps(self) -> int:
        """Environment steps so far."""
        return max((int(row.get("env_step", 0)) for row in self.rows), default=0)

    @property
    def command(self) -> str:
        """The command line of the first start."""
        words = [str(word) for word in self.info.get("command") or ()]
        if words and Path(words[0]).name in ("lff", "__main__.py"):
            words[0] = "lff"
        return shlex.join(words)

    @property
    def returns(self) -> Curve:
        """Steps and mean returns of the evaluations; minus infinity where not finite."""
        return self.curve(RETURN, bad=-math.inf)

    @property
    def last_episodes(self) -> list[float]:
        """Returns of the last evaluation, episode by episode; empty if they are not stored."""
        match self.evaluations[-1:]:
            case ({"returns": [*values]},):
                return [as_number(value, bad=-math.inf) for value in values]
        return []

    @property
    def episodes(self) -> int:
        """Episodes of training that had ended at the last row that counts them."""
        counts = [row["episode"] for row in self.rows if isinstance(row.get("episode"), int)]
        return max(counts, default=0)

    @property
    def q_max(self) -> float | None:
        """Largest ``|Q|`` of the whole run; infinite if it was ever not finite."""
        return max((value for _, value in self.curve("train/q_max")), default=None)

    @property
    def steps_per_second(self) -> float | None:
        """Speed of the last start."""
        return _last(self.timing, "steps_per_second")

    @property
    def time_shares(self) -> dict[str, float]:
        """Shares of the last start's time, by what it was spent on."""
        row = self.timing[-1] if self.timing else {}
        shares = {n.removeprefix("share/"): v for n, v in row.items() if n.startswith("share/")}
        return {name: as_number(v) for name, v in shares.items() if not isinstance(v, str)}

    def curve(self, metric: str, *, bad: float = math.inf) -> Curve:
        """Return steps and values of a metric; ``bad`` stands for values that are not finite."""
        return [
            (int(row["env_step"]), as_number(row[metric], bad=bad))
            for row in self.rows
            if "env_step" in row and not isinstance(row.get(metric, ""), str | list | dict)
        ]

    def last(self, metric: str) -> float | None:
        """Return the last finite value of a metric."""
        return _last(self.rows, metric)

    def reference_mean(self, policy: str) -> float:
        """Return a reference policy's mean return; NaN if it is unknown."""
        values = [as_number(value) for value in self.reference.get(policy) or ()]
        return sum(values) / len(values) if values else math.nan


def read_run(path: Path | str, *, name: str | None = None) -> Run:
    """Read a run directory, finished or not; nothing in it is written, locked or executed."""
    run = find_run(path)
    evaluations = sorted(run.evaluations.glob("[0-9]*.json"))
    return Run(
        name=printable(name or run.path.resolve().name),
        config=flat(run.config),
        info=run.info if os.path.lexists(run.info_file) else {},
        rows=_rows(run.metrics_file),
        timing=_rows(run.timing_file),
        evaluations=tuple(map(read_json, evaluations)),
        reference=run.reference,
        finished=run.status == "finished",
        sheet=read_bytes(run.sheet_file, limit=LARGEST) if run.sheet_file.exists() else None,
    )


def read_runs(paths: Sequence[Path]) -> list[Run]:
    """Read run directories under the names of :func:`names_of`."""
    return [read_run(path, name=name) for path, name in zip(paths, names_of(paths), strict=True)]


def names_of(paths: Sequence[Path]) -> list[str]:
    """Return the folders' names, or the paths if two names are equal."""
    short = [path.resolve().name for path in paths]
    return short if len({*short}) == len(paths) else [str(path) for path in paths]


def differences(runs: Sequence[Run]) -> dict[str, list[Any]]:
    """Return the config fields that differ, with each run's value; None where a run lacks it."""
    names = list(dict.fromkeys(name for run in runs for name in run.config))
    values = {name: [run.config.get(name) for run in runs] for name in names}
    return {name: each for name, each in values.items() if any(v != each[0] for v in each)}


def shared_range(runs: Sequence[Run]) -> tuple[int, int] | None:
    """Return the steps, first and last, between which every run was evaluated."""
    curves = [run.returns for run in runs]
    if not all(curves):
        return None
    low, high = max(curve[0][0] for curve in curves), min(curve[-1][0] for curve in curves)
    return (low, high) if low <= high else None


def area(curve: Sequence[tuple[int, float]], low: int, high: int) -> float:
    """Return the area under a curve from ``low`` to ``high`` divided by the distance: a mean.

    >>> area([(0, 0.0), (100, 10.0)], 0, 100), area([(0, 0.0), (100, 10.0)], 50, 100)
    (5.0, 7.5)
    """
    steps, values = np.array([s for s, _ in curve], float), np.array([v for _, v in curve], float)
    if low == high:
        return float(np.interp(low, steps, values))
    inside = steps[(steps > low) & (steps < high)]
    points = np.concatenate([[low], inside, [high]])
    return float(np.trapezoid(np.interp(points, steps, values), points) / (high - low))


def as_number(value: Any, *, bad: float = math.inf) -> float:
    """Return a number of a metrics file, which has null for values that are not finite."""
    return float(value) if isinstance(value, int | float) else bad


def _rows(path: Path) -> tuple[dict[str, Any], ...]:
    return tuple(map(shown, read_rows(path))) if os.path.lexists(path) else ()


def _last(rows: Sequence[dict[str, Any]], name: str) -> float | None:
    values = (row.get(name) for row in reversed(rows))
    return next((float(value) for value in values if isinstance(value, int | float)), None)
