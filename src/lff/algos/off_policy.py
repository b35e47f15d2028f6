"""Fields, networks and sources of the bootstrap that algorithms with a replay memory share."""

import copy
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.func import grad

from lff.algos.base import Agent, Metrics, Probe, Spaces, Trained, check_vectors
from lff.core.checks import Config, Interval, Scale, Size, validate
from lff.core.errors import BadInputError
from lff.data import Batch, Memory, Replay
from lff.nn import Ensemble, NetConfig
from lff.nn.parts import Rng
from lff.optim import Tensors
from lff.regularizers import FunctionalRegularization, RegularizerConfig, check_combination, penalty

Obs = Shaped[Tensor, "..."]
Actions = Float[Tensor, "*batch act"]
Values = Float[Tensor, "critic batch"]
Rows = Float[Tensor, " batch"]
Scalar = Float[Tensor, ""]
Share = Annotated[float, Interval("(0, 1]", "use 0.005")]


@dataclass(frozen=True, kw_only=True)
class PolyakTarget(Config):
    """A Polyak-averaged copy of the critics: θ̄ <- θ̄ + τ (θ - θ̄)."""

    tag: ClassVar[str] = "polyak"
    tau: Share = 0.005
    """Polyak coefficient τ."""
    period: Size = 2
    """Critic updates between two moves."""
    encoder_tau: Share | None = None
    """Polyak coefficient of the encoder of images, if it is another."""


@dataclass(frozen=True)
class NoTarget(Config):
    """No target network: bootstrap from the critics being trained (Fig. 8)."""

    tag: ClassVar[str] = "none"


class Polyak:
    """Polyak averaging: tensors move by τ towards their originals every ``period`` updates."""

    def __init__(
        self, tensors: Tensors, leaders: Tensors, *, tau: float, period: int, count: Tensor
    ) -> None:
        """Follow ``leaders``, by name, in place; ``count`` counts the updates, elsewhere."""
        self.tensors, self.leaders, self.count = tensors, leaders, count
        self.full_tau, self.period = tau, period
        self.tau = torch.zeros(1, device=count.device)
        self._prepare()

    def move(self) -> None:
        """Do one step; between periods τ is 0, which keeps branches on data out of the graph."""
        for name, value in self.leaders.items():
            self.tensors[name].lerp_(value, self.tau.to(value.dtype))
        self._prepare()

    def _prepare(self) -> None:
        """Set the τ of the next update; it is stored, as Adam's factors are."""
        due = (self.count + 1) % self.period == 0
        self.tau.copy_(torch.where(due, self.full_tau, 0.0))


def shared_copy(network: nn.Module, tensors: Tensors) -> nn.Module:
    """Return a network of the same structure that shares the memory of ``tensors``, by name."""
    twin = copy.deepcopy(network)
    for name, tensor in (*twin.named_parameters(), *twin.named_buffers()):
        if name in tensors:
            tensor.data = tensors[name].data
    return twin.requires_grad_(requires_grad=False)


@dataclass(frozen=True, kw_only=True)
class OffPolicyConfig(Config):
    """Actor, critics and their training from replayed transitions."""

    learns_from: ClassVar[Literal["replay"]] = "replay"
    actor: NetConfig
    """Network of the policy."""
    critic: NetConfig
    """Network of each critic: observation and action -> Q."""
    num_critics: Size = 2
    """Critics whose minimum is used."""
    gamma: Annotated[float, Interval("[0, 1)", "use 0.99")] = 0.99
    """Discount γ."""
    batch_size: Size = 1024
    """Transitions per update (Table 1)."""
    actor_lr: Scale = 1e-4
    """Learning rate of the actor (Table 1; the authors' command uses 3e-4)."""
    critic_lr: Scale = 1e-4
    """Learning rate of the critics."""
    target: PolyakTarget | NoTarget = PolyakTarget()
    """Source of the bootstrap."""
    target_noise: Scale = 0.0
    """Standard deviation of Gaussian noise on y, one draw per transition and update (Fig. 7)."""
    regularizers: tuple[RegularizerConfig, ...] = ()
    """Any of ``lff.regularizers``, one of a kind per network; their order does not matter."""
    normalize_obs: bool = False
    """Normalise observations by running statistics."""
    actor_period: Size = 1
    """Critic updates between two updates of the actor."""
    warmup_steps: Size = 5_000
    """Environment steps with uniform random actions before the first update."""
    replay_capacity: Size = 1_000_000
    """Transitions kept."""
    updates_per_step: Size = 1
    """Updates per action."""

    def __post_init__(self) -> None:
        validate(self)
        check_combination(self.regularizers)
        if any(one.penalizes_features for one in self.regularizers):
            remedy = "leave it out; it is for fitted Q-iteration"
            raise BadInputError("regularizers", self.regularizers, "without a penalty", remedy)
        tau = getattr(self.target, "encoder_tau", None)
        if tau is not None and not hasattr(self, "encoder"):
            remedy = "drop it, or use an algorithm with an encoder"
            raise BadInputError("encoder_tau", tau, "left out without an encoder", remedy)
        if self.functional and self.target != type(self).target:
            why = "left as it is with functional regularization, which replaces it"
            raise BadInputError("target", self.target, why, "drop one of the two")

    @property
    def functional(self) -> FunctionalRegularization | None:
        """The functional regularization among the regularizers."""
        kinds = (r for r in self.regularizers if isinstance(r, FunctionalRegularization))
        return next(kinds, None)

    def memory(self, spaces: Spaces, capacity: int) -> Memory:
        return Replay(capacity, obs_dim=spaces.obs_dim, action_dim=spaces.action)


def critic_loss(q: Values, target_q: Rows) -> Scalar:
    """Σ_i mean (Q_i - y)²."""
    return (q - target_q).square().mean(dim=1).sum()


def critic_metrics(q: Values, target_q: Rows) -> Metrics:
    """Return the metrics of the critics' values and their targets."""
    return {
        "train/critic_loss": critic_loss(q, target_q),
        "train/q_mean": q.mean(),
        "train/q_max": q.abs().max(),
        "train/target_q_mean": target_q.mean(),
    }


class OffPolicyAgent(Agent):
    """An actor, critics with their action as second input, and the optimizers of both."""

    value_max = "train/q_max"
    actor_outputs: ClassVar[int] = 1
    """Outputs of the actor for each component of the action."""

    def __init__(
        self,
        config: OffPolicyConfig,
        spaces: Spaces,
        *,
        num_envs: int = 1,  # noqa: ARG002
        generator: Rng = None,
        device: torch.device | str = "cpu",
    ) -> None:
        """Build the networks on the CPU, then move them to the device."""
        super().__init__(config, spaces, device=device)
        actor, critic = self._build(generator)
        extra = config.regularizers
        both: dict[str, Any] = {"device": self.device, "generator": generator}
        self._hold(
            Trained(actor, extra, "actor", lr=config.actor_lr, **both),
            Trained(critic, extra, "critic", lr=config.critic_lr, **both),
        )
        self._averages: dict[str, Polyak] = {}

    def _build(self, generator: Rng) -> tuple[nn.Module, nn.Module]:
        check_vectors(self.spaces)
        config, (obs_dim, size) = self.config, (self.spaces.obs_dim, self.spaces.action)
        actor = config.actor.build(obs_dim, self.actor_outputs * size, generator=generator)
        shape = {"in_features": obs_dim + size, "out_features": 1}
        critic = Ensemble.build(config.critic, config.num_critics, **shape, generator=generator)
        return actor, critic

    def _draw_masks(self, generator: torch.Generator, size: int) -> dict[str, Tensors]:
        """Draw the masks of every pass of one update through a network with dropout.

        The passes are ``actor`` and ``actor_critic`` in the actor loss, ``critic`` in the critic
        loss, ``next_actor`` and ``next_critic`` in the bootstrap.
        """
        masks: dict[str, Tensors] = {}
        for role, one in self.trained.items():
            if one.dropout is not None:
                passes = [role, "actor_critic"] if role == "critic" else [role]
                passes += [f"next_{role}"] if one.dropout.in_targets else []
                masks |= {name: one.masks(generator, (size,)) for name in passes}
        return masks

    def preprocess(self, obs: Obs) -> Obs:
        """Return the environment's observations as a batch holds them."""
        return obs

    def encode(self, parameters: Tensors, obs: Obs) -> Float[Tensor, "*batch features"]:  # noqa: ARG002  an encoder's
        """Return the inputs of actor and critics for a batch's observations."""
        return self.normalized(obs)

    def features(self, obs: Obs) -> Float[Tensor, "*batch features"]:
        """Return the inputs of actor and critics for the environment's observations."""
        return self.encode(self.critic.parameters, self.preprocess(obs.to(self.device)))

    def q(
        self,
        parameters: Tensors | None,
        features: Float[Tensor, "*batch features"],
        action: Actions,
        masks: Tensors | None = None,
    ) -> Float[Tensor, "critic *batch"]:
        """Return every critic's value under the given parameters, for outputs of :meth:`encode`."""
        return self.critic(features, action, parameters=parameters, masks=masks).squeeze(-1)

    def _update_critic(
        self, batch: Batch, target_q: Rows, masks: Tensors | None, lagged_q: Values | None = None
    ) -> tuple[Values, Metrics]:
        """Move the critics towards these targets; return what their values were, and metrics."""
        gradients, q = grad(self._critic_loss, has_aux=True)(
            self.critic.parameters, batch, target_q, masks, lagged_q
        )
        self.critic.adam.step(gradients)
        return q, critic_metrics(q, target_q)

    def _critic_loss(
        self,
        parameters: Tensors,
        batch: Batch,
        target_q: Tensor,
        masks: Tensors | None,
        lagged_q: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
        q = self.q(parameters, self.encode(parameters, batch.obs), batch.action, masks)
        loss = critic_loss(q, target_q)
        if lagged_q is not None:
            loss = loss + penalty(self.config.regularizers, q, lagged_q)
        return loss, q

    def values(self, obs: Obs, action: Actions) -> Float[Tensor, "critic *batch"]:
        """Return every critic's Q_i(s, a) on the CPU; nothing is dropped."""
        with torch.inference_mode():
            return self.q(None, self.features(obs), action.to(self.device)).cpu()

    def value(self, obs: Obs, action: Actions) -> Float[Tensor, "*batch"]:
        """Return min_i Q_i(s, a) on the CPU; nothing is dropped."""
        return self.values(obs, action).amin(dim=0)

    def inputs(self, batch: Batch) -> list[Probe]:
        obs = self.features(batch.obs)
        inputs = {"actor": (obs,), "critic": (obs, batch.action.to(self.device))}
        return [Probe(role, self.networks[role], xs) for role, xs in inputs.items()]

    def parts(self) -> dict[str, Tensors]:
        taus = {name: average.tau for name, average in self._averages.items()}
        return {**super().parts(), "polyak": taus}
