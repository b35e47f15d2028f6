"""CrossQ (Bhatt et al., 2024) from state: SAC with batch norm, without a target network.

    Q(s, a), Q(s', a') = one pass of the critics over both,           a' ~ π(s')
    y      = r + γ (1 - terminated) (min_i Q_i(s', a') - α log π(a'|s')) [+ noise], held constant
    L_Q    = ½ Σ_i mean (Q_i(s, a) - y)²
    L_π, L_α as in SAC (``lff.algos.sac``)

Implementation details:

1. Batch norm stands before the first layer of actor and critics and after every nonlinearity.
2. Each critic's pass in L_Q is normalised by the statistics of the joint batch of 2n rows, which
   are part of the gradient; those of actor and critics elsewhere, in a' and in acting, are the
   running ones.  In L_π the actor is normalised by its batch, the critics by running statistics.
3. Running statistics move after every pass that is normalised by its batch: m <- 0.99 m + 0.01 m'.
   They are moved with the step, so that L_π has the critics and statistics just updated.
4. β₁ of Adam is 0.5 for actor and critics, 0.9 for α; the actor moves every third update.
5. The authors' batch renormalisation is batch normalisation for the first 100,000 updates of a
   network and is left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Unpack

import torch
from torch import Tensor, nn
from torch.func import grad

from lff.algos.base import Metrics, Options, Spaces, Trained
from lff.algos.off_policy import NoTarget, PolyakTarget, Tensors, critic_loss, critic_metrics
from lff.algos.sac import SAC, Noise, SACConfig, actor_loss, bootstrap
from lff.core.checks import Interval, Size
from lff.core.errors import BadInputError
from lff.data import Batch
from lff.nn.batch_norm import BatchNorm
from lff.nn.parts import Rng
from lff.optim import Adam
from lff.regularizers import Dropout
from lff.regularizers.base import members_of, nonlinearities


@dataclass(frozen=True, kw_only=True)
class CrossQConfig(SACConfig):
    """CrossQ; the defaults are the authors' where the shared fields do not say otherwise."""

    tag: ClassVar[str] = "crossq"
    target: PolyakTarget | NoTarget = NoTarget()  # noqa: RUF009  frozen
    """Source of the bootstrap: the critics that are trained."""
    actor_period: Size = 3
    """Critic updates between two updates of the actor."""
    momentum: Annotated[float, Interval("[0, 1)", "use 0.99")] = 0.99
    """Share of the running statistics that stays when they move."""
    beta1: Annotated[float, Interval("[0, 1)", "use 0.5")] = 0.5
    """β₁ of the Adam of actor and critics."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.target, NoTarget):
            raise BadInputError("target", self.target, "none for CrossQ", "drop it, or use sac")
        for one in self.regularizers:
            if one.penalizes or isinstance(one, Dropout):
                remedy = "leave it out, or use sac"
                raise BadInputError("regularizers", one, "without dropout and functional", remedy)

    def build(self, spaces: Spaces, **options: Unpack[Options]) -> "CrossQ":
        return CrossQ(self, spaces, **options)


class CrossQ(SAC):
    """The agent: networks with batch norm, their optimizers, and one update."""

    def __init__(self, config: CrossQConfig, spaces: Spaces, **options: Unpack[Options]) -> None:
        super().__init__(config, spaces, **options)
        for role, one in self.trained.items():
            rules = {n: replace(rule, beta1=config.beta1) for n, rule in one.adam.rules.items()}
            one.adam = self.optimizers[role] = Adam(one.parameters, rules)

    def _build(self, generator: Rng) -> tuple[nn.Module, nn.Module]:
        actor, critic = super()._build(generator)
        insert_batch_norms(actor)
        insert_batch_norms(critic)
        return actor, critic

    def _update_critics(self, batch: Batch, noise: Noise, alpha: Tensor) -> Metrics:
        obs, next_obs = self.normalized(batch.obs), self.normalized(batch.next_obs)
        next_action, next_log_prob = self._policy(
            self.actor.parameters, next_obs, noise.next_action, None
        )
        joint = torch.cat((obs, next_obs)), torch.cat((batch.action, next_action))
        gradients, (q, target_q, seen) = grad(self._joint_loss, has_aux=True)(
            self.critic.parameters, batch, joint, next_log_prob, alpha, noise.target
        )
        self.critic.adam.step(gradients)
        self._move_norms(self.critic, seen)
        metrics = critic_metrics(q, target_q)
        return metrics | {"train/critic_loss": 0.5 * metrics["train/critic_loss"]}

    def _joint_loss(
        self,
        parameters: Tensors,
        batch: Batch,
        joint: tuple[Tensor, Tensor],
        next_log_prob: Tensor,
        alpha: Tensor,
        noise: Tensor,
    ) -> tuple[Tensor, tuple[Tensor, Tensor, Tensors]]:
        seen, gamma = blanks(self.critic.network), self.config.gamma
        q, next_q = self.q(parameters, *joint, seen).chunk(2, dim=1)
        extra = self.config.target_noise * noise if self.config.target_noise else 0.0
        target_q = bootstrap(batch, next_q, next_log_prob, alpha=alpha, gamma=gamma, noise=extra)
        target_q = target_q.detach()
        return 0.5 * critic_loss(q, target_q), (q, target_q, seen)

    def _update_actor(self, batch: Batch, noise: Noise, alpha: Tensor) -> Metrics:
        gradients, (loss, log_prob, seen) = grad(self._policy_loss, has_aux=True)(
            self.actor.parameters, self.normalized(batch.obs), noise.action, alpha
        )
        self.actor.adam.step(gradients)
        self._move_norms(self.actor, seen)
        self.alpha.step(alpha, log_prob)
        return {"train/actor_loss": loss, "train/entropy": -log_prob.mean()}

    def _policy_loss(
        self, parameters: Tensors, obs: Tensor, noise: Tensor, alpha: Tensor
    ) -> tuple[Tensor, tuple[Tensor, Tensor, Tensors]]:
        seen = blanks(self.actor.network)
        action, log_prob = self._policy(parameters, obs, noise, seen)
        loss = actor_loss(self.q(None, obs, action), log_prob, alpha)
        return loss, (loss, log_prob, seen)

    def _move_norms(self, one: Trained, seen: Tensors) -> None:
        for name, norm in batch_norms(one.network).items():
            norm.move(seen[f"{name}.seen"], self.config.momentum)

    def parts(self) -> dict[str, Tensors]:
        return {name: part for name, part in super().parts().items() if name != "target"}


def insert_batch_norms(network: nn.Module) -> None:
    """Put batch norm before the first layer and after every nonlinearity, in place."""
    inner: Any = getattr(network, "stacked", network)
    members = members_of(network)
    for slot in nonlinearities(network):
        slot.put(nn.Sequential(slot.module, BatchNorm(slot.width, members=members)))
    inner.front = nn.Sequential(BatchNorm(inner.in_features, members=members), inner.front)


def batch_norms(network: nn.Module) -> Mapping[str, BatchNorm]:
    """Return the batch norms of a network, by name."""
    return {n: layer for n, layer in network.named_modules() if isinstance(layer, BatchNorm)}


def blanks(network: nn.Module) -> dict[str, Tensor]:
    """Return a tensor for every buffer ``seen``, by name: the network is then in a loss."""
    return {f"{name}.seen": norm.blank() for name, norm in batch_norms(network).items()}
