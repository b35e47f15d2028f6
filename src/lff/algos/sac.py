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
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.func import grad

from lff.algos.base import (
    GREEDY,
    Exploration,
    Masks,
    Metrics,
    OffPolicyAgent,
    Probe,
    Spaces,
    check_vectors,
)
from lff.algos.entropy import (
    LOG_STD_MAX,
    LOG_STD_MIN,
    FixedAlpha,
    LearnedAlpha,
    Temperature,
    split_head,
    squash,
)
from lff.algos.moments import Moments
from lff.algos.off_policy import NoTarget, OffPolicyConfig, Polyak, PolyakTarget, shared_copy
from lff.algos.trained import Trained, update_masks
from lff.core.checks import Interval
from lff.data import Batch
from lff.nn import Ensemble
from lff.regularizers import penalty
from lff.regularizers.base import Role

Obs = Shaped[Tensor, "..."]
Actions = Float[Tensor, "*batch act"]
Tensors = Mapping[str, Tensor]


@dataclass(frozen=True, kw_only=True)
class SACConfig(OffPolicyConfig):
    """Soft actor-critic; actor and critic are separate networks, so each variant is data."""

    tag: ClassVar[str] = "sac"
    alpha: LearnedAlpha | FixedAlpha = LearnedAlpha()  # noqa: RUF009  frozen
    """The temperature."""
    log_std_min: Annotated[float, Interval(f"(-inf, {LOG_STD_MAX})", "use -5")] = LOG_STD_MIN
    """The lower end of log σ_π."""

    def build(
        self,
        spaces: Spaces,
        *,
        num_envs: int = 1,  # noqa: ARG002
        generator: torch.Generator | None = None,
        device: torch.device | str = "cpu",
    ) -> "SAC":
        """Return the agent; the same generator state gives the same agent."""
        check_vectors(spaces)
        return SAC(self, spaces, generator=generator, device=device)


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
    q: Float[Tensor, "critic batch"], log_prob: Float[Tensor, " batch"], alpha: Float[Tensor, ""]
) -> Float[Tensor, ""]:
    """Mean (α log π - min_i Q_i)."""
    return (alpha * log_prob - q.amin(dim=0)).mean()


class SAC(OffPolicyAgent):
    """The agent: networks, their optimizers, and one update."""

    value_max = "train/q_max"

    def __init__(
        self,
        config: SACConfig,
        spaces: Spaces,
        *,
        generator: torch.Generator | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        """Build actor, critics and target on the CPU, then move them to the device."""
        self.config, self.spaces, self.device = config, spaces, torch.device(device)
        actor, critic = self._build(generator)
        extra = config.regularizers
        both: dict[str, Any] = {"device": self.device, "generator": generator}
        self.actor = Trained(actor, extra, "actor", lr=config.actor_lr, **both)
        self.critic = Trained(critic, extra, "critic", lr=config.critic_lr, **both)
        leader = self.critic.parameters | self.critic.vectors
        self.target = {name: p.clone() for name, p in leader.items()}
        self.alpha = Temperature(config.alpha, spaces.action, device=self.device)
        self.norm = Moments(spaces.obs_dim) if config.normalize_obs else None
        self.networks = {"actor": actor, "critic": critic}
        if isinstance(config.target, PolyakTarget):
            self.networks["critic_target"] = shared_copy(critic, self.target)
        trained = {"critic": self.critic.adam, "actor": self.actor.adam}
        self.optimizers = trained | {"alpha": self.alpha.adam}
        self._averages = self._average()

    def _build(self, generator: torch.Generator | None) -> tuple[nn.Module, nn.Module]:
        """Return actor and critics."""
        config, (obs_dim, size) = self.config, (self.spaces.obs_dim, self.spaces.action)
        actor = config.actor.build(obs_dim, 2 * size, generator=generator)
        critic = Ensemble.build(
            config.critic,
            config.num_critics,
            in_features=obs_dim + size,
            out_features=1,
            generator=generator,
        )
        return actor, critic

    def preprocess(self, obs: Obs) -> Obs:
        """Return the environment's observations as a batch holds them."""
        return obs

    def encode(
        self,
        parameters: Tensors,  # noqa: ARG002  an encoder's
        obs: Obs,
    ) -> Float[Tensor, "*batch features"]:
        """Return what actor and critics are given of a batch's observations."""
        return obs if self.norm is None else self.norm.normalize_tensor(obs)

    def q(
        self,
        parameters: Tensors | None,
        features: Float[Tensor, "*batch features"],
        action: Actions,
        masks: Tensors | None = None,
    ) -> Float[Tensor, "critic *batch"]:
        """Return every critic's value under the given parameters, of what :meth:`encode` gave."""
        return self.critic(features, action, parameters=parameters, masks=masks).squeeze(-1)

    def act(self, obs: Obs, exploration: Exploration = GREEDY) -> Tensor:
        """Return the mean actions, or samples if there is noise, on the CPU."""
        noise, masks = exploration
        with torch.inference_mode():
            x = self.encode(self.critic.parameters, self.preprocess(obs.to(self.device)))
            head = self.actor(x, masks=masks)
            mean, log_std = split_head(head, log_std_min=self.config.log_std_min)
            noisy = mean if noise is None else mean + log_std.exp() * noise.to(self.device)
            return noisy.tanh().cpu()

    def values(self, obs: Obs, action: Actions) -> Float[Tensor, "critic *batch"]:
        """Return every critic's Q_i(s, a) on the CPU; nothing is dropped."""
        with torch.inference_mode():
            x = self.encode(self.critic.parameters, self.preprocess(obs.to(self.device)))
            return self.q(None, x, action.to(self.device)).cpu()

    def value_limit(self, reward: float) -> float:
        """Return (r + α n log 2) / (1 - γ), n log 2 being the largest entropy on [-1, 1]^n."""
        entropy = self.alpha.log_alpha.exp().item() * self.spaces.action * math.log(2)
        return float((reward + entropy) / (1 - self.config.gamma))

    def inputs(self, batch: Batch) -> list[Probe]:
        """Return actor and critics with what they are given for a batch as the replay holds it."""
        obs = self.encode(self.critic.parameters, self.preprocess(batch.obs.to(self.device)))
        inputs = {"actor": (obs,), "critic": (obs, batch.action.to(self.device))}
        return [Probe(role, self.networks[role], xs) for role, xs in inputs.items()]

    def draw(self, generator: torch.Generator, size: int) -> Noise:
        """Draw the random numbers of one update."""
        action, next_action = torch.randn(2, size, self.spaces.action, generator=generator)
        target = torch.randn(size, generator=generator)
        both: dict[Role, Trained] = {"actor": self.actor, "critic": self.critic}
        masks = update_masks(both, generator, size=size, device=self.device)
        to = self.device
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
            target_q = self._targets(batch, noise, alpha)
            lagged_q = self._lagged(batch, noise)
            gradients, q = grad(self._critic_loss, has_aux=True)(
                self.critic.parameters, batch, target_q, lagged_q, noise.masks.get("critic")
            )
            self.critic.adam.step(gradients)
            metrics = {
                "train/critic_loss": critic_loss(q, target_q),
                "train/alpha": alpha,
                "train/q_mean": q.mean(),
                "train/q_max": q.abs().max(),
                "train/target_q_mean": target_q.mean(),
            }
            if actor:
                metrics |= self._update_actor(batch, noise, alpha)
            for average in self._averages.values():
                average.move()
            if lagged_q is not None:
                metrics["train/penalty"] = penalty(self.config.regularizers, q, lagged_q)
            return metrics

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

    def _critic_loss(
        self,
        parameters: Tensors,
        batch: Batch,
        target_q: Tensor,
        lagged_q: Tensor | None,
        masks: Tensors | None,
    ) -> tuple[Tensor, Tensor]:
        q = self.q(parameters, self.encode(parameters, batch.obs), batch.action, masks)
        loss = critic_loss(q, target_q)
        if lagged_q is not None:
            loss = loss + penalty(self.config.regularizers, q, lagged_q)
        return loss, q

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

    def _lagged(self, batch: Batch, noise: Noise) -> Tensor | None:
        """Return the lagging critics' values, if a regularizer holds the critics to them."""
        if not any(regularizer.penalizes for regularizer in self.config.regularizers):
            return None
        features = self.encode(self.target, batch.obs)
        return self.q(self.target, features, batch.action, noise.masks.get("critic"))

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
        """Return every tensor of the agent by part and name, in the order an update makes them."""
        return {
            "adam/critic": self.critic.adam.state(),
            "critic": self.critic.state(),
            "adam/actor": self.actor.adam.state(),
            "actor": self.actor.state(),
            "adam/alpha": self.alpha.adam.state(),
            "alpha": {"log": self.alpha.log_alpha},
            "target": self.target,
            "polyak": {name: average.tau for name, average in self._averages.items()},
            "norm": {} if self.norm is None else self.norm.state(),
        }
