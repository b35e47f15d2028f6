"""PPO: the job that trains it, and grids of networks, tasks and seeds at three scales."""

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from lff.core.errors import NonFiniteError
from lff.envs.dimensions import dimensions
from lff.experiments.jobs.training import (
    read_run,
    report_to,
)
from lff.experiments.spec import Cell, ScaleName
from lff.launch.job import JobRow, Report
from lff.training import PPOTrainConfig, train
from lff.training.ppo_presets import ppo_config, ppo_preset
from lff.training.presets import NetName, PresetName

SMOKE_TASK = "dmc/cartpole-swingup"
LOOKS = 12
"""Evaluations of a run."""


@dataclass(frozen=True)
class PPOJob:
    """Train PPO, evaluate it on the way, and play the random and the zero policy once."""

    tag: ClassVar[str] = "train-ppo"

    config: PPOTrainConfig
    """The run."""
    reference_episodes: int = 3
    """Episodes of the random and of the zero policy."""

    def run(self, folder: Path, report: Report) -> Iterable[JobRow]:
        """Train to the end, from the newest checkpoint if there is one, and read what was logged.

        A run whose numbers left the finite ones has its rows up to there.
        """
        path = folder / "run"
        broke = False
        try:
            train(
                self.config,
                directory=path,
                watch=report_to(self.config.steps, report, letter="V"),
                command=["lff", "resume", "run"],
                reference_episodes=self.reference_episodes,
            )
        except NonFiniteError:
            broke = True
        return list(read_run(path, self.config.seed, diverged=broke))


@dataclass(frozen=True, kw_only=True)
class PPOArm:
    """An agent, as it differs from the preset's."""

    value_clip: bool = True
    """Whether the value loss is clipped."""

    net: NetName = "lff"
    """Network of actor and critic."""
    actor: NetName | None = None
    """Network of the actor alone."""
    critic: NetName | None = None
    """Network of the critic alone."""


@dataclass(frozen=True, kw_only=True)
class PPOSize:
    """What a scale takes."""

    preset: PresetName
    tasks: tuple[str, ...]
    seeds: int
    change: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the preset that the scale sets."""


def ppo_size(
    scale: ScaleName, *, laptop_tasks: tuple[str, ...], paper_tasks: tuple[str, ...]
) -> PPOSize:
    """Return what to run at a scale."""
    if scale == "smoke":
        tiny = {
            "hidden_dim": 16,
            "fourier_dim": 16,
            "rollout_steps": 64,
            "batch_size": 32,
            "epochs": 2,
            "steps": 128,
            "eval_episodes": 1,
        }
        return PPOSize(preset="laptop", tasks=(SMOKE_TASK,), seeds=2, change=tiny)
    if scale == "laptop":
        return PPOSize(preset="laptop", tasks=laptop_tasks, seeds=5, change={"eval_episodes": 3})
    return PPOSize(preset="paper-table", tasks=paper_tasks, seeds=5)


def ppo_grid(size: PPOSize, arms: Mapping[str, PPOArm]) -> tuple[Cell, ...]:
    """Return every arm on every task and seed; the seeds come last, so that arms keep pace."""
    jobs = {
        (name, task): ppo_job(size, arm, task=task)
        for task in size.tasks
        for name, arm in arms.items()
    }
    return tuple(
        Cell(name, task, replace(job, config=replace(job.config, seed=seed)))
        for seed in range(size.seeds)
        for (name, task), job in jobs.items()
    )


def ppo_job(size: PPOSize, arm: PPOArm, *, task: str) -> PPOJob:
    """Return one run of a grid, with seed 0."""
    chosen = replace(ppo_preset(size.preset), **size.change)
    obs_dim, action_dim = _dimensions(task)
    agent = ppo_config(
        chosen,
        net=arm.net,
        actor=arm.actor,
        critic=arm.critic,
        obs_dim=obs_dim,
        action_dim=action_dim,
    )
    if not arm.value_clip:
        agent = replace(agent, value_clip=None)
    every = max(1, chosen.steps // LOOKS) if chosen.steps > 1_000 else chosen.steps
    config = PPOTrainConfig(
        env=task,
        algo=agent,
        steps=chosen.steps,
        num_envs=chosen.num_envs,
        eval_every=every,
        eval_episodes=chosen.eval_episodes,
        log_every=max(1, every // 4),
        checkpoint_every=max(1, chosen.steps // 4),
    )
    config = replace(config, compile=config.worth_compiling)
    return PPOJob(config, reference_episodes=min(3, chosen.eval_episodes))


_dimensions = functools.cache(dimensions)
