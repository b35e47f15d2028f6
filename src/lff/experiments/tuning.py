"""Tuning: σ, Fourier dimension and learning rate, judged over several seeds each.

A single seed misleads: the best of many noisy trials is mostly the luckiest.  Every trial is a set
of training jobs, one per seed, and its score the mean return over the whole curve, averaged over
the seeds.  Trials are drawn by Optuna's sampler from one seed, and jobs are kept by their digest:
the same command continues where it stopped, without a database.
"""

import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lff.core.checks import check_size
from lff.core.config import digest
from lff.core.errors import BadInputError, RunError, require_extra
from lff.experiments.jobs.training import TrainJob
from lff.launch.local import Task
from lff.launch.records import LOG, read_job_table
from lff.stats.intervals import t_interval

Launch = Callable[[Sequence[Any]], list[Task]]
"""Runs jobs and says what became of each: a launcher with its folder and workers."""


@dataclass(frozen=True, kw_only=True)
class Space:
    """The search space; a range of one value is fixed."""

    sigma: tuple[float, float] | None = (1e-4, 1.0)
    """σ, on a logarithmic scale; None for networks that have none."""
    fourier_dim: tuple[int, ...] | None = (64, 128, 256)
    """Fourier dimensions to choose from."""
    lr: tuple[float, float] = (1e-4, 1e-3)
    """Learning rate of actor and critics, on a logarithmic scale."""

    def __post_init__(self) -> None:
        for name in ("sigma", "lr"):
            limits = getattr(self, name)
            if limits is not None and not 0 < limits[0] <= limits[1]:
                raise BadInputError(name, limits, "0 < low <= high", "give the smaller one first")

    def draw(self, trial: Any) -> dict[str, Any]:
        """Return the fields of the preset that a trial tries."""
        fields: dict[str, Any] = {"lr": _round(trial.suggest_float("lr", *self.lr, log=True))}
        if self.sigma is not None:
            fields["sigma"] = _round(trial.suggest_float("sigma", *self.sigma, log=True))
        if self.fourier_dim is not None:
            fields["fourier_dim"] = trial.suggest_categorical("fourier_dim", self.fourier_dim)
        return fields


@dataclass(frozen=True)
class Trial:
    """A setting and its results."""

    fields: dict[str, Any]
    """The preset's fields."""
    scores: tuple[float, ...]
    """Mean return over the curve, by seed."""

    @property
    def score(self) -> float:
        """The mean over the seeds."""
        return sum(self.scores) / len(self.scores)

    @property
    def interval(self) -> str:
        """The mean with its t-interval, as people read it."""
        return str(t_interval(self.scores)) if len(self.scores) > 1 else f"{self.score:.3g}"


def tune(
    make_job: Callable[[dict[str, Any]], TrainJob],
    space: Space,
    launch: Launch,
    *,
    root: Path,
    trials: int,
    seeds: int,
    batch: int,
    seed: int = 0,
) -> list[Trial]:
    """Try ``trials`` settings, ``batch`` at a time, and return them, the best first.

    A run that became non-finite counts with its last finite return carried forward.
    """
    for name, value in (("trials", trials), ("seeds", seeds), ("batch", batch)):
        check_size(name, value)
    require_extra("tune", "optuna", purpose="tuning")
    import optuna

    optuna.logging.set_verbosity(logging.WARNING)
    sampler = optuna.samplers.TPESampler(seed=seed, constant_liar=True)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    found: list[Trial] = []
    while len(found) < trials:
        asked = [study.ask() for _ in range(min(batch, trials - len(found)))]
        drawn = [space.draw(trial) for trial in asked]
        made = [make_job(fields) for fields in drawn]
        jobs = [[replace(j, config=replace(j.config, seed=s)) for s in range(seeds)] for j in made]
        states = {task.digest: task for task in launch([job for part in jobs for job in part])}
        for trial, fields, part in zip(asked, drawn, jobs, strict=True):
            names = [digest(job) for job in part]
            failed = [name for name in names if states[name].state != "done"]
            if failed:
                log = root / "jobs" / failed[0] / LOG
                raise RunError(f"{len(failed)} of {len(names)} jobs failed; look at {log}")
            scores = tuple(score(root / "jobs" / name) for name in names)
            study.tell(trial, sum(scores) / len(scores))
            found.append(Trial(fields, scores))
    return sorted(found, key=lambda trial: -trial.score)


def score(folder: Path) -> float:
    """Return the mean return over the curve of a job that is done."""
    returns = [row.value for row in read_job_table(folder) if row.metric == "eval/return"]
    finite = [value for value in returns if math.isfinite(value)]
    return sum(finite) / len(finite) if finite else -math.inf


def _round(value: float) -> float:
    """Three digits are enough, and make a setting that can be typed."""
    return float(f"{value:.3g}")
