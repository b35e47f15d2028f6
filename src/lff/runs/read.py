"""What came of runs, from their files alone: the numbers that ``lff compare`` puts side by side."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lff.core.errors import StorageError
from lff.store import RunDir, read_rows
from lff.training.load import find_run


@dataclass(frozen=True)
class Results:
    """One run's config and what was measured; None where there is nothing yet."""

    name: str
    config: dict[str, Any]
    """Flat: dotted names and plain values."""
    curve: tuple[tuple[int, float], ...]
    """Steps and returns of the evaluations."""
    steps: int
    """Environment steps so far."""
    q_max: float | None
    """Largest ``|Q|`` of the whole run; infinite if it was ever no number."""
    actor_B_std: float | None
    critic_B_std: float | None
    steps_per_second: float | None

    @property
    def env(self) -> str:
        """The task."""
        return str(self.config["env"])

    @property
    def last_return(self) -> float | None:
        """Return of the last evaluation."""
        return self.curve[-1][1] if self.curve else None

    @property
    def best_return(self) -> float | None:
        """Return of the best evaluation."""
        return max((value for _, value in self.curve), default=None)


def read_results(path: Path | str, *, name: str | None = None) -> Results:
    """Read a run directory, finished or not."""
    run = find_run(path)
    rows = _rows(run.metrics_file)
    timing = _rows(run.timing_file)
    returns = [(row["env_step"], row["eval/return"]) for row in rows if "eval/return" in row]
    peaks = [_number(row["train/q_max"]) for row in rows if "train/q_max" in row]
    speeds = [row["steps_per_second"] for row in timing if "steps_per_second" in row]
    return Results(
        name=name or str(path),
        config=flat(run.config),
        curve=tuple((step, _number(value, bad=-math.inf)) for step, value in returns),
        steps=_steps(run, rows),
        q_max=max(peaks, default=None),
        actor_B_std=_last(rows, "lff/actor_B_std"),
        critic_B_std=_last(rows, "lff/critic_B_std"),
        steps_per_second=speeds[-1] if speeds else None,
    )


def flat(data: Any, prefix: str = "") -> dict[str, Any]:
    """Return nested data under dotted names.

    >>> flat({"algo": {"gamma": 0.99, "hidden": [8, 8]}, "seed": 0})
    {'algo.gamma': 0.99, 'algo.hidden': [8, 8], 'seed': 0}
    """
    if not isinstance(data, dict):
        return {prefix: data}
    items = [flat(value, f"{prefix}.{key}" if prefix else key) for key, value in data.items()]
    return {name: value for item in items for name, value in item.items()}


def differences(runs: Sequence[Results]) -> dict[str, list[Any]]:
    """Return the config fields that differ, with each run's value; None where it has none."""
    names = list(dict.fromkeys(name for run in runs for name in run.config))
    values = {name: [run.config.get(name) for run in runs] for name in names}
    return {name: found for name, found in values.items() if any(v != found[0] for v in found)}


def shared_range(runs: Sequence[Results]) -> tuple[int, int] | None:
    """Return the steps, first and last, between which every run was evaluated."""
    if not all(run.curve for run in runs):
        return None
    low = max(run.curve[0][0] for run in runs)
    high = min(run.curve[-1][0] for run in runs)
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


def _rows(path: Path) -> list[dict[str, Any]]:
    try:
        return [*read_rows(path)]
    except StorageError:
        if path.exists():
            raise
        return []  # a run that has just begun


def _steps(run: RunDir, rows: Sequence[dict[str, Any]]) -> int:
    if run.status == "finished":
        return int(run.config["steps"])
    return max((row["env_step"] for row in rows), default=0)


def _last(rows: Sequence[dict[str, Any]], name: str) -> float | None:
    found = [row[name] for row in rows if row.get(name) is not None]
    return found[-1] if found else None


def _number(value: float | None, *, bad: float = math.inf) -> float:
    """Metrics files have null for what is no finite number."""
    return bad if value is None else value
