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
7. Noise and dropout masks are drawn outside and passed in, so that the update is a pure function
   of its inputs and one graph for the compiler: :meth:`SAC.update` changes its tensors in place and
   has no branches on data.
8. Regularizers (``lff.regularizers``) are called when a network has been built, when its optimizer
   is made, and in the critic loss.  Functional regularization takes the place of the target
   network: the bootstrap is from the critics, and θ̄ is the lagging copy.
9. Observations are normalised inside the agent if asked for (``lff.algos.normalize``); callers and
   replay hold them as the environment gave them.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.func import functional_call, grad

from lff.algos.alpha import FixedAlpha, LearnedAlpha
from lff.algos.normalize import RunningNorm
from lff.algos.squashed import split_head, squash
from lff.algos.target import Follower, NoTarget, PolyakTarget
from lff.core.checks import check_flag, check_number, check_scale, check_size
from lff.core.config import LATER
from lff.core.errors import BadInputError
from lff.data import Batch
from lff.nn import Ensemble, NetConfig
from lff.regularizers import (
    FunctionalRegularization,
    RegularizerConfig,
    check_combination,
    draw_masks,
    dropout_of,
    penalty,
    power_steps,
    rules,
    spectral_vectors,
    update_masks,
    wrap,
)
from lff.regularizers.adam import Adam, Rule
from lff.regularizers.base import Role

Masks = Mapping[str, Mapping[str, Tensor]]


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
    alpha: LearnedAlpha | FixedAlpha = LearnedAlpha()  # noqa: RUF009  frozen
    """The temperature."""
    target: PolyakTarget | NoTarget = PolyakTarget()  # noqa: RUF009  frozen
    """What the bootstrap is taken from."""
    target_noise: float = 0.0
    """Standard deviation of Gaussian noise on y, one draw per transition and update (Fig. 7)."""
    regularizers: tuple[RegularizerConfig, ...] = field(default=(), metadata=LATER)
    """Any of ``lff.regularizers``, one of a kind per network; their order does not matter."""
    normalize_obs: bool = field(default=False, metadata=LATER)
    """Normalise observations by running statistics."""

    def __post_init__(self) -> None:
        """Check the values before anything is built."""
        check_size("num_critics", self.num_critics)
        check_size("batch_size", self.batch_size)
        if not 0 <= check_number("gamma", self.gamma) < 1:
            raise BadInputError("gamma", self.gamma, "in [0, 1)", "use 0.99")
        for name in ("actor_lr", "critic_lr"):
            check_scale(name, getattr(self, name), remedy="use 1e-4")
        check_scale("target_noise", self.target_noise, remedy="use 0 for none")
        check_flag("normalize_obs", self.normalize_obs)
        check_combination(self.regularizers)
        if any(one.penalizes_features for one in self.regularizers):
            remedy = "leave it out; it is for fitted Q-iteration"
            raise BadInputError(
                "regularizers", self.regularizers, "without feature penalty", remedy
            )
        if self.functional and self.target != PolyakTarget():
            why = "left as it is with functional regularization, which takes its place"
            raise BadInputError("target", self.target, why, "drop one of the two")

    @property
    def functional(self) -> FunctionalRegularization | None:
        """The functional regularization among the regularizers."""
        kinds = (r for r in self.regularizers if isinstance(r, FunctionalRegularization))
        return next(kinds, None)


class Noise(NamedTuple):
    """The random numbers of one update, drawn outside it."""

    action: Float[Tensor, "batch act"]
    next_action: Float[Tensor, "batch act"]
    target: Float[Tensor, " batch"]
    masks: Masks = {}  # noqa: RUF012  never changed
    """Dropout masks of each pass: critic, next_critic, actor_critic, actor, next_actor."""


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
        device: torch.device | str = "cpu",
    ) -> None:
        """Build actor, critics and target; the same generator state gives the same agent.

        Everything is drawn on the CPU and then moved, so that a seed means the same everywhere.
        """
        self.config, self.device = config, torch.device(device)
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
        extra = config.regularizers
        self._networks: dict[Role, nn.Module] = {"actor": self.actor, "critic": self.critic}
        for role, network in self._networks.items():
            wrap(network, extra, role, generator=generator)
            network.to(self.device)
            network.requires_grad_(requires_grad=False)  # gradients come from torch.func
        self._actor: dict[str, Tensor] = dict(self.actor.named_parameters())
        self._critic: dict[str, Tensor] = dict(self.critic.named_parameters())
        self._leader = self._critic | spectral_vectors(self.critic)
        self._target = {name: p.clone() for name, p in self._leader.items()}
        self._spectral = [
            (network, tensors)
            for network, tensors in (
                (self.actor, self._actor | spectral_vectors(self.actor)),
                (self.critic, self._leader),
                (self.critic, self._target),
            )
            if spectral_vectors(network)
        ]
        alpha = config.alpha
        self._learns_alpha = isinstance(alpha, LearnedAlpha)
        start = alpha.initial if isinstance(alpha, LearnedAlpha) else alpha.value
        self.log_alpha = torch.tensor(math.log(start), device=self.device)
        self.actor_adam = Adam(self._actor, rules(self.actor, extra, "actor", lr=config.actor_lr))
        self.critic_adam = Adam(
            self._critic, rules(self.critic, extra, "critic", lr=config.critic_lr)
        )
        rule = Rule(alpha.lr if isinstance(alpha, LearnedAlpha) else 0.0)
        self.alpha_adam = Adam({"log_alpha": self.log_alpha}, {"log_alpha": rule})
        self.norm = RunningNorm(obs_dim, device=self.device) if config.normalize_obs else None
        self._dropout = dropout_of(extra)
        self._functional = config.functional
        self._follower = self._follow()

    def observe(self, obs: Float[Tensor, "*batch obs"]) -> None:
        """Take note of an observation; once per environment step.  Nothing unless normalising."""
        if self.norm is not None:
            self.norm.observe(obs.to(self.device))

    def normalize(self, obs: Float[Tensor, "*batch obs"]) -> Float[Tensor, "*batch obs"]:
        """Return what the networks see of an observation."""
        return obs if self.norm is None else self.norm(obs)

    def act(
        self,
        obs: Float[Tensor, "*batch obs"],
        noise: Tensor | None = None,
        *,
        masks: Mapping[str, Tensor] | None = None,
    ) -> Tensor:
        """Return the mean action, or a sample if noise is given, on the CPU.

        Masks are those of :meth:`draw_acting_masks`; without them nothing is dropped.
        """
        with torch.inference_mode():
            x = self.normalize(obs.to(self.device))
            drops = {name: mask.to(self.device) for name, mask in (masks or {}).items()}
            head = functional_call(self.actor, drops, (x,)) if drops else self.actor(x)
            mean, log_std = split_head(head)
            noisy = mean if noise is None else mean + log_std.exp() * noise.to(self.device)
            return noisy.tanh().cpu()

    def values(
        self, obs: Float[Tensor, "*batch obs"], action: Float[Tensor, "*batch act"]
    ) -> Float[Tensor, "critic *batch"]:
        """Return every critic's Q_i(s, a) on the CPU; nothing is dropped."""
        with torch.inference_mode():
            x = self.normalize(obs.to(self.device))
            output: Tensor = self.critic(x, action.to(self.device))
            return output.squeeze(-1).cpu()

    def value(
        self, obs: Float[Tensor, "*batch obs"], action: Float[Tensor, "*batch act"]
    ) -> Float[Tensor, "*batch"]:
        """Return min_i Q_i(s, a) on the CPU; nothing is dropped."""
        return self.values(obs, action).amin(dim=0)

    def q(
        self,
        parameters: Mapping[str, Tensor],
        obs: Tensor,
        action: Tensor,
        masks: Mapping[str, Tensor] | None = None,
    ) -> Float[Tensor, "critic batch"]:
        """Return every critic's value under the given parameters."""
        tensors = {**parameters, **(masks or {})}
        output: Tensor = functional_call(self.critic, tensors, (self.normalize(obs), action))
        return output.squeeze(-1)

    def policy(
        self,
        parameters: Mapping[str, Tensor],
        obs: Tensor,
        noise: Tensor,
        masks: Mapping[str, Tensor] | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Return sampled actions and their log-probabilities under the given parameters."""
        tensors = {**parameters, **(masks or {})}
        return squash(functional_call(self.actor, tensors, (self.normalize(obs),)), noise)

    def update(self, batch: Batch, noise: Noise) -> dict[str, Float[Tensor, ""]]:
        """Do one critic, actor, temperature and target update in place; return metrics."""
        masks = noise.masks
        batch = Batch(*(x.to(self.device) for x in batch))
        with torch.no_grad():
            for network, tensors in self._spectral:
                power_steps(network, tensors)
            alpha = self.log_alpha.exp()
            target_q = self._targets(batch, noise, alpha)
            lagged_q = self._lagged(batch, noise)
            gradients, q = grad(self._loss_of_critic, has_aux=True)(
                self._critic, batch, target_q, lagged_q, masks.get("critic")
            )
            self.critic_adam.step(gradients)
            gradients, (loss, log_prob) = grad(self._loss_of_actor, has_aux=True)(
                self._actor, batch, noise, alpha
            )
            self.actor_adam.step(gradients)
            if self._learns_alpha:
                slope = alpha_gradient(alpha, log_prob, self.target_entropy)
                self.alpha_adam.step({"log_alpha": slope})
            if self._follower is not None:
                self._follower.move()
            metrics = {
                "train/critic_loss": critic_loss(q, target_q),
                "train/actor_loss": loss,
                "train/alpha": alpha,
                "train/entropy": -log_prob.mean(),
                "train/q_mean": q.mean(),
                "train/q_max": q.abs().max(),
                "train/target_q_mean": target_q.mean(),
            }
            if lagged_q is not None:
                metrics["train/penalty"] = penalty(self.config.regularizers, q, lagged_q)
            return metrics

    def _loss_of_critic(
        self,
        parameters: Mapping[str, Tensor],
        batch: Batch,
        target_q: Tensor,
        lagged_q: Tensor | None,
        masks: Mapping[str, Tensor] | None,
    ) -> tuple[Tensor, Tensor]:
        q = self.q(parameters, batch.obs, batch.action, masks)
        loss = critic_loss(q, target_q)
        if lagged_q is not None:
            loss = loss + penalty(self.config.regularizers, q, lagged_q)
        return loss, q

    def _loss_of_actor(
        self, parameters: Mapping[str, Tensor], batch: Batch, noise: Noise, alpha: Tensor
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        masks = noise.masks
        action, log_prob = self.policy(parameters, batch.obs, noise.action, masks.get("actor"))
        q = self.q(self._critic, batch.obs, action, masks.get("actor_critic"))
        loss = actor_loss(q, log_prob, alpha)
        return loss, (loss, log_prob)

    def _targets(self, batch: Batch, noise: Noise, alpha: Tensor) -> Tensor:
        masks = noise.masks
        next_action, next_log_prob = self.policy(
            self._actor, batch.next_obs, noise.next_action, masks.get("next_actor")
        )
        online = isinstance(self.config.target, NoTarget) or self._functional is not None
        source = self._critic if online else self._target
        next_q = self.q(source, batch.next_obs, next_action, masks.get("next_critic"))
        extra = self.config.target_noise * noise.target if self.config.target_noise else 0.0
        return bootstrap(
            batch, next_q, next_log_prob, alpha=alpha, gamma=self.config.gamma, noise=extra
        )

    def _lagged(self, batch: Batch, noise: Noise) -> Tensor | None:
        """Return the lagging critics' values, if a regularizer holds the critics to them."""
        if not any(regularizer.penalizes for regularizer in self.config.regularizers):
            return None
        return self.q(self._target, batch.obs, batch.action, noise.masks.get("critic"))

    def _follow(self) -> Follower | None:
        """Return what moves the target network or the lagging copy; None if nothing does."""
        target, count = self.config.target, self.critic_adam.count
        if self._functional is not None:  # a copy of the weights needs their singular vectors too
            lag = self._functional.lag
            return Follower(self._target, self._leader, share=1.0, period=lag, count=count)
        if isinstance(target, PolyakTarget):
            share, period = target.tau, target.period
            return Follower(self._target, self._critic, share=share, period=period, count=count)
        return None

    def draw_noise(self, generator: torch.Generator, *, batch_size: int | None = None) -> Noise:
        """Draw the random numbers of one update, on the CPU, and move them to the device."""
        size = self.config.batch_size if batch_size is None else batch_size
        action, next_action = torch.randn(2, size, self.action_dim, generator=generator)
        target = torch.randn(size, generator=generator)
        masks = update_masks(self._networks, self._dropout, generator, size=size)
        moved = {
            name: {key: mask.to(self.device) for key, mask in part.items()}
            for name, part in masks.items()
        }
        to = self.device
        return Noise(action.to(to), next_action.to(to), target.to(to), moved)

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
            "actor": {**self._actor, **_buffers(self.actor)},
            "critic": {**self._critic, **_buffers(self.critic)},
            "target": self._target,
            "follower": {} if self._follower is None else {"share": self._follower.share},
            "alpha": {"log": self.log_alpha},
            "adam/actor": self.actor_adam.state(),
            "adam/critic": self.critic_adam.state(),
            "adam/alpha": self.alpha_adam.state(),
            "norm": {} if self.norm is None else self.norm.state(),
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


def _buffers(network: nn.Module) -> dict[str, Tensor]:
    """Return the buffers that are kept: not the place that a mask is put into."""
    kept = network.state_dict()
    return {name: value for name, value in network.named_buffers() if name in kept}
