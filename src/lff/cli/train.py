"""``lff train sac``: train an agent in a run directory; the same command resumes."""

import dataclasses
import sys
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import tyro

from lff import training
from lff.algos import NoTarget, SACConfig
from lff.cli.progress import progress
from lff.cli.regularizer_flags import RegularizerFlags
from lff.cli.show import print_summary
from lff.envs import make
from lff.training import TrainConfig, preset, sac_config, worth_compiling
from lff.training.presets import NetName, PresetName


def train(
    algo: tyro.conf.Positional[Literal["sac"]],
    /,
    *,
    env: str,
    dir: Path,
    steps: int = 100_000,
    seed: int = 0,
    preset_: Annotated[PresetName, tyro.conf.arg(name="preset")] = "laptop",
    net: NetName = "lff",
    actor_net: NetName | None = None,
    critic_net: NetName | None = None,
    sigma: float | None = None,
    fourier_dim: int | None = None,
    target: Literal["polyak", "none"] = "polyak",
    target_noise: float = 0.0,
    num_critics: int = 2,
    action_repeat: int = 1,
    warmup_steps: int = 5_000,
    updates_per_step: int = 1,
    eval_every: int = 10_000,
    eval_episodes: int = 10,
    log_every: int = 1_000,
    checkpoint_every: int = 10_000,
    compile: Literal["auto", "on", "off"] = "auto",
    threads: int = 1,
    regularizers: Annotated[RegularizerFlags, tyro.conf.arg(name="")] = RegularizerFlags(),  # noqa: B008  frozen
) -> None:
    """Train an agent; running the same command again resumes or does nothing.

    Args:
        algo: the algorithm.
        env: dmc/<domain>-<task>, gym/<id>, probe/<name> or package.module:make_env.
        dir: the run directory.
        steps: environment steps, action repeat included.
        seed: the one seed of everything random.
        preset_: sizes and rates.
        net: network of actor and critic.
        actor_net: network of the actor alone.
        critic_net: network of the critics alone.
        sigma: standard deviation of B at the start, instead of the preset's.
        fourier_dim: number of Fourier features, instead of the preset's.
        target: bootstrap from a target network, or from the critics themselves.
        target_noise: standard deviation of noise added to the targets.
        num_critics: critics whose minimum is taken.
        action_repeat: frames that each action is played for.
        warmup_steps: steps with random actions before the first update.
        updates_per_step: updates per action.
        eval_every: steps between evaluations.
        eval_episodes: episodes of an evaluation.
        log_every: steps between rows of metrics.
        checkpoint_every: steps between checkpoints.
        compile: run the update as one compiled graph; auto if the run is long enough.
        threads: threads of torch.
        regularizers: docs/regularizers.md has the formulas.
    """
    del algo  # one so far
    chosen = preset(preset_, env)
    chosen = dataclasses.replace(
        chosen,
        sigma=chosen.sigma if sigma is None else sigma,
        fourier_dim=chosen.fourier_dim if fourier_dim is None else fourier_dim,
    )
    obs_dim, action_dim = _dimensions(env)
    agent = sac_config(
        chosen,
        actor=actor_net or net,
        critic=critic_net or net,
        obs_dim=obs_dim,
        action_dim=action_dim,
    )
    agent = dataclasses.replace(agent, target_noise=target_noise, num_critics=num_critics)
    if target == "none":
        agent = dataclasses.replace(agent, target=NoTarget())
    agent = regularizers.add_to(agent)
    long = worth_compiling(
        steps, warmup_steps=warmup_steps, action_repeat=action_repeat, updates=updates_per_step
    )
    config = TrainConfig(
        env=env,
        algo=agent,
        steps=steps,
        seed=seed,
        action_repeat=action_repeat,
        warmup_steps=warmup_steps,
        updates_per_step=updates_per_step,
        eval_every=eval_every,
        eval_episodes=eval_episodes,
        log_every=log_every,
        checkpoint_every=checkpoint_every,
        compile=compile == "on" or (compile == "auto" and long),
        threads=threads,
    )
    run_to_end(config, dir)


def run_to_end(config: TrainConfig, folder: Path, *, may_differ: tuple[str, ...] = ()) -> None:
    """Train with a progress bar, then print what came of it."""
    _greet(config.algo, config)
    with progress(folder.name, config.steps) as watch:
        training.train(
            config, directory=folder, watch=watch, command=sys.argv, may_differ=may_differ
        )
    print_summary(folder)


def _greet(agent: SACConfig, config: TrainConfig) -> None:
    how = "compiled" if config.compile else "eager"
    text = f"{config.env}, {config.steps:,} steps, seed {config.seed}, {how}"
    print(f"{text}\n  actor  {agent.actor}\n  critic {agent.critic}")  # noqa: T201
    for regularizer in agent.regularizers:
        print(f"  with   {regularizer}")  # noqa: T201


def _dimensions(task: str) -> tuple[int, int]:
    env = make(task, seed=0)
    try:
        return int(np.prod(env.observation_space.shape)), int(np.prod(env.action_space.shape))
    finally:
        env.close()
