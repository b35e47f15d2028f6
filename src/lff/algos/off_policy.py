"""Fields that every algorithm with a replay memory shares, and the sources of its bootstrap."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import torch
from torch import Tensor, nn

from lff.algos.base import Spaces
from lff.core.checks import Config, Interval, Scale, Size, validate
from lff.core.errors import BadInputError
from lff.data import Memory, Replay
from lff.nn import NetConfig
from lff.regularizers import FunctionalRegularization, RegularizerConfig, check_combination

Share = Annotated[float, Interval("(0, 1]", "use 0.005")]


@dataclass(frozen=True, kw_only=True)
class PolyakTarget(Config):
    """A target network that follows the critics: θ̄ <- θ̄ + τ (θ - θ̄)."""

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
    """Tensors that move a share τ towards their leaders every ``period`` updates."""

    def __init__(
        self,
        tensors: Mapping[str, Tensor],
        leaders: Mapping[str, Tensor],
        *,
        tau: float,
        period: int,
        count: Tensor,
    ) -> None:
        """Follow ``leaders``, by name, in place; ``count`` counts the updates, elsewhere."""
        self.tensors, self.leaders, self.count = tensors, leaders, count
        self.full_tau, self.period = tau, period
        self.tau = torch.zeros(1, device=count.device)
        self._prepare()

    def move(self) -> None:
        """Move; between the moves a τ of 0 keeps branches on data out of the graph."""
        for name, value in self.leaders.items():
            self.tensors[name].lerp_(value, self.tau.to(value.dtype))
        self._prepare()

    def _prepare(self) -> None:
        """Set the τ of the next update; it is stored, as Adam's factors are."""
        due = (self.count + 1) % self.period == 0
        self.tau.copy_(torch.where(due, self.full_tau, 0.0))


def shared_copy(network: nn.Module, tensors: Mapping[str, Tensor]) -> nn.Module:
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
        """Check the values before anything is built."""
        validate(self)
        check_combination(self.regularizers)
        if any(one.penalizes_features for one in self.regularizers):
            remedy = "leave it out; it is for fitted Q-iteration"
            raise BadInputError(
                "regularizers", self.regularizers, "without feature penalty", remedy
            )
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
        """Return the replay memory."""
        return Replay(capacity, obs_dim=spaces.obs_dim, action_dim=spaces.action)
