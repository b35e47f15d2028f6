"""Twin delayed deep deterministic policy gradient (Fujimoto et al., 2018) from state.

    y      = r + γ (1 - terminated) min_i Q̄_i(s', clip(π̄(s') + clip(ε, ±c), ±1)) [+ noise]
    L_Q    = Σ_i mean (Q_i(s, a) - y)²
    L_π    = -mean Q_1(s, π(s))

Implementation details:

1. π ends in tanh; ε ~ N(0, smoothing²), c is ``smoothing_clip``.
2. The losses of the critics are summed, not averaged.
3. The actor is updated every ``actor_period`` critic updates, and the targets of actor and critics
   move with it, every ``target.period`` of its updates.
4. The critics are not differentiated by their weights in the actor step.
5. Noise and dropout masks are drawn outside, so that the update is one graph for the compiler.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
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
from lff.algos.moments import Moments
from lff.algos.off_policy import NoTarget, OffPolicyConfig, Polyak, PolyakTarget, shared_copy
from lff.algos.trained import Trained, update_masks
from lff.core.checks import Scale, Size
from lff.core.errors import BadInputError
from lff.data import Batch
from lff.nn import Ensemble
from lff.regularizers.base import Role

Actions = Float[Tensor, "*batch act"]
Values = Float[Tensor, "critic *batch"]
Tensors = Mapping[str, Tensor]


@dataclass(frozen=True, kw_only=True)
class TD3Config(OffPolicyConfig):
    """TD3; the defaults are the authors' where the shared fields do not say otherwise."""

    tag: ClassVar[str] = "td3"
    target: PolyakTarget | NoTarget = PolyakTarget(period=1)  # noqa: RUF009  frozen
    """Source of the bootstrap; its period counts updates of the actor."""
    actor_period: Size = 2
    """Critic updates between two updates of the actor."""
    exploration: Scale = 0.1
    """Standard deviation of the noise on actions while training."""
    smoothing: Scale = 0.2
    """Standard deviation of the noise on the target's actions."""
    smoothing_clip: Scale = 0.5
    """Largest absolute value of that noise."""

    def __post_init__(self) -> None:
        """Check the values before anything is built."""
        super().__post_init__()
        if self.functional is not None:
            remedy = "leave it out: it replaces SAC's target network"
            raise BadInputError("regularizers", self.functional, "for SAC", remedy)

    def build(
        self,
        spaces: Spaces,
        *,
        num_envs: int = 1,  # noqa: ARG002
        generator: torch.Generator | None = None,
        device: torch.device | str = "cpu",
    ) -> "TD3":
        """Return the agent; the same generator state gives the same agent."""
        check_vectors(spaces)
        return TD3(self, spaces, generator=generator, device=device)


class Noise(NamedTuple):
    """The random numbers of one update, drawn outside it."""

    smoothing: Float[Tensor, "batch act"]
    target: Float[Tensor, " batch"]
    masks: Masks = {}  # noqa: RUF012  never changed
    """Dropout masks of each pass: critic, next_critic, actor_critic, actor, next_actor."""


class TD3(OffPolicyAgent):
    """The agent: networks, their optimizers, and one update."""

    value_max = "train/q_max"

    def __init__(
        self,
        config: TD3Config,
        spaces: Spaces,
        *,
        generator: torch.Generator | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        """Build actor, critics and targets on the CPU, then move them to the device."""
        self.config, self.spaces, self.device = config, spaces, torch.device(device)
        obs_dim, size = spaces.obs_dim, spaces.action
        actor = config.actor.build(obs_dim, size, generator=generator)
        shape = {"in_features": obs_dim + size, "out_features": 1}
        critic = Ensemble.build(config.critic, config.num_critics, **shape, generator=generator)
        extra = config.regularizers
        both: dict[str, Any] = {"device": self.device, "generator": generator}
        self.actor = Trained(actor, extra, "actor", lr=config.actor_lr, **both)
        self.critic = Trained(critic, extra, "critic", lr=config.critic_lr, **both)
        self.trained: dict[Role, Trained] = {"actor": self.actor, "critic": self.critic}
        self.targets = {
            role: {n: p.clone() for n, p in (one.parameters | one.vectors).items()}
            for role, one in self.trained.items()
        }
        self.norm = Moments(obs_dim) if config.normalize_obs else None
        self.networks = {"actor": actor, "critic": critic}
        self.optimizers = {role: one.adam for role, one in self.trained.items()}
        self._averages: dict[str, Polyak] = {}
        if isinstance(config.target, PolyakTarget):
            rule: dict[str, Any] = {"tau": config.target.tau, "period": config.target.period}
            for role, one in self.trained.items():
                target, count = self.targets[role], self.actor.adam.count
                self._averages[role] = Polyak(target, one.parameters, **rule, count=count)
                self.networks[f"{role}_target"] = shared_copy(one.network, target)

    def _normalized(self, obs: Tensor) -> Tensor:
        x = obs.to(self.device)
        return x if self.norm is None else self.norm.normalize_tensor(x)

    def act(self, obs: Tensor, exploration: Exploration = GREEDY) -> Actions:
        """Return the actions of the policy, with noise if there is any, on the CPU."""
        noise, masks = exploration
        with torch.inference_mode():
            action = self.actor(self._normalized(obs), masks=masks).tanh()
            if noise is not None:
                action = action + self.config.exploration * noise.to(self.device)
            return action.clamp(-1.0, 1.0).cpu()

    def values(self, obs: Tensor, action: Actions) -> Values:
        """Return every critic's Q_i(s, a) on the CPU; nothing is dropped."""
        with torch.inference_mode():
            return self.critic(self._normalized(obs), action.to(self.device)).squeeze(-1).cpu()

    def value_limit(self, reward: float) -> float:
        """Return r / (1 - γ)."""
        return float(reward / (1 - self.config.gamma))

    def inputs(self, batch: Batch) -> list[Probe]:
        """Return actor and critics with what they are given for a batch."""
        obs = self._normalized(batch.obs)
        inputs = {"actor": (obs,), "critic": (obs, batch.action.to(self.device))}
        return [Probe(role, self.networks[role], xs) for role, xs in inputs.items()]

    def draw(self, generator: torch.Generator, size: int) -> Noise:
        """Draw the random numbers of one update."""
        smoothing = torch.randn(size, self.spaces.action, generator=generator)
        target = torch.randn(size, generator=generator)
        masks = update_masks(self.trained, generator, size=size, device=self.device)
        return Noise(smoothing.to(self.device), target.to(self.device), masks)

    def update(self, batch: Batch, noise: Noise, *, actor: bool = True) -> Metrics:
        """Do one critic update, and with ``actor`` one of actor and targets, in place."""
        batch = Batch(*(x.to(self.device) for x in batch))
        with torch.no_grad():
            for role, one in self.trained.items():
                one.normalize_spectra()
                one.normalize_spectra(self.targets[role])
            obs = self._normalized(batch.obs)
            target_q = self._target_values(batch, noise)
            gradients, q = grad(self._critic_loss, has_aux=True)(
                self.critic.parameters, obs, batch.action, target_q, noise.masks.get("critic")
            )
            self.critic.adam.step(gradients)
            metrics = {
                "train/critic_loss": (q - target_q).square().mean(dim=1).sum(),
                "train/q_mean": q.mean(),
                "train/q_max": q.abs().max(),
                "train/target_q_mean": target_q.mean(),
            }
            if actor:
                gradients, loss = grad(self._actor_loss, has_aux=True)(
                    self.actor.parameters, obs, noise.masks
                )
                self.actor.adam.step(gradients)
                metrics["train/actor_loss"] = loss
                for average in self._averages.values():
                    average.move()
            return metrics

    def _target_values(self, batch: Batch, noise: Noise) -> Tensor:
        """Return the targets y."""
        config, obs = self.config, self._normalized(batch.next_obs)
        bare = isinstance(config.target, NoTarget)
        actor, critic = (None if bare else self.targets[role] for role in self.trained)
        clip = config.smoothing_clip
        smoothing = (config.smoothing * noise.smoothing).clamp(-clip, clip)
        action = self.actor(obs, parameters=actor, masks=noise.masks.get("next_actor")).tanh()
        action = (action + smoothing).clamp(-1.0, 1.0)
        masks = noise.masks.get("next_critic")
        next_q = self.critic(obs, action, parameters=critic, masks=masks).squeeze(-1).amin(dim=0)
        y: Tensor = batch.reward + config.gamma * ~batch.terminated * next_q
        return y + config.target_noise * noise.target if config.target_noise else y

    def _critic_loss(
        self,
        parameters: Tensors,
        obs: Tensor,
        action: Tensor,
        target_q: Tensor,
        masks: Tensors | None,
    ) -> tuple[Tensor, Tensor]:
        q = self.critic(obs, action, parameters=parameters, masks=masks).squeeze(-1)
        return (q - target_q).square().mean(dim=1).sum(), q

    def _actor_loss(self, parameters: Tensors, obs: Tensor, masks: Masks) -> tuple[Tensor, Tensor]:
        action = self.actor(obs, parameters=parameters, masks=masks.get("actor")).tanh()
        q = self.critic(obs, action, masks=masks.get("actor_critic"))
        loss = -q[0].mean()
        return loss, loss

    def parts(self) -> dict[str, Tensors]:
        """Return every tensor of the agent by part and name, in the order an update makes them."""
        return {
            "adam/critic": self.critic.adam.state(),
            "critic": self.critic.state(),
            "adam/actor": self.actor.adam.state(),
            "actor": self.actor.state(),
            "target/critic": self.targets["critic"],
            "target/actor": self.targets["actor"],
            "polyak": {role: average.tau for role, average in self._averages.items()},
            "norm": {} if self.norm is None else self.norm.state(),
        }
