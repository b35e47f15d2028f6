"""Proximal policy optimization (Schulman et al., 2017) with the clipped objective.

    L_π    = -mean min(ρ A, clip(ρ, 1 ± c) A),       ρ = π(a|s) / π_old(a|s)
    L_V    = ½ mean max((V - R)², (V_old + clip(V - V_old, ±c) - R)²)
    L      = L_π + k_V L_V - k_H H(π)

A and R = A + V_old are those of :mod:`lff.algos.gae`.

Implementation details:

1. π is a Gaussian whose mean is a network of the observation; log σ_π is one learned vector.  Its
   actions are clipped to [-1, 1] by the environment, and log π is of the action before that.
2. Actor and critic are separate networks, so that LFF in one of them is data.
3. Observations and rewards are normalised by running statistics (``lff.algos.moments``), which are
   part of the agent's state.  A rollout holds observations as the actor saw them.
4. One gradient of the whole loss; its norm over both networks together is clipped.  Adam has
   ε = 1e-5, and a schedule may leave a share of the learning rate.
5. V_old and log π_old are computed once, when a rollout is complete: the networks have not changed
   since it began.
6. Hidden layers with orthogonal weights have gain √2, the output layers gains of their own.
7. Which rows make up a minibatch, and dropout masks, are drawn outside; :meth:`PPO.update` changes
   its tensors in place, has no branches on data, and is one graph for the compiler.
8. Regularizers are those of SAC, but the two that need a bootstrap's lagging critic or fitted
   Q-iteration.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import functional_call, grad

from lff.algos.clipped import policy_loss, standardized, value_loss
from lff.algos.gae import advantages, explained_variance
from lff.algos.gaussian import entropy, log_probability
from lff.algos.moments import Moments, RewardScale
from lff.algos.ppo_config import PPOConfig
from lff.algos.state import fill, kept_buffers, scale_orthogonal_
from lff.data.rollout import Rollout
from lff.optim import Adam, Rule
from lff.regularizers import (
    draw_masks,
    dropout_of,
    power_steps,
    rules,
    spectral_vectors,
    wrap,
)
from lff.regularizers.base import Role

Masks = Mapping[str, Mapping[str, Tensor]]


class Sample(NamedTuple):
    """A rollout as the update needs it, one row per action; rows that were no action are gone."""

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


class PPO:
    """The agent: networks, their optimizers, statistics, and one update."""

    def __init__(
        self,
        config: PPOConfig,
        obs_dim: int,
        action_dim: int,
        *,
        num_envs: int = 1,
        generator: torch.Generator | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        """Build actor and critic; the same generator state gives the same agent.

        Everything is drawn on the CPU and then moved, so that a seed means the same everywhere.
        """
        self.config, self.device = config, torch.device(device)
        self.obs_dim, self.obs_shape, self.action_dim = obs_dim, (obs_dim,), action_dim
        self.actor = config.actor.build(obs_dim, action_dim, generator=generator)
        self.critic = config.critic.build(obs_dim, 1, generator=generator)
        self._networks: dict[Role, nn.Module] = {"actor": self.actor, "critic": self.critic}
        gains = {"actor": config.actor_gain, "critic": config.critic_gain}
        for role, network in self._networks.items():
            scale_orthogonal_(network, hidden=config.hidden_gain, output=gains[role])
            wrap(network, config.regularizers, role, generator=generator)
            network.to(self.device)
            network.requires_grad_(requires_grad=False)  # gradients come from torch.func
        start = math.log(config.initial_std)
        self.log_std = torch.full((action_dim,), start, device=self.device)
        self._parameters: dict[Role, dict[str, Tensor]] = {
            "actor": {**dict(self.actor.named_parameters()), "log_std": self.log_std},
            "critic": dict(self.critic.named_parameters()),
        }
        self.lr_share = torch.ones(1, device=self.device)
        self.actor_adam, self.critic_adam = self._adam("actor"), self._adam("critic")
        self._spectral = [
            (network, self._parameters[role] | spectral_vectors(network))
            for role, network in self._networks.items()
            if spectral_vectors(network)
        ]
        self._dropout = dropout_of(config.regularizers)
        self.norm = Moments(obs_dim) if config.normalize_obs else None
        scale = RewardScale(num_envs, gamma=config.gamma) if config.normalize_reward else None
        self.reward_scale = scale

    def _adam(self, role: Role) -> Adam:
        config, parameters = self.config, self._parameters[role]
        own = rules(self._networks[role], config.regularizers, role, lr=config.lr)
        all_rules = {"log_std": Rule(config.lr), **own}
        return Adam(parameters, all_rules, eps=config.adam_eps, share=self.lr_share)

    def observe(self, obs: NDArray[np.float32]) -> None:
        """Take note of observations, one row each.  Nothing unless normalising."""
        if self.norm is not None:
            self.norm.observe(obs)

    def see(self, obs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return what the networks see of observations, one row each."""
        return obs if self.norm is None else self.norm.normalize(obs)

    def scale_reward(
        self,
        reward: NDArray[np.float64],
        ended: NDArray[np.bool_],
        valid: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.float32]:
        """Take note of one reward from each environment; return what is learned from."""
        if self.reward_scale is None:
            return reward.astype(np.float32)
        return self.reward_scale(reward, ended, valid)

    @property
    def reward_unit(self) -> float:
        """What a reward of 1, as it is learned from, is in the environment's own units."""
        return 1.0 if self.reward_scale is None else self.reward_scale.unit

    def normalize(self, obs: Float[Tensor, "*batch obs"]) -> Float[Tensor, "*batch obs"]:
        """Return what the networks see of an observation, as a tensor."""
        return obs if self.norm is None else self.norm.normalize_tensor(obs)

    def act(
        self,
        obs: Float[Tensor, "*batch obs"],
        noise: Tensor | None = None,
        *,
        masks: Mapping[str, Tensor] | None = None,
    ) -> Tensor:
        """Return the mean action, or a sample if noise is given, in [-1, 1] on the CPU."""
        with torch.inference_mode():
            seen = self.normalize(obs.to(self.device))
            return self.choose(seen, noise, masks=masks).clamp(-1.0, 1.0).cpu()

    def choose(
        self,
        seen: Float[Tensor, "*batch obs"],
        noise: Tensor | None = None,
        *,
        masks: Mapping[str, Tensor] | None = None,
    ) -> Float[Tensor, "*batch act"]:
        """Return actions, not clipped, for observations as the networks see them."""
        if masks:
            drops = {name: mask.to(self.device) for name, mask in masks.items()}
            mean: Tensor = functional_call(self.actor, drops, (seen,))
        else:
            mean = self.actor(seen)
        return mean if noise is None else mean + self.log_std.exp() * noise.to(self.device)

    def value(
        self, obs: Float[Tensor, "*batch obs"], action: Float[Tensor, "*batch act"] | None = None
    ) -> Float[Tensor, "*batch"]:
        """Return V(s) on the CPU, in the environment's own units; the action does not matter."""
        del action
        with torch.inference_mode():
            return self.reward_unit * self._values(self.normalize(obs.to(self.device)))

    def prepare(self, rollout: Rollout) -> tuple[Sample, dict[str, Float[Tensor, ""]]]:
        """Return a complete rollout as rows for the updates, and what can be said of V on it.

        What is said of V is in the environment's own units.
        """
        config, unit = self.config, self.reward_unit
        with torch.inference_mode():
            value = self._values(rollout.obs)
            advantage = advantages(
                rollout.reward,
                value,
                self._next_values(rollout, value),
                rollout.terminated,
                rollout.truncated,
                gamma=config.gamma,
                gae_lambda=config.gae_lambda,
            )
            rows = rollout.valid.flatten().nonzero().squeeze(1)
            columns = (rollout.obs, rollout.action, value, advantage)
            obs, action, value, advantage = (
                column.flatten(0, 1).index_select(0, rows).to(self.device) for column in columns
            )
            target = value + advantage
            log_prob = log_probability(action, self.choose(obs), self.log_std)
            metrics = {
                "train/explained_variance": explained_variance(value, target),
                "train/value_error": unit * advantage.square().mean().sqrt(),
                "train/value_mean": unit * value.mean(),
                "train/value_max": unit * value.abs().max(),
                "train/target_mean": unit * target.mean(),
            }
            if config.advantage_norm == "rollout":
                advantage = standardized(advantage)
            found = Sample(obs, action, log_prob, value, advantage, target)
        # ordinary tensors: the update does not take those of inference
        return Sample(*(column.clone() for column in found)), metrics

    def _values(self, seen: Float[Tensor, "*batch obs"]) -> Float[Tensor, "*batch"]:
        output: Tensor = self.critic(seen.to(self.device))
        return output.squeeze(-1).cpu()

    def _next_values(self, rollout: Rollout, value: Tensor) -> Tensor:
        """Return V(s') of every step: the next row's V, but where an episode was cut, or at the end
        of the rollout.
        """
        found = torch.empty_like(value)
        found[:-1] = value[1:]
        cut = rollout.truncated.clone()
        cut[-1] = True
        found[cut] = self._values(rollout.next_obs[cut])
        return found

    def update(
        self, sample: Sample, rows: Int[Tensor, " batch"], masks: Masks
    ) -> dict[str, Float[Tensor, ""]]:
        """Do one update of both networks in place on these rows; return metrics."""
        config = self.config
        batch = Sample(*(column.index_select(0, rows) for column in sample))
        if config.advantage_norm == "minibatch":
            batch = batch._replace(advantage=standardized(batch.advantage))
        with torch.no_grad():
            for network, tensors in self._spectral:
                power_steps(network, tensors)
            gradients, metrics = grad(self._loss, has_aux=True)(self._parameters, batch, masks)
            norm = sum(g.square().sum() for part in gradients.values() for g in part.values())
            norm = torch.as_tensor(norm).sqrt()
            if config.max_grad_norm is not None:
                # as torch.nn.utils.clip_grad_norm_ does it
                share = (config.max_grad_norm / (norm + 1e-6)).clamp_max(1.0)
                gradients = {
                    role: {name: g * share for name, g in part.items()}
                    for role, part in gradients.items()
                }
            self.actor_adam.step(gradients["actor"])
            self.critic_adam.step(gradients["critic"])
            return {**metrics, "train/grad_norm": norm}

    def _loss(
        self, parameters: Mapping[Role, Mapping[str, Tensor]], batch: Sample, masks: Masks
    ) -> tuple[Tensor, dict[str, Tensor]]:
        config = self.config
        actor = {n: p for n, p in parameters["actor"].items() if n != "log_std"}
        log_std = parameters["actor"]["log_std"]
        mean = functional_call(self.actor, {**actor, **masks.get("actor", {})}, (batch.obs,))
        drops = masks.get("critic", {})
        output: Tensor = functional_call(
            self.critic, {**parameters["critic"], **drops}, (batch.obs,)
        )
        value = output.squeeze(-1)
        log_prob = log_probability(batch.action, mean, log_std)
        of_policy = policy_loss(log_prob, batch.log_prob, batch.advantage, clip=config.clip)
        of_value = value_loss(value, batch.value, batch.target, clip=config.value_clip)
        spread = entropy(log_std)
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

    def draw_masks(self, generator: torch.Generator, *, size: int) -> Masks:
        """Draw the dropout masks of one update, on the CPU, and move them to the device."""
        return {
            role: {
                name: mask.to(self.device)
                for name, mask in draw_masks(self._networks[role], generator, batch=(size,)).items()
            }
            for role in self._dropout
        }

    def draw_acting_masks(
        self, generator: torch.Generator, *, batch: tuple[int, ...] = ()
    ) -> dict[str, Tensor]:
        """Draw what :meth:`act` drops: nothing, and no number, unless dropout acts (a bug)."""
        dropout = self._dropout.get("actor")
        if dropout is None or not dropout.when_acting:
            return {}
        return draw_masks(self.actor, generator, batch=batch)

    def state(self) -> dict[str, Tensor]:
        """Return every tensor that makes up the agent, by name: what a checkpoint holds."""
        parts = {
            "actor": {**self._parameters["actor"], **kept_buffers(self.actor)},
            "critic": {**self._parameters["critic"], **kept_buffers(self.critic)},
            "adam/actor": self.actor_adam.state(),
            "adam/critic": self.critic_adam.state(),
            "adam": {"share": self.lr_share},
            "norm": {} if self.norm is None else self.norm.state(),
            "reward": {} if self.reward_scale is None else self.reward_scale.state(),
        }
        return {
            f"{part}/{n}": value for part, values in parts.items() for n, value in values.items()
        }

    def load_state(self, tensors: Mapping[str, Tensor]) -> None:
        """Copy a checkpoint's tensors into the agent, in place."""
        fill(self.state(), tensors)
