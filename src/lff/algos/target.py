"""Sources of a bootstrap: a Polyak-averaged copy of the critics, or the critics themselves."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
from torch import Tensor, nn

from lff.core.checks import Config, Interval, Size

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
