"""Grids of SAC + RAD from pixels: encoders, tasks and seeds, at three scales."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lff.envs import PAPER_PIXEL_TASKS
from lff.experiments.jobs.training import TrainJob, over_seeds
from lff.experiments.spec import Cell, ScaleName
from lff.training import TrainConfig
from lff.training.pixel_presets import PixelNetName, PixelPreset, pixel_preset

LAPTOP_TASK = "dmc-pixels/cheetah-run"
"""Of the paper's four the one whose rewards are dense: small sizes learn something of it."""
FEWEST_COMPILED_UPDATES = 2_000
"""Compiling costs a minute or two of CPU, and saves about a third of every update."""


@dataclass(frozen=True, kw_only=True)
class Seer:
    """An agent, as it differs from the preset's."""

    net: PixelNetName = "lff"
    """Its encoder."""
    preset: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the preset: σ, F."""
    agent: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the agent: regularizers."""


@dataclass(frozen=True, kw_only=True)
class PixelSize:
    """What a scale takes."""

    preset: str
    tasks: tuple[str, ...]
    seeds: int
    change: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the preset that the scale sets."""


def pixel_size(scale: ScaleName) -> PixelSize:
    """Return what to run at a scale."""
    if scale == "smoke":
        tiny = {
            "size": 36,
            "seen_size": 32,
            "num_filters": 4,
            "hidden_dim": 16,
            "fourier_dim": 8,
            "batch_size": 4,
            "steps": 160,
            "warmup_steps": 80,
            "eval_every": 160,
            "eval_episodes": 1,
        }
        return PixelSize(preset="laptop", tasks=(LAPTOP_TASK,), seeds=2, change=tiny)
    if scale == "laptop":
        return PixelSize(preset="laptop", tasks=(LAPTOP_TASK,), seeds=5)
    return PixelSize(preset="paper-table", tasks=PAPER_PIXEL_TASKS, seeds=5)


def pixel_grid(size: PixelSize, arms: Mapping[str, Seer]) -> tuple[Cell, ...]:
    """Return every arm on every task and seed."""
    jobs = {
        (name, task): pixel_job(size, arm, task=task)
        for task in size.tasks
        for name, arm in arms.items()
    }
    return over_seeds(jobs, size.seeds)


def pixel_job(size: PixelSize, arm: Seer, *, task: str) -> TrainJob:
    """Return one run of a grid, with seed 0."""
    chosen = chosen_preset(size, arm, task=task)
    updates = (chosen.steps - chosen.warmup_steps) // chosen.action_repeat
    config = TrainConfig(
        env=task,
        view=chosen.view,
        algo=replace(chosen.agent(arm.net), **arm.agent),
        steps=chosen.steps,
        action_repeat=chosen.action_repeat,
        warmup_steps=chosen.warmup_steps,
        replay_capacity=chosen.replay_capacity,
        eval_every=chosen.eval_every,
        eval_episodes=chosen.eval_episodes,
        log_every=max(1, chosen.eval_every // 2),
        checkpoint_every=max(1, chosen.steps // 4),
        compile=updates >= FEWEST_COMPILED_UPDATES,
    )
    return TrainJob(config, reference_episodes=min(3, chosen.eval_episodes))


def chosen_preset(size: PixelSize, arm: Seer, *, task: str) -> PixelPreset:
    """Return the preset of an arm at a scale."""
    small = {name: value for name, value in arm.preset.items() if name not in size.change}
    return replace(pixel_preset(size.preset, task), **size.change, **small)
