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

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Unpack

import torch
from jaxtyping import Float
from torch import Tensor
from torch.func import grad

from lff.algos.base import GREEDY, Exploration, Masks, Metrics, Options, Spaces
from lff.algos.off_policy import (
    Actions,
    NoTarget,
    OffPolicyAgent,
    OffPolicyConfig,
    Polyak,
    PolyakTarget,
    Tensors,
    shared_copy,
)
from lff.core.checks import Scale, Size
from lff.core.errors import BadInputError
from lff.data import Batch


@dataclass(frozen=True, kw_only=True)
class TD3Config(OffPolicyConfig):
    """TD3; the defaults are the authors', except those of the shared fields."""

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
        super().__post_init__()
        if self.functional is not None:
            remedy = "leave it out: it replaces SAC's target network"
            raise BadInputError("regularizers", self.functional, "for SAC", remedy)

    def build(self, spaces: Spaces, **options: Unpack[Options]) -> "TD3":
        return TD3(self, spaces, **options)


class Noise(NamedTuple):
    """The random numbers of one update, drawn outside it."""

    smoothing: Float[Tensor, "batch act"]
    target: Float[Tensor, " batch"]
    masks: Masks = {}  # noqa: RUF012  never changed
    """Dropout masks of each pass: critic, next_critic, actor_critic, actor, next_actor."""


class TD3(OffPolicyAgent):
    """The agent: networks, their optimizers, and one update."""

    def __init__(self, config: TD3Config, spaces: Spaces, **options: Unpack[Options]) -> None:
        super().__init__(config, spaces, **options)
        self.targets = {
            role: {n: p.clone() for n, p in (one.parameters | one.vectors).items()}
            for role, one in self.trained.items()
        }
        if isinstance(config.target, PolyakTarget):
            rule: dict[str, Any] = {"tau": config.target.tau, "period": config.target.period}
            for role, one in self.trained.items():
                target, count = self.targets[role], self.actor.adam.count
                self._averages[role] = Polyak(target, one.parameters, **rule, count=count)
                self.networks[f"{role}_target"] = shared_copy(one.network, target)

    def act(self, obs: Tensor, exploration: Exploration = GREEDY) -> Actions:
        noise, masks = exploration
        with torch.inference_mode():
            action = self.actor(self.normalized(obs), masks=masks).tanh()
            if noise is not None:
                action = action + self.config.exploration * noise.to(self.device)
            return action.clamp(-1.0, 1.0).cpu()

    def draw(self, generator: torch.Generator, size: int) -> Noise:
        smoothing = torch.randn(size, self.spaces.action, generator=generator)
        target = torch.randn(size, generator=generator)
        masks = self._draw_masks(generator, size)
        return Noise(smoothing.to(self.device), target.to(self.device), masks)

    def update(self, batch: Batch, noise: Noise, *, actor: bool = True) -> Metrics:
        """Do one critic update, and with ``actor`` one of actor and targets, in place."""
        batch = Batch(*(x.to(self.device) for x in batch))
        with torch.no_grad():
            for role, one in self.trained.items():
                one.normalize_spectra()
                one.normalize_spectra(self.targets[role])
            target_q = self._target_values(batch, noise)
            _, metrics = self._update_critic(batch, target_q, noise.masks.get("critic"))
            if actor:
                gradients, loss = grad(self._actor_loss, has_aux=True)(
                    self.actor.parameters, self.normalized(batch.obs), noise.masks
                )
                self.actor.adam.step(gradients)
                metrics["train/actor_loss"] = loss
                for average in self._averages.values():
                    average.move()
            return metrics

    def _target_values(self, batch: Batch, noise: Noise) -> Tensor:
        """Return the targets y."""
        config, obs = self.config, self.normalized(batch.next_obs)
        bare = isinstance(config.target, NoTarget)
        actor, critic = (None if bare else self.targets[role] for role in self.trained)
        clip = config.smoothing_clip
        smoothing = (config.smoothing * noise.smoothing).clamp(-clip, clip)
        action = self.actor(obs, parameters=actor, masks=noise.masks.get("next_actor")).tanh()
        action = (action + smoothing).clamp(-1.0, 1.0)
        next_q = self.q(critic, obs, action, noise.masks.get("next_critic")).amin(dim=0)
        y: Tensor = batch.reward + config.gamma * ~batch.terminated * next_q
        return y + config.target_noise * noise.target if config.target_noise else y

    def _actor_loss(self, parameters: Tensors, obs: Tensor, masks: Masks) -> tuple[Tensor, Tensor]:
        action = self.actor(obs, parameters=parameters, masks=masks.get("actor")).tanh()
        q = self.critic(obs, action, masks=masks.get("actor_critic"))
        loss = -q[0].mean()
        return loss, loss

    def parts(self) -> dict[str, Tensors]:
        targets = {f"target/{role}": tensors for role, tensors in self.targets.items()}
        return {**super().parts(), **targets}
