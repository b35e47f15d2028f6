"""The job that trains an agent; its run directory is ``run/`` inside the job's."""

import math
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import torch

from lff.algos import SAC
from lff.core.errors import NonFiniteError
from lff.data import Batch, FrameReplay
from lff.experiments.spec import Cell
from lff.launch.job import DIVERGED, JobRow, Report
from lff.store import RunDir, read_rows
from lff.training import Loop, TrainConfig, train

COMPILE_SECONDS = 40.0
"""What the first compilation of an update of this shape takes; the next ones find its results."""
TRIED_UPDATES = 10
TRIED_STEPS = 200
EPISODE = 1000
"""Steps of an evaluation's episode, where the task does not say."""
TOLD_EVERY = 50
"""Actions between two reports of progress; whoever is told may look less often."""


@dataclass(frozen=True)
class TrainJob:
    """Train an agent, evaluate it on the way, and play the random and the zero policy once."""

    tag: ClassVar[str] = "train"

    config: TrainConfig
    """The run."""
    reference_episodes: int = 3
    """Episodes of the random and of the zero policy."""

    def run(self, folder: Path, report: Report) -> Iterable[JobRow]:
        """Train to the end, from the newest checkpoint if there is one, and read what was logged.

        A run whose numbers left the finite ones has its rows up to there, and an infinite |Q|.
        """
        path = folder / "run"
        broke = ""
        try:
            train(
                self.config,
                directory=path,
                watch=report_to(self.config.steps, report),
                command=["lff", "resume", "run"],
                reference_episodes=self.reference_episodes,
            )
        except NonFiniteError as error:
            broke = str(error)
        return list(read_run(path, self.config.seed, diverged=bool(broke)))


def over_seeds(jobs: Mapping[tuple[str, str], TrainJob], seeds: int) -> tuple[Cell, ...]:
    """Return the job of every variant and task for every seed, these last: arms keep pace."""
    return tuple(
        Cell(name, task, replace(job, config=replace(job.config, seed=seed)))
        for seed in range(seeds)
        for (name, task), job in jobs.items()
    )


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
            largest = max(largest, _number(row.pop("train/q_max")))
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


def _number(value: Any) -> float:
    """Metrics files have null for what is no finite number."""
    return math.inf if value is None else float(value)


def report_to(steps: int, report: Report, *, letter: str = "Q") -> Any:
    """Return a ``watch`` for a loop that tells how far it is, the last return and the largest |Q|.

    PPO's critic is called V.
    """

    def watch(run: Loop, event: str) -> None:
        if event == "step" and run.at.agent_step % TOLD_EVERY:
            return
        seen = f"|{letter}| {run.at.q_max:.3g}"
        if run.last_return is not None:
            seen = f"return {run.last_return:.1f}, {seen}"
        report(min(1.0, run.at.env_step / steps), seen)

    return watch


def seconds_of(do: Any, times: int) -> float:
    """Return the seconds that one call takes, mean over some; a first one is not counted."""
    do()
    start = time.perf_counter()
    for _ in range(times):
        do()
    return (time.perf_counter() - start) / times


def play_step(env: Any, action: Any) -> None:
    """Play one step; begin anew where an episode ends."""
    *_, terminated, truncated, _ = env.step(action)
    if terminated or truncated:
        env.reset(seed=0)


def _replay_bytes(agent: SAC, transitions: int) -> int:
    if len(agent.obs_shape) == 1:
        return transitions * 4 * (2 * agent.obs_dim + agent.action_dim + 2)
    channels, height, width = agent.obs_shape
    shape, size = (channels, height, width), agent.action_dim
    return FrameReplay.bytes_needed(transitions, obs_shape=shape, action_dim=size)


def _random_batch(g: torch.Generator, agent: SAC) -> Batch:
    size = agent.config.batch_size
    obs, next_obs = (_random_obs(g, agent, size) for _ in range(2))
    return Batch(
        obs=obs,
        action=2 * torch.rand(size, agent.action_dim, generator=g) - 1,
        reward=torch.rand(size, generator=g),
        next_obs=next_obs,
        terminated=torch.zeros(size, dtype=torch.bool),
    )


def _random_obs(g: torch.Generator, agent: SAC, size: int) -> torch.Tensor:
    shape = (size, *agent.obs_shape)
    if len(agent.obs_shape) == 1:
        return torch.randn(shape, generator=g)
    return agent.settle(torch.randint(0, 256, shape, generator=g, dtype=torch.uint8))
