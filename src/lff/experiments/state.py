"""Grids of SAC from state: variants, tasks and seeds, at three scales.

A variant says how an agent differs from the preset's LFF agent, as fields of the three frozen
dataclasses that make it up; everything else is the same in every arm.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from lff.algos import SACConfig
from lff.envs import PAPER_TASKS
from lff.envs.dimensions import dimensions
from lff.experiments.jobs.training import TrainJob, over_seeds
from lff.experiments.spec import Cell, ScaleName
from lff.nn import DeepFourierTrunk, MatchedMLP, NetConfig
from lff.training import TrainConfig, preset, sac_config, worth_compiling
from lff.training.presets import NetName, Preset, PresetName

SMOKE_TASK = "dmc/cartpole-swingup"
LOOKS = 12
"""Evaluations of a run."""


@dataclass(frozen=True, kw_only=True)
class Variant:
    """An agent, as it differs from the preset's."""

    net: str = "lff"
    """Network of actor and critics, by its name in the presets."""
    actor: str | None = None
    """Network of the actor alone."""
    critic: str | None = None
    """Network of the critics alone."""
    actor_sigma: float | None = None
    """σ of the actor alone."""
    critic_sigma: float | None = None
    """σ of the critics alone."""
    preset: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the preset: sizes, rates, σ."""
    agent: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the agent: target, target noise, regularizers, number of critics."""
    run: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the run: updates per step."""
    change: Callable[[SACConfig], SACConfig] | None = None
    """What fields cannot say, done to the agent last."""


@dataclass(frozen=True, kw_only=True)
class Size:
    """What a scale takes."""

    preset: PresetName
    tasks: tuple[str, ...]
    seeds: int
    steps: int
    episodes: int
    looks: int = LOOKS
    """Evaluations of a run."""
    change: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the preset that the scale sets."""

    def only(self, task: str) -> "Size":
        """Return the same for one task."""
        return replace(self, tasks=(task,))


def sizes(
    scale: ScaleName,
    *,
    laptop_tasks: Sequence[str],
    paper_tasks: Sequence[str] = PAPER_TASKS,
    laptop_steps: int = 40_000,
) -> Size:
    """Return what to run at a scale."""
    if scale == "smoke":
        tiny = {"hidden_dim": 16, "fourier_dim": 16, "batch_size": 16}
        return Size(
            preset="laptop", tasks=(SMOKE_TASK,), seeds=2, steps=60, episodes=1, change=tiny
        )
    if scale == "laptop":
        return Size(
            preset="laptop", tasks=tuple(laptop_tasks), seeds=5, steps=laptop_steps, episodes=3
        )
    return Size(
        preset="paper-table", tasks=tuple(paper_tasks), seeds=5, steps=1_000_000, episodes=10
    )


def train_grid(size: Size, variants: Mapping[str, Variant]) -> tuple[Cell, ...]:
    """Return every variant on every task and seed."""
    jobs = {
        (name, task): train_job(size, variant, task=task)
        for task in size.tasks
        for name, variant in variants.items()
    }
    return over_seeds(jobs, size.seeds)


def train_job(size: Size, variant: Variant, *, task: str, seed: int = 0) -> TrainJob:
    """Return one run of a grid."""
    chosen = _preset(size, variant, task)
    obs_dim, action_dim = _dimensions(task)
    agent = sac_config(
        chosen,
        actor=cast(NetName, variant.actor or variant.net),  # checked where it is used
        critic=cast(NetName, variant.critic or variant.net),
        obs_dim=obs_dim,
        action_dim=action_dim,
        actor_sigma=variant.actor_sigma,
        critic_sigma=variant.critic_sigma,
    )
    steps = chosen.steps
    warmup = min(chosen.warmup_steps, steps // 2)
    updates = variant.run.get("updates_per_step", 1)
    every = max(1, steps // size.looks) if size.preset != "laptop" or steps > 1_000 else steps
    agent = replace(agent, **variant.agent)
    config = TrainConfig(
        env=task,
        algo=variant.change(agent) if variant.change else agent,
        steps=steps,
        seed=seed,
        warmup_steps=warmup,
        eval_every=every,
        eval_episodes=chosen.eval_episodes,
        log_every=max(1, every // 4),
        checkpoint_every=max(1, steps // 4),
        compile=worth_compiling(steps, warmup_steps=warmup, action_repeat=1, updates=updates),
    )
    config = replace(config, **variant.run)
    return TrainJob(config, reference_episodes=min(3, chosen.eval_episodes))


def _preset(size: Size, variant: Variant, task: str) -> Preset:
    base = preset(size.preset, task)
    steps = base.steps if size.preset == "paper-table" else size.steps
    base = replace(base, steps=steps, eval_episodes=size.episodes, **size.change)
    own = dict(variant.preset)
    for name in ("hidden_dim", "fourier_dim", "batch_size"):
        if name in size.change and name in own:  # the smoke scale is for speed
            own[name] = size.change[name]
    return replace(base, **own)


def deep_fourier(agent: SACConfig) -> SACConfig:
    """Return the agent with sine and cosine in every layer of both networks, as wide as before."""
    return replace(agent, actor=_deep_fourier(agent.actor), critic=_deep_fourier(agent.critic))


def _deep_fourier(net: NetConfig) -> NetConfig:
    if isinstance(net.trunk, MatchedMLP):
        return replace(net, trunk=replace(net.trunk, layers="deep-fourier"))
    return NetConfig(trunk=DeepFourierTrunk(hidden=tuple(w + w % 2 for w in net.hidden(1, 1))))


_dimensions = functools.cache(dimensions)
