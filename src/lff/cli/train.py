"""``lff train sac``: train an agent in a run directory; the same command resumes."""

import dataclasses
import sys
from pathlib import Path
from typing import Annotated, Any, Literal, cast, get_args

import tyro

from lff import training
from lff.algos import NoTarget, PolyakTarget, SACConfig
from lff.cli.pixel_flags import PixelFlags, pixel_net, refuse_state_flags
from lff.cli.progress import progress
from lff.cli.regularizer_flags import RegularizerFlags
from lff.cli.show import print_networks, print_summary
from lff.core.checks import check_choice
from lff.core.config import to_dict
from lff.core.errors import BadInputError
from lff.envs import is_seen
from lff.envs.dimensions import dimensions
from lff.store import RunDir
from lff.training import (
    AnyTrainConfig,
    Loop,
    PPOTrainConfig,
    TrainConfig,
    preset,
    sac_config,
    worth_compiling,
)
from lff.training.compiling import find_compiler
from lff.training.pixel_presets import PixelNetName, PixelPreset, pixel_preset
from lff.training.presets import NetName, Preset, PresetName
from lff.training.sinks import Trackers, tracked


def train(
    algo: tyro.conf.Positional[Literal["sac", "ppo"]],
    /,
    *,
    env: str,
    dir: Path,
    steps: int | None = None,
    seed: int = 0,
    preset_: Annotated[PresetName, tyro.conf.arg(name="preset")] = "laptop",
    net: NetName | PixelNetName = "lff",
    actor_net: NetName | None = None,
    critic_net: NetName | None = None,
    sigma: float | None = None,
    actor_sigma: float | None = None,
    critic_sigma: float | None = None,
    fourier_dim: int | None = None,
    hidden_dim: int | None = None,
    lr: float | None = None,
    batch_size: int | None = None,
    gamma: float = 0.99,
    target: Literal["polyak", "none"] = "polyak",
    tau: float | None = None,
    target_period: int = 2,
    target_noise: float = 0.0,
    num_critics: int = 2,
    action_repeat: int | None = None,
    warmup_steps: int | None = None,
    replay_capacity: int | None = None,
    updates_per_step: int | None = None,
    eval_every: int | None = None,
    eval_episodes: int | None = None,
    log_every: int = 1_000,
    checkpoint_every: int = 10_000,
    compile: Literal["auto", "on", "off"] = "auto",
    threads: int = 1,
    device: str = "cpu",
    reference_episodes: int = 3,
    tensorboard: bool = False,
    wandb: str | None = None,
    mlflow: str | None = None,
    pixels: Annotated[PixelFlags, tyro.conf.arg(name="")] = PixelFlags(),  # noqa: B008  frozen
    regularizers: Annotated[RegularizerFlags, tyro.conf.arg(name="")] = RegularizerFlags(),  # noqa: B008  frozen
) -> None:
    """Train an agent; running the same command again resumes or does nothing.

    The options below are SAC's; lff train ppo --help lists PPO's.

    Args:
        algo: the algorithm, before all options.
        env: dmc/<domain>-<task>, dmc-pixels/<domain>-<task>, gym/<id>, probe/<name> or
            package.module:make_env.
        dir: the run directory.
        steps: environment steps, action repeat included, instead of the preset's.
        seed: the one seed of everything random.
        preset_: sizes, rates and schedule; lff presets lists them.
        net: network of actor and critic; from pixels, the encoder: lff, cnn (of equal size),
            cnn-vanilla, cnn-readme, fixed-b, no-concat or per-frame.
        actor_net: network of the actor alone.
        critic_net: network of the critics alone.
        sigma: standard deviation of B at the start, instead of the preset's.
        actor_sigma: the same for the actor alone.
        critic_sigma: the same for the critics alone.
        fourier_dim: number of Fourier features, instead of the preset's.
        hidden_dim: width of the hidden layers, instead of the preset's.
        lr: learning rate of actor and critics, instead of the preset's.
        batch_size: transitions per update, instead of the preset's.
        gamma: discount.
        target: bootstrap from a target network, or from the critics themselves.
        tau: share of the critics that the target takes over; 0.005, and 0.01 from pixels.
        target_period: critic updates between two moves of the target.
        target_noise: standard deviation of noise added to the targets.
        num_critics: critics whose minimum is taken.
        action_repeat: frames that each action is played for, instead of the preset's.
        warmup_steps: steps with random actions before the first update, instead of the preset's.
        replay_capacity: transitions kept, instead of the preset's; older ones leave the disk too.
        updates_per_step: updates per action, instead of the preset's.
        eval_every: steps between evaluations, instead of the preset's.
        eval_episodes: episodes of an evaluation, instead of the preset's.
        log_every: steps between rows of metrics.
        checkpoint_every: steps between checkpoints.
        compile: run the update as one compiled graph; auto if the run is long enough.
        threads: threads of torch.
        device: where networks live and learn: cpu, cuda or cuda:N.
        reference_episodes: episodes of the random and the zero policy, played once; 0 for none.
        tensorboard: also write TensorBoard's event files, into RUN/tensorboard.
        wandb: also log to this W&B project; offline unless WANDB_MODE=online.
        mlflow: also log to this MLflow server, or to a SQLite store in this folder.
        pixels: docs/pixels.md has pictures.
        regularizers: docs/regularizers.md has the formulas.
    """
    if algo != "sac":  # main has looked for it there
        raise BadInputError("algo", algo, "the first word", f"write lff train {algo} --env ...")
    given: dict[str, Any] = {
        "sigma": sigma,
        "fourier_dim": fourier_dim,
        "hidden_dim": hidden_dim,
        "lr": lr,
        "batch_size": batch_size,
        "steps": steps,
        "action_repeat": action_repeat,
        "warmup_steps": warmup_steps,
        "replay_capacity": replay_capacity,
        "updates_per_step": updates_per_step,
        "eval_every": eval_every,
        "eval_episodes": eval_episodes,
    }
    given = {name: value for name, value in given.items() if value is not None}
    own: dict[str, Any] = {
        "actor_net": actor_net,
        "critic_net": critic_net,
        "actor_sigma": actor_sigma,
        "critic_sigma": critic_sigma,
    }
    chosen: Preset | PixelPreset
    if is_seen(env):
        refuse_state_flags(own, env)
        seen = pixels.change(dataclasses.replace(pixel_preset(preset_, env), **given))
        agent, view, chosen = seen.agent(pixel_net(net)), pixels.view(seen), seen
    else:
        pixels.refuse(env)
        chosen = dataclasses.replace(preset(preset_, env), **given)
        agent, view = _from_state(chosen, env, net, **own), None
    if target == "none":
        agent = dataclasses.replace(agent, target=NoTarget())
    elif view is not None and tau is None and regularizers.functional is not None:
        agent = dataclasses.replace(agent, target=PolyakTarget())  # the lagging copy is the target
    elif isinstance(agent.target, PolyakTarget):
        tau = agent.target.tau if tau is None else tau
        moved = dataclasses.replace(agent.target, tau=tau, period=target_period)
        agent = dataclasses.replace(agent, target=moved)
    agent = dataclasses.replace(
        agent, gamma=gamma, target_noise=target_noise, num_critics=num_critics
    )
    agent = regularizers.add_to(agent)
    long = worth_compiling(
        chosen.steps,
        warmup_steps=chosen.warmup_steps,
        action_repeat=chosen.action_repeat,
        updates=chosen.updates_per_step,
    )
    config = TrainConfig(
        env=env,
        algo=agent,
        steps=chosen.steps,
        seed=seed,
        action_repeat=chosen.action_repeat,
        warmup_steps=chosen.warmup_steps,
        replay_capacity=chosen.replay_capacity,
        updates_per_step=chosen.updates_per_step,
        eval_every=chosen.eval_every,
        eval_episodes=chosen.eval_episodes,
        log_every=log_every,
        checkpoint_every=checkpoint_every,
        compile=compiled(compile, dir, worth=long),
        threads=threads,
        device=device,
        view=view,
    )
    trackers = chosen_trackers(tensorboard=tensorboard, wandb=wandb, mlflow=mlflow)
    run_to_end(config, dir, trackers, reference_episodes=reference_episodes)


def _from_state(
    chosen: Preset,
    env: str,
    net: str,
    *,
    actor_net: NetName | None,
    critic_net: NetName | None,
    actor_sigma: float | None,
    critic_sigma: float | None,
) -> SACConfig:
    """Return the agent of a task that observes numbers."""
    check_choice("net", net, get_args(NetName))
    obs_dim, action_dim = dimensions(env)
    name = cast(NetName, net)
    return sac_config(
        chosen,
        actor=actor_net or name,
        critic=critic_net or name,
        obs_dim=obs_dim,
        action_dim=action_dim,
        actor_sigma=actor_sigma,
        critic_sigma=critic_sigma,
    )


def chosen_trackers(*, tensorboard: bool, wandb: str | None, mlflow: str | None) -> Trackers:
    """Return the trackers; a folder by its full name, since resume may be called from elsewhere."""
    if mlflow and "://" not in mlflow:
        mlflow = str(Path(mlflow).resolve())
    return Trackers(tensorboard=tensorboard, wandb=wandb, mlflow=mlflow)


def compiled(wanted: Literal["auto", "on", "off"], folder: Path, *, worth: bool) -> bool:
    """Return whether to compile: as asked, else as the run began, else by length and compiler."""
    if wanted != "auto":
        return wanted == "on"
    if RunDir(folder).status != "empty":
        return bool(RunDir(folder).config.get("compile", False))
    return worth and find_compiler() is not None


def run_to_end(
    config: AnyTrainConfig,
    folder: Path,
    trackers: Trackers,
    *,
    may_differ: tuple[str, ...] = (),
    reference_episodes: int = 0,
) -> None:
    """Train with a progress bar, then print what came of it."""
    training.check_device(config.device)
    with tracked(trackers, folder) as track:
        _greet(config)
        with progress(folder.name, config.steps) as show:

            def watch(run: Loop, event: str) -> None:
                show(run, event)
                track(run, event)

            training.train(
                config,
                directory=folder,
                watch=watch,
                command=sys.argv,
                may_differ=may_differ,
                reference_episodes=reference_episodes,
            )
    print_summary(folder)


def _greet(config: AnyTrainConfig) -> None:
    how = "compiled" if config.compile else f"eager ({_why_eager(config)})"
    text = f"{config.env}, {config.steps:,} steps, seed {config.seed}, {config.device}, {how}"
    print(text)  # noqa: T201
    print_networks(to_dict(config.algo))


def _why_eager(config: AnyTrainConfig) -> str:
    if isinstance(config, PPOTrainConfig):
        worth = config.worth_compiling
    else:
        worth = worth_compiling(
            config.steps,
            warmup_steps=config.warmup_steps,
            action_repeat=config.action_repeat,
            updates=config.updates_per_step,
        )
    if not worth:
        return "too short to win compilation back"
    return "as asked" if find_compiler() else "no C++ compiler: install g++ to be faster"
