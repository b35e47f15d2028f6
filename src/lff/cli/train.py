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
from lff.cli.run_flags import NetworkFlags, RunFlags
from lff.cli.show import print_networks, print_summary
from lff.core.checks import check_choice
from lff.core.config import to_dict
from lff.core.errors import BadInputError
from lff.envs import has_pixels
from lff.envs.dimensions import dimensions
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
from lff.training.trackers import Trackers, tracked


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
    networks: Annotated[NetworkFlags, tyro.conf.arg(name="")] = NetworkFlags(),  # noqa: B008  frozen
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
    run: Annotated[RunFlags, tyro.conf.arg(name="")] = RunFlags(),  # noqa: B008  frozen
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
        networks: docs/networks.md has them all.
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
        run: docs/training.md says what is written when.
        pixels: docs/pixels.md has pictures.
        regularizers: docs/regularizers.md has the formulas.
    """
    if algo != "sac":  # main has looked for it there
        raise BadInputError("algo", algo, "the first word", f"write lff train {algo} --env ...")
    given: dict[str, Any] = {
        **networks.sizes,
        **run.evaluation,
        "lr": lr,
        "batch_size": batch_size,
        "steps": steps,
        "action_repeat": action_repeat,
        "warmup_steps": warmup_steps,
        "replay_capacity": replay_capacity,
        "updates_per_step": updates_per_step,
    }
    given = {name: value for name, value in given.items() if value is not None}
    chosen: Preset | PixelPreset
    if has_pixels(env):
        refuse_state_flags(networks, env)
        seen = pixels.change(dataclasses.replace(pixel_preset(preset_, env), **given))
        agent, view, chosen = seen.agent(pixel_net(net)), pixels.view(seen), seen
    else:
        pixels.refuse(env)
        chosen = dataclasses.replace(preset(preset_, env), **given)
        agent, view = _from_state(chosen, env, net, networks), None
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
        compile=run.compiled(dir, worth=long),
        view=view,
        **run.schedule,
    )
    run_to_end(config, dir, run.trackers, reference_episodes=run.reference_episodes)


def _from_state(chosen: Preset, env: str, net: str, networks: NetworkFlags) -> SACConfig:
    """Return the agent of a task that observes numbers."""
    check_choice("net", net, get_args(NetName))
    obs_dim, action_dim = dimensions(env)
    name = cast(NetName, net)
    return sac_config(
        chosen,
        actor=networks.actor_net or name,
        critic=networks.critic_net or name,
        obs_dim=obs_dim,
        action_dim=action_dim,
        actor_sigma=networks.actor_sigma,
        critic_sigma=networks.critic_sigma,
    )


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
