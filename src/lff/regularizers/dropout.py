"""Dropout after every nonlinearity of the trunk, with masks that are drawn outside the network.

    y = m ⊙ x,    m = 0 with probability p, else 1/(1 - p)

A mask is an input of the update, as noise is: the update stays a pure function, and a run can be
resumed bit for bit.  A network without a mask drops nothing, so that acting, evaluation and
export need not switch a mode.  The waves of a Fourier front are not
dropped: "every nonlinearity in the MLP" (the paper) is read as the trunk.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lff.core.checks import Interval, validate
from lff.core.errors import BadInputError
from lff.regularizers.base import ROLES, Regularizer, Role, members_of, nonlinearities


@dataclass(frozen=True, kw_only=True)
class Dropout(Regularizer):
    """Units dropped at random in every loss; the paper searches p from 0.05 to 0.2."""

    tag: ClassVar[str] = "dropout"
    turn: ClassVar[int] = 2
    p: Annotated[float, Interval("(0, 1)", "use 0.05, or leave dropout out")] = 0.05
    """Probability that a unit is dropped."""
    in_targets: bool = True
    """Drop in the bootstrap too, in next action and target critics, with separate masks."""
    when_acting: bool = False
    """Drop in the actor while acting and in evaluation: a bug that the paper's runs may have had,
    since their starting code base never switches dropout off."""

    def __post_init__(self) -> None:
        validate(self)
        if self.when_acting and self.where == "critic":
            remedy = "use actor or both, since it is the actor that acts"
            raise BadInputError("where", self.where, "actor or both to drop when acting", remedy)

    def wrap(self, network: nn.Module, generator: torch.Generator | None = None) -> None:  # noqa: ARG002
        """Put a mask behind every nonlinearity."""
        for slot in nonlinearities(network):
            slot.put(nn.Sequential(slot.module, MaskedDropout(self.p, slot.width)))


class MaskedDropout(nn.Module):
    """x times a mask that the caller puts into the buffer ``mask``; x itself if there is none."""

    mask: Tensor

    def __init__(self, p: float, width: int) -> None:
        super().__init__()
        self.p, self.width = p, width
        self.register_buffer("mask", torch.ones(()), persistent=False)

    def draw(self, axes: tuple[int, ...], generator: torch.Generator) -> Tensor:
        """Draw a mask for a batch of this shape."""
        kept = torch.rand(*axes, self.width, generator=generator) >= self.p
        return kept / (1 - self.p)

    def forward(self, x: Float[Tensor, "*batch width"]) -> Float[Tensor, "*batch width"]:
        """Return what the mask leaves."""
        return x if self.mask.ndim == 0 else x * self.mask

    def extra_repr(self) -> str:
        """Show the probability."""
        return f"p={self.p:g}"


def draw_masks(
    network: nn.Module, generator: torch.Generator, *, batch: tuple[int, ...] = ()
) -> dict[str, Tensor]:
    """Draw the masks of one pass through a network, by the names of the buffers they replace.

    A network without dropout returns none, and draws nothing from the generator.
    """
    members = members_of(network)
    axes = batch if members is None else (members, *batch)
    return {
        f"{name}.mask": module.draw(axes, generator)
        for name, module in network.named_modules()
        if isinstance(module, MaskedDropout)
    }


def dropout_of(regularizers: Sequence[Regularizer]) -> dict[Role, Dropout]:
    """Return the dropout of each network that has one."""
    return {
        role: regularizer
        for regularizer in regularizers
        if isinstance(regularizer, Dropout)
        for role in ROLES
        if regularizer.works_on(role)
    }
