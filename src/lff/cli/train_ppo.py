"""``lff train ppo``: train PPO in a run directory; the same command resumes."""

import dataclasses
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from lff.algos import PPOConfig
from lff.cli.regularizer_flags import CommonRegularizerFlags, RegularizerFlags
from lff.cli.run_flags import NetworkFlags, RunFlags
from lff.cli.train import run_to_end
from lff.envs.dimensions import dimensions
from lff.training import PPOTrainConfig
from lff.training.ppo_config import VectorKind
from lff.training.ppo_presets import ppo_config, ppo_preset
from lff.training.presets import NetName, PresetName


@dataclass(frozen=True, kw_only=True)
class PPORegularizerFlags(CommonRegularizerFlags):
    """Regularizers; those of Q-learning are not among them."""

    def add_to(self, config: PPOConfig) -> PPOConfig:
        """Return the agent's config with these regularizers."""
        found = RegularizerFlags(**asdict(self)).checked(config)
        return dataclasses.replace(config, regularizers=found)


def train_ppo(
    *,
    env: str,
    dir: Path,
    steps: int | None = None,
    seed: int = 0,
    preset_: Annotated[PresetName, tyro.conf.arg(name="preset")] = "laptop",
    net: NetName = "lff",
    networks: Annotated[NetworkFlags, tyro.conf.arg(name="")] = NetworkFlags(),  # noqa: B008  frozen
    num_envs: int | None = None,
    vector: VectorKind = "inside",
    lr: float | None = None,
    lr_decay: bool = True,
    rollout_steps: int | None = None,
    epochs: int | None = None,
    batch_size: int | None = None,
    gamma: float = 0.99,
    gae_lambda: float = 0.95,
    clip: float = 0.2,
    value_clip: float | None = 0.2,
    value_coef: float = 0.5,
    entropy_coef: float = 0.0,
    max_grad_norm: float | None = 0.5,
    normalize_obs: bool = True,
    normalize_reward: bool = True,
    action_repeat: int = 1,
    run: Annotated[RunFlags, tyro.conf.arg(name="")] = RunFlags(log_every=2_000),  # noqa: B008  frozen
    regularizers: Annotated[PPORegularizerFlags, tyro.conf.arg(name="")] = PPORegularizerFlags(),  # noqa: B008  frozen
) -> None:
    """Train PPO; running the same command again resumes or does nothing.

    Args:
        env: dmc/<domain>-<task>, gym/<id>, probe/<name> or package.module:make_env.
        dir: the run directory.
        steps: environment steps, action repeat included, instead of the preset's.
        seed: the one seed of everything random.
        preset_: sizes, rates and schedule; lff presets list --algo ppo.
        net: network of actor and critic; authors-readme has an MLP actor unless --actor-net.
        networks: docs/networks.md has them all.
        num_envs: environments stepped together, a divisor of the rollout, instead of the preset's.
        vector: whether they live inside this process or in processes of their own.
        lr: learning rate, instead of the preset's.
        lr_decay: let the learning rate fall linearly to 0 at the end.
        rollout_steps: actions between two optimizations, over all environments together.
        epochs: how often each of them is used, instead of the preset's.
        batch_size: actions per update, instead of the preset's.
        gamma: discount.
        gae_lambda: λ of the advantages.
        clip: how far the ratio of probabilities counts from 1.
        value_clip: how far the value may move from what it was; None for any.
        value_coef: weight of the value loss.
        entropy_coef: weight of the entropy.
        max_grad_norm: largest norm of the gradient; None for any.
        normalize_obs: normalise observations by their running mean and variance.
        normalize_reward: divide rewards by the running spread of their discounted sum.
        action_repeat: frames that each action is played for.
        run: docs/training.md says what is written when.
        regularizers: docs/regularizers.md has the formulas.
    """
    given: dict[str, Any] = {
        **networks.sizes,
        **run.evaluation,
        "num_envs": num_envs,
        "lr": lr,
        "rollout_steps": rollout_steps,
        "epochs": epochs,
        "batch_size": batch_size,
        "steps": steps,
    }
    chosen = ppo_preset(preset_)
    chosen = dataclasses.replace(chosen, **{n: v for n, v in given.items() if v is not None})
    obs_dim, action_dim = dimensions(env)
    agent = ppo_config(
        chosen,
        net=net,
        actor=networks.actor_net,
        critic=networks.critic_net,
        obs_dim=obs_dim,
        action_dim=action_dim,
        actor_sigma=networks.actor_sigma,
        critic_sigma=networks.critic_sigma,
    )
    agent = dataclasses.replace(
        agent,
        lr_decay=lr_decay,
        gamma=gamma,
        gae_lambda=gae_lambda,
        clip=clip,
        value_clip=value_clip,
        value_coef=value_coef,
        entropy_coef=entropy_coef,
        max_grad_norm=max_grad_norm,
        normalize_obs=normalize_obs,
        normalize_reward=normalize_reward,
    )
    config = PPOTrainConfig(
        env=env,
        algo=regularizers.add_to(agent),
        steps=chosen.steps,
        seed=seed,
        num_envs=chosen.num_envs,
        vector=vector,
        action_repeat=action_repeat,
        eval_every=chosen.eval_every,
        eval_episodes=chosen.eval_episodes,
        **run.schedule,
    )
    wanted = run.compiled(dir, worth=config.worth_compiling)
    config = dataclasses.replace(config, compile=wanted)
    run_to_end(config, dir, run.trackers, reference_episodes=run.reference_episodes)
