"""The job that trains an agent; its run directory is ``run/`` inside the job's."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import torch

from lff.auditing import advise_sigma
from lff.core.errors import NonFiniteError
from lff.launch.job import DIVERGED, JobRow, Report
from lff.runs.read import as_number
from lff.store import RunDir, read_rows
from lff.training import Loop, RunConfig, train
from lff.training.evaluate import random_batch

ADVICE_STEPS = 1_000  # steps of the random policy that the advice on σ is based on
REPORT_EVERY = 50  # actions between two reports of progress


@dataclass(frozen=True)
class TrainJob:
    """Train an agent, evaluate it on the way, and play the random and the zero policy once."""

    tag: ClassVar[str] = "train"

    config: RunConfig
    reference_episodes: int = 3
    """Episodes of the random and of the zero policy."""
    advised: bool = False
    """Take σ of actor and critics from the advisor, by a batch of a random policy."""

    def run(self, folder: Path, report: Report) -> Iterable[JobRow]:
        """Train to the end, from the newest checkpoint if there is one, and read what was logged.

        A run whose numbers left the finite ones has its rows up to there, and an infinite |Q|.
        """
        path = folder / "run"
        diverged = False
        try:
            train(
                with_advice(self.config) if self.advised else self.config,
                directory=path,
                watch=report_to(self.config.steps, report),
                command=["lff", "resume", "run"],
                reference_episodes=self.reference_episodes,
            )
        except NonFiniteError:
            diverged = True
        return list(read_run(path, self.config.seed, diverged=diverged))


def with_advice(config: RunConfig) -> RunConfig:
    """Return the run with the advisor's σ in both networks; one task always gives one σ."""
    obs, action = random_batch(config.env, steps=ADVICE_STEPS, seed=0)
    inputs = {"actor": obs, "critic": torch.cat((obs, action), dim=-1)}
    algo: Any = config.algo
    for role, x in inputs.items():
        net = getattr(algo, role)
        sigma = float(f"{advise_sigma(x, fourier_dim=net.front.fourier_dim).bend:.3g}")
        algo = replace(algo, **{role: replace(net, front=replace(net.front, sigma=sigma))})
    return replace(config, algo=algo)


def read_run(path: Path, seed: int, *, diverged: bool = False) -> Iterator[JobRow]:
    """Yield what a run directory measured, at the steps of its evaluations.

    Of the metrics of training those at the same steps; ``train/q_max`` is the largest since the
    step before.  Lists (histograms) are given at the first and last step, entry by entry.
    """
    rows = [*read_rows(RunDir(path).metrics_file)]
    evaluated = {row["env_step"] for row in rows if "eval/return" in row}
    lists = [row["env_step"] for row in rows if any(isinstance(v, list) for v in row.values())]
    ends = {*lists[:1], *lists[-1:]}
    largest = 0.0
    for row in rows:
        step = row.pop("env_step")
        if "train/q_max" in row:
            largest = max(largest, as_number(row.pop("train/q_max")))
            if step in evaluated:
                yield JobRow(seed, step, "train/q_max", largest)
                largest = 0.0
        for name, value in row.items():
            if isinstance(value, list) and step in ends:
                yield from (JobRow(seed, step, f"{name}[{i}]", v) for i, v in enumerate(value))
            elif isinstance(value, int | float) and step in evaluated:
                yield JobRow(seed, step, name, value)
    yield from _outside(path, seed, diverged=diverged, last=max(evaluated, default=0))


def _outside(path: Path, seed: int, *, diverged: bool, last: int) -> Iterator[JobRow]:
    """Yield what the metrics do not hold: that Q left the numbers, and the simple policies."""
    if diverged:
        yield JobRow(seed, last, "train/q_max", math.inf)
        yield JobRow(seed, last, DIVERGED, 1.0)
    for policy, returns in sorted(RunDir(path).reference.items()):
        finite = [r for r in returns if r is not None]
        if finite:
            yield JobRow(seed, 0, f"{policy} return", sum(finite) / len(finite))


def report_to(steps: int, report: Report) -> Any:
    """Return a ``watch`` for a loop that reports its progress, the last return and largest |Q|."""

    def watch(loop: Loop, event: str) -> None:
        progress = loop.progress
        if event == "step" and progress.agent_step % REPORT_EVERY:
            return
        text = f"|{loop.agent.value_letter}| {progress.value_max:.3g}"
        if loop.last_return is not None:
            text = f"return {loop.last_return:.1f}, {text}"
        report(min(1.0, progress.env_step / steps), text)

    return watch
