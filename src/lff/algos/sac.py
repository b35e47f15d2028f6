"""Soft actor-critic (Haarnoja et al., 2018) from state, as in the paper's starting code base.

    y      = r + γ (1 - terminated) (min_i Q̄_i(s', a') - α log π(a'|s')) [+ noise],   a' ~ π(s')
    L_Q    = Σ_i mean (Q_i(s, a) - y)²
    L_π    = mean (α log π(a|s) - min_i Q_i(s, a)),                                    a ~ π(s)
    L_α    = mean α (-log π(a|s) - H̄),   H̄ = -|A|

Implementation details:

1. log σ_π is squashed by tanh into [-5, 2], not clamped.
2. The losses of the critics are summed, not averaged, and not halved.
3. α itself, not log α, multiplies the gap in L_α, as in the authors' code; log α is learned.
4. The target follows the critics every second critic update.
5. The order is critic, actor, α, target; the actor's loss uses the critics just updated.
6. The critics are not differentiated by their weights in the actor step.
7. Noise and dropout masks are drawn outside and passed in, so that the update is a pure function
   of its inputs and one graph for the compiler: it changes its tensors in place and does not branch
   on data.
8. Regularizers (``lff.regularizers``) are called when a network has been built, when its optimizer
   is made, and in the critic loss.  Functional regularization replaces the target network: the
   bootstrap is from the critics, and θ̄ is the lagging copy.
9. Observations are normalised inside the agent if asked for (``lff.algos.moments``); callers and
   replay hold them as the environment gave them.
"""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple, Unpack

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor
from torch.func import grad

from lff.algos.base import GREEDY, Exploration, Masks, Metrics, Options, Spaces
from lff.algos.off_policy import (
    NoTarget,
    Obs,
    OffPolicyAgent,
    OffPolicyConfig,
    Polyak,
    PolyakTarget,
    Rows,
    Scalar,
    Tensors,
    Values,
    shared_copy,
)
from lff.core.checks import Config, Interval, Positive, Scale
from lff.data import Batch
from lff.optim import BETA1, Adam, Rule, variable
from lff.regularizers import penalty

LOG_STD_MIN, LOG_STD_MAX = -5.0, 2.0


@dataclass(frozen=True, kw_only=True)
class LearnedAlpha(Config):
    """A temperature that keeps the policy's entropy at -|A|."""

    tag: ClassVar[str] = "learned"
    initial: Annotated[float, Positive("use 0.1")] = 0.1
    """α at the start."""
    lr: Scale = 1e-4
    """Learning rate of log α."""
    beta1: Annotated[float, Interval("[0, 1)", "use 0.9")] = BETA1
    """β₁ of its Adam (0.5 in the code base of RAD)."""


@dataclass(frozen=True, kw_only=True)
class FixedAlpha(Config):
    """A constant temperature."""

    tag: ClassVar[str] = "fixed"
    value: Annotated[float, Positive("use 0.1")] = 0.1
    """α."""


@dataclass(frozen=True, kw_only=True)
class SACConfig(OffPolicyConfig):
    """Soft actor-critic; actor and critic are separate networks, so each variant is data."""

    tag: ClassVar[str] = "sac"
    alpha: LearnedAlpha | FixedAlpha = LearnedAlpha()
    """The temperature."""
    log_std_min: Annotated[float, Interval(f"(-inf, {LOG_STD_MAX})", "use -5")] = LOG_STD_MIN
    """The lower end of log σ_π."""

    def build(self, spaces: Spaces, **options: Unpack[Options]) -> "SAC":
        return SAC(self, spaces, **options)


class Noise(NamedTuple):
    """The random numbers of one update, drawn outside it."""

    action: Float[Tensor, "batch act"]
    next_action: Float[Tensor, "batch act"]
    target: Float[Tensor, " batch"]
    masks: Masks = {}  # noqa: RUF012  never changed
    """Dropout masks of each pass: critic, next_critic, actor_critic, actor, next_actor."""


def squash(
    head: Float[Tensor, "batch head"],
    noise: Float[Tensor, "batch act"],
    *,
    log_std_min: float = LOG_STD_MIN,
) -> tuple[Float[Tensor, "batch act"], Float[Tensor, " batch"]]:
    """Return a = tanh(μ + σε) and log π(a), from the actor's output and ε.

    log π = Σ [log N(ε) - log σ - log(1 - tanh²(u))], the last in its stable form
    2 (log 2 - u - softplus(-2u)).
    """
    mean, log_std = split_head(head, log_std_min=log_std_min)
    u = mean + log_std.exp() * noise
    normal = -0.5 * noise.square() - log_std - 0.5 * math.log(2 * math.pi)
    log_det = 2 * (math.log(2) - u - F.softplus(-2 * u))
    return u.tanh(), (normal - log_det).sum(dim=-1)


def split_head(
    head: Float[Tensor, "*batch head"], *, log_std_min: float = LOG_STD_MIN
) -> tuple[Float[Tensor, "*batch act"], Float[Tensor, "*batch act"]]:
    """Return μ and log σ_π, the latter squashed into [log_std_min, 2]."""
    mean, raw = head.chunk(2, dim=-1)
    span = LOG_STD_MAX - log_std_min
    return mean, log_std_min + 0.5 * span * (raw.tanh() + 1)


def bootstrap(
    batch: Batch,
    next_q: Values,
    next_log_prob: Rows,
    *,
    alpha: Scalar,
    gamma: float,
    noise: Rows | float = 0.0,
) -> Rows:
    """Return the targets y."""
    next_value = next_q.amin(dim=0) - alpha * next_log_prob
    return batch.reward + gamma * ~batch.terminated * next_value + noise


def actor_loss(q: Values, log_prob: Rows, alpha: Scalar) -> Scalar:
    """Mean (α log π - min_i Q_i)."""
    return (alpha * log_prob - q.amin(dim=0)).mean()


class Temperature:
    """log α and its optimizer."""

    def __init__(
        self, config: LearnedAlpha | FixedAlpha, action_dim: int, *, device: torch.device
    ) -> None:
        self.learned, self.target_entropy = isinstance(config, LearnedAlpha), -float(action_dim)
        if isinstance(config, LearnedAlpha):
            start, rule = config.initial, Rule(config.lr, beta1=config.beta1)
        else:
            start, rule = config.value, Rule(0.0)
        self.log_alpha = variable(torch.tensor(math.log(start), device=device))
        self.adam = Adam({"log_alpha": self.log_alpha}, {"log_alpha": rule})

    def step(self, alpha: Float[Tensor, ""], log_prob: Float[Tensor, " batch"]) -> None:
        """Update log α, in place, if it is learned."""
        if self.learned:
            self.adam.step({"log_alpha": self.gradient(alpha, log_prob)})

    def gradient(
        self, alpha: Float[Tensor, ""], log_prob: Float[Tensor, " batch"]
    ) -> Float[Tensor, ""]:
        """Return the derivative of L_α by log α, which is L_α itself."""
        return alpha * (-log_prob - self.target_entropy).mean()


class SAC(OffPolicyAgent):
    """The agent: networks, their optimizers, and one update."""

    actor_outputs = 2  # μ and log σ

    def __init__(self, config: SACConfig, spaces: Spaces, **options: Unpack[Options]) -> None:
        super().__init__(config, spaces, **options)
        leader = self.critic.parameters | self.critic.vectors
        self.target = {name: p.clone() for name, p in leader.items()}
        self.alpha = Temperature(config.alpha, spaces.action, device=self.device)
        if isinstance(config.target, PolyakTarget):
            self.networks["critic_target"] = shared_copy(self.critic.network, self.target)
        self.optimizers["alpha"] = self.alpha.adam
        self._averages = self._average()

    def act(self, obs: Obs, exploration: Exploration = GREEDY) -> Tensor:
        noise, masks = exploration
        with torch.inference_mode():
            head = self.actor(self.features(obs), masks=masks)
            mean, log_std = split_head(head, log_std_min=self.config.log_std_min)
            noisy = mean if noise is None else mean + log_std.exp() * noise.to(self.device)
            return noisy.tanh().cpu()

    def value_limit(self, reward: float) -> float:
        """Return (r + α n log 2) / (1 - γ), n log 2 being the largest entropy on [-1, 1]^n."""
        entropy = self.alpha.log_alpha.exp().item() * self.spaces.action * math.log(2)
        return float((reward + entropy) / (1 - self.config.gamma))

    def draw(self, generator: torch.Generator, size: int) -> Noise:
        action, next_action = torch.randn(2, size, self.spaces.action, generator=generator)
        target = torch.randn(size, generator=generator)
        masks, to = self._draw_masks(generator, size), self.device
        return Noise(action.to(to), next_action.to(to), target.to(to), masks)

    def update(self, batch: Batch, noise: Noise, *, actor: bool = True) -> Metrics:
        """Do one critic, actor, temperature and target update in place; return metrics.

        Without ``actor``, actor and temperature stay (``actor_period``), and their metrics too.
        """
        batch = Batch(*(x.to(self.device) for x in batch))
        with torch.no_grad():
            self.actor.normalize_spectra()
            self.critic.normalize_spectra()
            self.critic.normalize_spectra(self.target)
            alpha = self.alpha.log_alpha.exp()
            metrics = self._update_critics(batch, noise, alpha) | {"train/alpha": alpha}
            if actor:
                metrics |= self._update_actor(batch, noise, alpha)
            for average in self._averages.values():
                average.move()
            return metrics

    def _update_critics(self, batch: Batch, noise: Noise, alpha: Tensor) -> Metrics:
        """Move the critics towards y, and to their past if a regularizer holds them to it."""
        target_q, masks = self._targets(batch, noise, alpha), noise.masks.get("critic")
        if not any(regularizer.penalizes for regularizer in self.config.regularizers):
            return self._update_critic(batch, target_q, masks)[1]
        lagged_q = self.q(self.target, self.encode(self.target, batch.obs), batch.action, masks)
        q, metrics = self._update_critic(batch, target_q, masks, lagged_q)
        return metrics | {"train/penalty": penalty(self.config.regularizers, q, lagged_q)}

    def _update_actor(self, batch: Batch, noise: Noise, alpha: Tensor) -> Metrics:
        features = self.encode(self.critic.parameters, batch.obs)
        gradients, (loss, log_prob) = grad(self._actor_loss, has_aux=True)(
            self.actor.parameters, features, noise, alpha
        )
        self.actor.adam.step(gradients)
        self.alpha.step(alpha, log_prob)
        return {"train/actor_loss": loss, "train/entropy": -log_prob.mean()}

    def _policy(
        self, parameters: Tensors, features: Tensor, noise: Tensor, masks: Tensors | None
    ) -> tuple[Tensor, Tensor]:
        """Return sampled actions and their log-probabilities under the given parameters."""
        head = self.actor(features, parameters=parameters, masks=masks)
        return squash(head, noise, log_std_min=self.config.log_std_min)

    def _actor_loss(
        self, parameters: Tensors, features: Tensor, noise: Noise, alpha: Tensor
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        masks = noise.masks
        action, log_prob = self._policy(parameters, features, noise.action, masks.get("actor"))
        q = self.q(None, features, action, masks.get("actor_critic"))
        loss = actor_loss(q, log_prob, alpha)
        return loss, (loss, log_prob)

    def _targets(self, batch: Batch, noise: Noise, alpha: Tensor) -> Tensor:
        config, masks = self.config, noise.masks
        features = self.encode(self.critic.parameters, batch.next_obs)
        next_action, next_log_prob = self._policy(
            self.actor.parameters, features, noise.next_action, masks.get("next_actor")
        )
        source = self.critic.parameters
        if isinstance(config.target, PolyakTarget) and config.functional is None:
            source = self.target
            features = self.encode(source, batch.next_obs)
        next_q = self.q(source, features, next_action, masks.get("next_critic"))
        extra = config.target_noise * noise.target if config.target_noise else 0.0
        return bootstrap(batch, next_q, next_log_prob, alpha=alpha, gamma=config.gamma, noise=extra)

    def _average(self) -> dict[str, Polyak]:
        """Return what moves the target network or the lagging copy; nothing without either."""
        config, critic = self.config, self.critic
        count, functional, target = critic.adam.count, config.functional, config.target
        if functional is not None:  # a copy of the weights needs their singular vectors too
            whole = critic.parameters | critic.vectors
            return {"tau": Polyak(self.target, whole, tau=1.0, period=functional.lag, count=count)}
        if isinstance(target, NoTarget):
            return {}
        tau, period = target.tau, target.period
        return {"tau": Polyak(self.target, critic.parameters, tau=tau, period=period, count=count)}

    def parts(self) -> dict[str, Tensors]:
        return {
            **super().parts(),
            "adam/alpha": self.alpha.adam.state(),
            "alpha": {"log": self.alpha.log_alpha},
            "target": self.target,
        }
