"""What a bootstrap is taken from: a network that follows the critics, or the critics themselves."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from lff.core.checks import check_number, check_size
from lff.core.config import LATER
from lff.core.errors import BadInputError


@dataclass(frozen=True, kw_only=True)
class PolyakTarget:
    """A target network that follows the critics: θ̄ <- θ̄ + τ (θ - θ̄)."""

    tau: float = 0.005
    """τ, the share taken over."""
    period: int = 2
    """Critic updates between two moves."""
    encoder_tau: float | None = field(default=None, metadata=LATER)
    """The share for the encoder of images, if it is another."""

    def __post_init__(self) -> None:
        """Check the values before anything is built."""
        for name in ("tau", "encoder_tau"):
            value = getattr(self, name)
            if value is not None and not 0 < check_number(name, value) <= 1:
                raise BadInputError(name, value, "in (0, 1]", "use 0.005")
        check_size("period", self.period)


@dataclass(frozen=True)
class NoTarget:
    """No target network: bootstrap from the critics being trained (Fig. 8)."""


class Follower:
    """Tensors that take over a share of their leaders' every ``period`` updates."""

    def __init__(
        self,
        tensors: Mapping[str, Tensor],
        leaders: Mapping[str, Tensor],
        *,
        share: float,
        period: int,
        count: Tensor,
    ) -> None:
        """Follow ``leaders``, by name, in place; ``count`` counts the updates, elsewhere."""
        self.tensors, self.leaders, self.count = tensors, leaders, count
        self.full_share, self.period = share, period
        self.share = torch.zeros(1, device=count.device)
        self.prepare()

    def move(self) -> None:
        """Take over; between the moves a share of 0 keeps branches on data away."""
        for name, value in self.leaders.items():
            self.tensors[name].lerp_(value, self.share.to(value.dtype))
        self.prepare()

    def prepare(self) -> None:
        """Set the share of the update to come; it is kept, as Adam's factors are."""
        due = (self.count + 1) % self.period == 0
        self.share.copy_(torch.where(due, self.full_share, 0.0))
