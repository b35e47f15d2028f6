"""Proximal policy optimization (Schulman et al., 2017) with the clipped objective.

    L_π    = -mean min(ρ A, clip(ρ, 1 ± c) A),       ρ = π(a|s) / π_old(a|s)
    L_V    = ½ mean max((V - R)², (V_old + clip(V - V_old, ±c) - R)²)
    L      = L_π + k_V L_V - k_H H(π)

A and R = A + V_old are those of :func:`lff.algos.policy_gradient.advantages`.

Implementation details:

1. π is a Gaussian whose mean is a network of the observation; log σ_π is one learned vector.  Its
   actions are clipped to [-1, 1] by the environment, and log π is of the action before that.
2. Actor and critic are separate networks, so that LFF in one of them is data.
3. Observations and rewards are normalised by running statistics (``lff.algos.moments``), which are
   part of the agent's state.  A rollout holds observations as the actor was given them.
4. One gradient of the whole loss; its norm over both networks together is clipped.  Adam has
   ε = 1e-5, and a schedule may leave a share of the learning rate.
5. V_old and log π_old are computed once, when a rollout is complete: the networks have not changed
   since it began.
6. Hidden layers with orthogonal weights have gain √2, the output layers gains of their own.
7. Which rows make up a minibatch, and dropout masks, are drawn outside; :meth:`PPO.update` changes
   its tensors in place, does not branch on data, and is one graph for the compiler.
8. Regularizers are those of SAC, but the two that need a bootstrap's lagging critic or fitted
   Q-iteration.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Unpack

import torch
from jaxtyping import Float
from torch import Tensor
from torch.func import grad

from lff.algos import policy_gradient as pg
from lff.algos.base import (
    GREEDY,
    Exploration,
    Masks,
    Metrics,
    Minibatch,
    OnPolicyAgent,
    Options,
    Probe,
    Spaces,
    Trained,
    check_vectors,
    scale_orthogonal_,
)
from lff.algos.moments import RewardScale
from lff.core.checks import Config, Interval, Positive, Scale, Size, validate
from lff.core.errors import BadInputError
from lff.data.rollout import Rollout
from lff.nn import NetConfig
from lff.regularizers import RegularizerConfig, check_combination
from lff.regularizers.base import Role

Share = Annotated[float, Interval("[0, 1]", "use 0.95")]
Above = Annotated[float, Positive("use 0.5, say")]
AdvantageNorm = Literal["minibatch", "rollout", "none"]


@dataclass(frozen=True, kw_only=True)
class PPOConfig(Config):
    """Proximal policy optimization; the defaults are those of the paper's Table 3."""

    tag: ClassVar[str] = "ppo"
    learns_from: ClassVar[Literal["rollout"]] = "rollout"
    actor: NetConfig
    """Network of the policy: observation -> mean action."""
    critic: NetConfig
    """Network of the value: observation -> V."""
    gamma: Share = 0.99
    """Discount γ."""
    gae_lambda: Share = 0.95
    """λ of the advantages."""
    clip: Above = 0.2
    """c, how far ρ counts from 1."""
    value_clip: Above | None = 0.2
    """c of the value loss; None does not clip it."""
    lr: Scale = 3e-4
    """Learning rate of both networks."""
    lr_decay: bool = True
    """Let the learning rate fall linearly to 0 at the end of the run."""
    rollout_steps: Size = 2048
    """Actions between two optimizations, over all environments together."""
    epochs: Size = 10
    """How often each of them is used."""
    batch_size: Size = 64
    """Actions per update."""
    entropy_coef: Scale = 0.0
    """k_H."""
    value_coef: Scale = 0.5
    """k_V."""
    max_grad_norm: Above | None = 0.5
    """Largest norm of the gradient of both networks; None does not clip it."""
    advantage_norm: AdvantageNorm = "minibatch"
    """Over what advantages get mean 0 and variance 1."""
    adam_eps: Above = 1e-5
    """Adam's ε."""
    initial_std: Above = 1.0
    """σ_π at the start."""
    hidden_gain: Above = math.sqrt(2)  # noqa: RUF009
    """Gain of orthogonal hidden layers."""
    actor_gain: Scale = 0.01
    """Gain of the actor's output layer."""
    critic_gain: Scale = 1.0
    """Gain of the critic's output layer."""
    normalize_obs: bool = True
    """Normalise observations by running statistics."""
    normalize_reward: bool = True
    """Divide rewards by the running spread of their discounted sum."""
    regularizers: tuple[RegularizerConfig, ...] = ()
    """Any of ``lff.regularizers`` but the two that belong to Q-learning."""

    def __post_init__(self) -> None:
        validate(self)
        if self.batch_size > self.rollout_steps:
            remedy = f"use {self.rollout_steps} or less"
            raise BadInputError("batch_size", self.batch_size, "at most a rollout", remedy)
        check_combination(self.regularizers)
        if any(one.penalizes or one.penalizes_features for one in self.regularizers):
            remedy = "leave it out; it is for Q-learning"
            raise BadInputError("regularizers", self.regularizers, "without penalty of Q", remedy)

    def build(self, spaces: Spaces, **options: Unpack[Options]) -> "PPO":
        return PPO(self, spaces, **options)


class Sample(NamedTuple):
    """A rollout as the update needs it, one row per action; rows without an action are left out."""

    obs: Float[Tensor, "row obs"]
    """As the networks see it."""
    action: Float[Tensor, "row act"]
    log_prob: Float[Tensor, " row"]
    """log π_old."""
    value: Float[Tensor, " row"]
    """V_old."""
    advantage: Float[Tensor, " row"]
    target: Float[Tensor, " row"]
    """R."""


class PPO(OnPolicyAgent):
    """The agent: networks, their optimizers, statistics, and one update."""

    value_max = "train/value_max"
    value_letter = "V"

    def __init__(
        self,
        config: PPOConfig,
        spaces: Spaces,
        *,
        num_envs: int = 1,
        generator: torch.Generator | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__(config, spaces, device=device)
        check_vectors(spaces)
        if config.rollout_steps % num_envs:
            wanted = f"a divisor of {config.rollout_steps}"
            raise BadInputError("num_envs", num_envs, wanted, "change it or rollout_steps")
        actor = config.actor.build(spaces.obs_dim, spaces.action, generator=generator)
        critic = config.critic.build(spaces.obs_dim, 1, generator=generator)
        for network, gain in ((actor, config.actor_gain), (critic, config.critic_gain)):
            scale_orthogonal_(network, hidden=config.hidden_gain, output=gain)
        start = math.log(config.initial_std)
        self.log_std = torch.full((spaces.action,), start, device=self.device)
        self.lr_share = torch.ones(1, device=self.device)
        both: dict[str, Any] = {"device": self.device, "generator": generator, "lr": config.lr}
        both |= {"eps": config.adam_eps, "share": self.lr_share}
        extra, spread = config.regularizers, {"log_std": self.log_std}
        self._hold(
            Trained(actor, extra, "actor", extra=spread, **both),
            Trained(critic, extra, "critic", **both),
        )
        scaled = config.normalize_reward
        self.reward_scale = RewardScale(num_envs, gamma=config.gamma) if scaled else None

    @property
    def reward_unit(self) -> float:
        """A scaled reward of 1 in the environment's own units."""
        return 1.0 if self.reward_scale is None else self.reward_scale.unit

    def act(
        self, obs: Float[Tensor, "*batch obs"], exploration: Exploration = GREEDY
    ) -> Float[Tensor, "*batch act"]:
        with torch.inference_mode():
            return self.choose(self.normalized(obs), exploration).clamp(-1.0, 1.0).cpu()

    def value(
        self, obs: Float[Tensor, "*batch obs"], action: Float[Tensor, "*batch act"] | None = None
    ) -> Float[Tensor, "*batch"]:
        """Return V(s) on the CPU, in the environment's own units; the action does not matter."""
        del action
        with torch.inference_mode():
            return self.reward_unit * self._values(self.normalized(obs))

    def inputs(self, batch: Float[Tensor, "batch obs"]) -> list[Probe]:
        return [Probe(role, network, (batch,)) for role, network in self.networks.items()]

    def prepare(self, rollout: Rollout) -> tuple[Sample, dict[str, Float[Tensor, ""]]]:
        """Return a complete rollout as rows for the updates, and metrics of V, in task units."""
        config, unit = self.config, self.reward_unit
        with torch.inference_mode():
            value = self._values(rollout.obs)
            next_value = self._next_values(rollout, value)
            ends = rollout.terminated, rollout.truncated
            decay = {"gamma": config.gamma, "gae_lambda": config.gae_lambda}
            advantage = pg.advantages(rollout.reward, value, next_value, *ends, **decay)
            rows = rollout.valid.flatten().nonzero().squeeze(1)
            columns = (rollout.obs, rollout.action, value, advantage)
            obs, action, value, advantage = (
                column.flatten(0, 1).index_select(0, rows).to(self.device) for column in columns
            )
            target = value + advantage
            log_prob = pg.log_probability(action, self.choose(obs), self.log_std)
            metrics = {
                "train/explained_variance": pg.explained_variance(value, target),
                "train/value_error": unit * advantage.square().mean().sqrt(),
                "train/value_mean": unit * value.mean(),
                "train/value_max": unit * value.abs().max(),
                "train/target_mean": unit * target.mean(),
            }
            if config.advantage_norm == "rollout":
                advantage = pg.standardized(advantage)
            found = Sample(obs, action, log_prob, value, advantage, target)
        # ordinary tensors: the update does not take those of inference
        return Sample(*(column.clone() for column in found)), metrics

    def _values(self, obs: Float[Tensor, "*batch obs"]) -> Float[Tensor, "*batch"]:
        return self.critic(obs.to(self.device)).squeeze(-1).cpu()

    def _next_values(self, rollout: Rollout, value: Tensor) -> Tensor:
        """Return V(s') of every step: the next row's V, but where an episode was cut, or at the end
        of the rollout.
        """
        found, cut = value.roll(-1, dims=0), rollout.truncated.clone()
        cut[-1] = True
        found[cut] = self._values(rollout.next_obs[cut])
        return found

    def update(self, batch: Minibatch, noise: Masks, *, actor: bool = True) -> Metrics:  # noqa: ARG002
        """Do one update of both networks in place on these rows; return metrics."""
        config = self.config
        rows = Sample(*(column.index_select(0, batch.rows) for column in batch.sample))
        if config.advantage_norm == "minibatch":
            rows = rows._replace(advantage=pg.standardized(rows.advantage))
        with torch.no_grad():
            for trained in self.trained.values():
                trained.normalize_spectra()
            parameters = {role: trained.parameters for role, trained in self.trained.items()}
            gradients, metrics = grad(self._loss, has_aux=True)(parameters, rows, noise)
            norm = sum(g.square().sum() for part in gradients.values() for g in part.values())
            norm = torch.as_tensor(norm).sqrt()
            limit = config.max_grad_norm
            # as torch.nn.utils.clip_grad_norm_ does it
            share = 1.0 if limit is None else (limit / (norm + 1e-6)).clamp_max(1.0)
            for role, trained in self.trained.items():
                trained.adam.step({name: g * share for name, g in gradients[role].items()})
            rate = config.lr * self.lr_share.squeeze()
            spread = self.log_std.exp().mean()
            return {**metrics, "train/grad_norm": norm, "train/lr": rate, "train/std": spread}

    def _loss(
        self, parameters: Mapping[Role, Mapping[str, Tensor]], batch: Sample, masks: Masks
    ) -> tuple[Tensor, dict[str, Tensor]]:
        config = self.config
        weights = {n: p for n, p in parameters["actor"].items() if n != "log_std"}
        log_std = parameters["actor"]["log_std"]
        mean = self.actor(batch.obs, parameters=weights, masks=masks.get("actor"))
        value = self.critic(
            batch.obs, parameters=parameters["critic"], masks=masks.get("critic")
        ).squeeze(-1)
        log_prob = pg.log_probability(batch.action, mean, log_std)
        of_policy = pg.policy_loss(log_prob, batch.log_prob, batch.advantage, clip=config.clip)
        of_value = pg.value_loss(value, batch.value, batch.target, clip=config.value_clip)
        spread = pg.entropy(log_std)
        loss = of_policy + config.value_coef * of_value - config.entropy_coef * spread
        change = log_prob - batch.log_prob
        ratio = change.exp()
        metrics = {
            "train/actor_loss": of_policy,
            "train/critic_loss": of_value,
            "train/entropy": spread,
            # Schulman's estimate of KL(π_old, π), never negative: mean of ρ - 1 - log ρ
            "train/kl": (ratio - 1 - change).mean(),
            "train/clip_share": ((ratio - 1).abs() > config.clip).float().mean(),
        }
        return loss, metrics

    def draw(self, generator: torch.Generator, size: int) -> Masks:
        dropping = {role: one for role, one in self.trained.items() if one.dropout is not None}
        return {role: one.masks(generator, (size,)) for role, one in dropping.items()}

    def parts(self) -> dict[str, Mapping[str, Tensor]]:
        return {
            **super().parts(),
            "adam": {"share": self.lr_share},
            "reward": {} if self.reward_scale is None else self.reward_scale.state(),
        }
