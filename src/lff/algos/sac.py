"""Soft actor-critic (Haarnoja et al., 2018) as in the paper's starting code base.

    y      = r + γ (1 - terminated) (min_i Q̄_i(s', a') - α log π(a'|s')) [+ noise],   a' ~ π(s')
    L_Q    = Σ_i mean (Q_i(s, a) - y)²
    L_π    = mean (α log π(a|s) - min_i Q_i(s, a)),                                    a ~ π(s)
    L_α    = mean α (-log π(a|s) - H̄),   H̄ = -|A|

Implementation details:

1. log σ_π is squashed by tanh into [-5, 2], not clamped.
2. The losses of the critics are summed, not averaged, and not halved.
3. α itself, not log α, multiplies the gap in L_α, as in the authors' code; log α is learned.
4. The target follows the critics every second critic update.
5. The order is critic, actor, α, target; the actor sees the critics just updated.
6. The critics are not differentiated by their weights in the actor step.
7. Noise is drawn outside and passed in, so that the update is a pure function of its inputs and one
   graph for the compiler: :meth:`SAC.update` changes its tensors in place and has no branches on
   data.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor
from torch.func import functional_call, grad

from lff.algos.adam import Adam, Rule
from lff.core.checks import check_number, check_positive, check_scale, check_size
from lff.core.errors import BadInputError
from lff.data import Batch
from lff.nn import Ensemble, NetConfig

LOG_STD = (-5.0, 2.0)


@dataclass(frozen=True, kw_only=True)
class LearnedAlpha:
    """A temperature that keeps the policy's entropy at -|A|."""

    initial: float = 0.1
    """α at the start."""
    lr: float = 1e-4
    """Learning rate of log α."""

    def __post_init__(self) -> None:
        """Check the values before anything is built."""
        check_positive("initial alpha", self.initial, remedy="use 0.1")
        check_scale("alpha lr", self.lr, remedy="use 1e-4")


@dataclass(frozen=True, kw_only=True)
class FixedAlpha:
    """A temperature that stays as it is."""

    value: float = 0.1
    """α."""

    def __post_init__(self) -> None:
        """Check the value before anything is built."""
        check_positive("alpha", self.value, remedy="use 0.1")


@dataclass(frozen=True, kw_only=True)
class PolyakTarget:
    """A target network that follows the critics: θ̄ <- θ̄ + τ (θ - θ̄)."""

    tau: float = 0.005
    """τ, the share taken over."""
    period: int = 2
    """Critic updates between two moves."""

    def __post_init__(self) -> None:
        """Check the values before anything is built."""
        if not 0 < check_number("tau", self.tau) <= 1:
            raise BadInputError("tau", self.tau, "in (0, 1]", "use 0.005")
        check_size("period", self.period)


@dataclass(frozen=True)
class NoTarget:
    """No target network: bootstrap from the critics being trained (Fig. 8)."""


@dataclass(frozen=True, kw_only=True)
class SACConfig:
    """Soft actor-critic; actor and critic are separate networks, so each variant is data."""

    actor: NetConfig
    """Network of the policy: observation -> mean and log-std."""
    critic: NetConfig
    """Network of each critic: observation and action -> Q."""
    num_critics: int = 2
    """Critics whose minimum is used."""
    gamma: float = 0.99
    """Discount γ."""
    batch_size: int = 1024
    """Transitions per update (Table 1)."""
    actor_lr: float = 1e-4
    """Learning rate of the actor (Table 1; the authors' command uses 3e-4)."""
    critic_lr: float = 1e-4
    """Learning rate of the critics."""
    alpha: LearnedAlpha | FixedAlpha = LearnedAlpha()
    """The temperature."""
    target: PolyakTarget | NoTarget = PolyakTarget()
    """What the bootstrap is taken from."""
    target_noise: float = 0.0
    """Standard deviation of Gaussian noise on y, one draw per transition and update (Fig. 7)."""

    def __post_init__(self) -> None:
        """Check the values before anything is built."""
        check_size("num_critics", self.num_critics)
        check_size("batch_size", self.batch_size)
        if not 0 <= check_number("gamma", self.gamma) < 1:
            raise BadInputError("gamma", self.gamma, "in [0, 1)", "use 0.99")
        for name in ("actor_lr", "critic_lr"):
            check_scale(name, getattr(self, name), remedy="use 1e-4")
        check_scale("target_noise", self.target_noise, remedy="use 0 for none")


class Noise(NamedTuple):
    """The random numbers of one update, drawn outside it."""

    action: Float[Tensor, "batch act"]
    next_action: Float[Tensor, "batch act"]
    target: Float[Tensor, " batch"]


def squash(
    head: Float[Tensor, "batch head"], noise: Float[Tensor, "batch act"]
) -> tuple[Float[Tensor, "batch act"], Float[Tensor, " batch"]]:
    """Return a = tanh(μ + σε) and log π(a), from the actor's output and ε.

    log π = Σ [log N(ε) - log σ - log(1 - tanh²(u))], the last in its stable form
    2 (log 2 - u - softplus(-2u)).
    """
    mean, log_std = split_head(head)
    u = mean + log_std.exp() * noise
    normal = -0.5 * noise.square() - log_std - 0.5 * math.log(2 * math.pi)
    log_det = 2 * (math.log(2) - u - F.softplus(-2 * u))
    return u.tanh(), (normal - log_det).sum(dim=-1)


def split_head(
    head: Float[Tensor, "*batch head"],
) -> tuple[Float[Tensor, "*batch act"], Float[Tensor, "*batch act"]]:
    """Return μ and log σ_π, the latter squashed into [-5, 2]."""
    mean, raw = head.chunk(2, dim=-1)
    low, high = LOG_STD
    return mean, low + 0.5 * (high - low) * (raw.tanh() + 1)


def bootstrap(
    batch: Batch,
    next_q: Float[Tensor, "critic batch"],
    next_log_prob: Float[Tensor, " batch"],
    *,
    alpha: Float[Tensor, ""],
    gamma: float,
    noise: Float[Tensor, " batch"] | float = 0.0,
) -> Float[Tensor, " batch"]:
    """Return the targets y."""
    next_value = next_q.amin(dim=0) - alpha * next_log_prob
    return batch.reward + gamma * ~batch.terminated * next_value + noise


def critic_loss(
    q: Float[Tensor, "critic batch"], target_q: Float[Tensor, " batch"]
) -> Float[Tensor, ""]:
    """Σ_i mean (Q_i - y)²."""
    return (q - target_q).square().mean(dim=1).sum()


def actor_loss(
    q: Float[Tensor, "critic batch"],
    log_prob: Float[Tensor, " batch"],
    alpha: Float[Tensor, ""],
) -> Float[Tensor, ""]:
    """Mean (α log π - min_i Q_i)."""
    return (alpha * log_prob - q.amin(dim=0)).mean()


def alpha_gradient(
    alpha: Float[Tensor, ""], log_prob: Float[Tensor, " batch"], target_entropy: float
) -> Float[Tensor, ""]:
    """Derivative of L_α = mean α (-log π - H̄) by log α, which is L_α itself."""
    return alpha * (-log_prob - target_entropy).mean()


class SAC:
    """The agent: networks, their optimizers, and one update."""

    def __init__(
        self,
        config: SACConfig,
        obs_dim: int,
        action_dim: int,
        *,
        generator: torch.Generator | None = None,
    ) -> None:
        """Build actor, critics and target; the same generator state gives the same agent."""
        self.config = config
        self.obs_dim, self.action_dim = obs_dim, action_dim
        self.target_entropy = -float(action_dim)
        self.actor = config.actor.build(obs_dim, 2 * action_dim, generator=generator)
        self.critic = Ensemble.build(
            config.critic,
            config.num_critics,
            in_features=obs_dim + action_dim,
            out_features=1,
            generator=generator,
        )
        for network in (self.actor, self.critic):
            network.requires_grad_(requires_grad=False)  # gradients come from torch.func
        self._actor: dict[str, Tensor] = dict(self.actor.named_parameters())
        self._critic: dict[str, Tensor] = dict(self.critic.named_parameters())
        self._target = {name: p.clone() for name, p in self._critic.items()}
        alpha = config.alpha
        learned = isinstance(alpha, LearnedAlpha)
        start = alpha.initial if isinstance(alpha, LearnedAlpha) else alpha.value
        self.log_alpha = torch.tensor(math.log(start))
        self.actor_adam = Adam(self._actor, {n: Rule(config.actor_lr) for n in self._actor})
        self.critic_adam = Adam(self._critic, {n: Rule(config.critic_lr) for n in self._critic})
        rule = Rule(alpha.lr if isinstance(alpha, LearnedAlpha) else 0.0)
        self.alpha_adam = Adam({"log_alpha": self.log_alpha}, {"log_alpha": rule})
        self._learns_alpha = learned

    def act(self, obs: Float[Tensor, "*batch obs"], noise: Tensor | None = None) -> Tensor:
        """Return the mean action, or a sample if noise is given."""
        with torch.inference_mode():
            mean, log_std = split_head(self.actor(obs))
            return (mean if noise is None else mean + log_std.exp() * noise).tanh()

    def q(
        self, parameters: Mapping[str, Tensor], obs: Tensor, action: Tensor
    ) -> Float[Tensor, "critic batch"]:
        """Return every critic's value under the given parameters."""
        output: Tensor = functional_call(self.critic, dict(parameters), (obs, action))
        return output.squeeze(-1)

    def policy(
        self, parameters: Mapping[str, Tensor], obs: Tensor, noise: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return sampled actions and their log-probabilities under the given parameters."""
        return squash(functional_call(self.actor, dict(parameters), (obs,)), noise)

    def update(self, batch: Batch, noise: Noise) -> dict[str, Float[Tensor, ""]]:
        """Do one critic, actor, temperature and target update in place; return metrics."""
        with torch.no_grad():
            alpha = self.log_alpha.exp()
            target_q = self._targets(batch, noise, alpha)

            def loss_of_critic(parameters: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
                q = self.q(parameters, batch.obs, batch.action)
                return critic_loss(q, target_q), q

            gradients, q = grad(loss_of_critic, has_aux=True)(self._critic)
            self.critic_adam.step(gradients)

            def loss_of_actor(
                parameters: dict[str, Tensor],
            ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
                action, log_prob = self.policy(parameters, batch.obs, noise.action)
                loss = actor_loss(self.q(self._critic, batch.obs, action), log_prob, alpha)
                return loss, (loss, log_prob)

            gradients, (loss, log_prob) = grad(loss_of_actor, has_aux=True)(self._actor)
            self.actor_adam.step(gradients)
            if self._learns_alpha:
                slope = alpha_gradient(alpha, log_prob, self.target_entropy)
                self.alpha_adam.step({"log_alpha": slope})
            self._move_target()
            return {
                "train/critic_loss": critic_loss(q, target_q),
                "train/actor_loss": loss,
                "train/alpha": alpha,
                "train/entropy": -log_prob.mean(),
                "train/q_mean": q.mean(),
                "train/q_max": q.abs().max(),
                "train/target_q_mean": target_q.mean(),
            }

    def _targets(self, batch: Batch, noise: Noise, alpha: Tensor) -> Tensor:
        next_action, next_log_prob = self.policy(self._actor, batch.next_obs, noise.next_action)
        source = self._critic if isinstance(self.config.target, NoTarget) else self._target
        next_q = self.q(source, batch.next_obs, next_action)
        extra = self.config.target_noise * noise.target if self.config.target_noise else 0.0
        return bootstrap(
            batch, next_q, next_log_prob, alpha=alpha, gamma=self.config.gamma, noise=extra
        )

    def _move_target(self) -> None:
        target = self.config.target
        if isinstance(target, NoTarget):
            return
        # a weight of 0 between the moves keeps the update free of branches on data
        weight = torch.where(self.critic_adam.count % target.period == 0, target.tau, 0.0)
        for name, follower in self._target.items():
            follower.lerp_(self._critic[name], weight.to(follower.dtype))

    def draw_noise(self, generator: torch.Generator, *, batch_size: int | None = None) -> Noise:
        """Draw the random numbers of one update."""
        size = self.config.batch_size if batch_size is None else batch_size
        action, next_action = torch.randn(2, size, self.action_dim, generator=generator)
        return Noise(action, next_action, torch.randn(size, generator=generator))

    def state(self) -> dict[str, Tensor]:
        """Return every tensor that makes up the agent, by name: what a checkpoint holds."""
        parts = {
            "actor": {**self._actor, **dict(self.actor.named_buffers())},
            "critic": {**self._critic, **dict(self.critic.named_buffers())},
            "target": self._target,
            "alpha": {"log": self.log_alpha},
            "adam/actor": self.actor_adam.state(),
            "adam/critic": self.critic_adam.state(),
            "adam/alpha": self.alpha_adam.state(),
        }
        return {
            f"{part}/{n}": value for part, values in parts.items() for n, value in values.items()
        }

    def load_state(self, tensors: Mapping[str, Tensor]) -> None:
        """Copy a checkpoint's tensors into the agent, in place."""
        own = self.state()
        if own.keys() != tensors.keys():
            odd = sorted(own.keys() ^ tensors.keys())
            raise BadInputError("checkpoint", odd[:3], "of this agent", "use the run's own config")
        with torch.no_grad():
            for name, value in own.items():
                value.copy_(tensors[name])
