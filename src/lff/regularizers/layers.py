"""Regularizers that change the layers of a trunk: dropout, layer norm, spectral normalisation.

Dropout after every nonlinearity, with masks that are drawn outside the network:

    y = m ⊙ x,    m = 0 with probability p, else 1/(1 - p)

A mask is an input of the update, as noise is: the update stays a pure function, and a run can be
resumed bit for bit.  A network without a mask drops nothing, so that acting, evaluation and export
need not switch a mode.  The waves of a Fourier front are not dropped: "every nonlinearity in the
MLP" (the paper) is read as the trunk.

Layer normalisation (Ba et al., 2016) between each hidden Linear layer and its nonlinearity:

    h = τ(s ⊙ (z - mean z) / √(var z + ε) + t),    z = Wx + b,    s = 1 and t = 0 at the start

Not in the paper; the control that its Figure 8 lacks, since layer norms alone can make critics
stable without a target network.  The output layer and the front are left as they are.

Spectral normalisation (Miyato et al., 2018) of the last hidden Linear layer:

    W̄ = W / σ(W),    σ(W) = uᵀWv,    u <- Wv / ‖Wv‖,  v <- Wᵀu / ‖Wᵀu‖

σ(W) is the largest singular value; one power iteration per update keeps u and v near its singular
vectors, which count as constants in the gradient, as is usual.  "Second-to-last layer" (the paper,
after Gogianu et al., 2021) is the last hidden one; the norm is always 1.  The target network has
separate vectors.  The weight under training is W: decay acts on it, not on W̄.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, cast

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from lff.core.checks import Interval, validate
from lff.core.errors import BadInputError
from lff.nn.ensemble import StackedLayerNorm, StackedLinear
from lff.nn.parts import Rng
from lff.regularizers.base import (
    LinearLike,
    Regularizer,
    Where,
    linears,
    members_of,
    nonlinearities,
)

FIRST_ITERATIONS = 15
EPS = 1e-12


@dataclass(frozen=True, kw_only=True)
class Dropout(Regularizer):
    """Units dropped at random in every loss; the paper searches p from 0.05 to 0.2."""

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

    def wrap(self, network: nn.Module, generator: Rng = None) -> None:  # noqa: ARG002
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
        return x if self.mask.ndim == 0 else x * self.mask

    def extra_repr(self) -> str:
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


@dataclass(frozen=True, kw_only=True)
class LayerNorm(Regularizer):
    """Normalise every hidden layer over its units, before the nonlinearity."""

    turn: ClassVar[int] = 1

    def wrap(self, network: nn.Module, generator: Rng = None) -> None:  # noqa: ARG002
        """Put a layer norm, scale 1 and shift 0, before every nonlinearity."""
        members = members_of(network)
        slots = nonlinearities(network)
        widths = [slot.width for slot in linears(network)]
        for slot, width in zip(slots, widths, strict=False):
            norms = [nn.LayerNorm(width) for _ in range(members or 1)]
            norm = norms[0] if members is None else StackedLayerNorm(norms)
            slot.put(nn.Sequential(norm, slot.module))


@dataclass(frozen=True, kw_only=True)
class SpectralNorm(Regularizer):
    """Divide the last hidden layer's weight by its largest singular value."""

    where: Where = "critic"
    """The networks it works on; the paper does not say, the critics are the usual place."""

    def wrap(self, network: nn.Module, generator: Rng = None) -> None:
        """Replace the last hidden Linear layer; its parameters keep their names."""
        slot = linears(network)[-2]
        if isinstance(slot.module, nn.Linear | StackedLinear):
            slot.put(SpectralLinear(slot.module, generator=generator))


class SpectralLinear(LinearLike):
    """A Linear layer, plain or stacked, that applies W / σ(W)."""

    u: Tensor
    v: Tensor
    weight: Tensor
    bias: Tensor | None

    def __init__(self, linear: nn.Linear | StackedLinear, *, generator: Rng = None) -> None:
        super().__init__()
        self.weight, self.bias = linear.weight, linear.bias
        with torch.no_grad():
            W = self._matrix(self.weight)
            *members, rows, columns = W.shape
            for name, size in (("u", rows), ("v", columns)):
                vector = torch.randn(*members, size, generator=generator, dtype=W.dtype)
                self.register_buffer(name, F.normalize(vector, dim=-1, eps=EPS).to(W.device))
            for _ in range(FIRST_ITERATIONS):
                self.power_step(self.weight, self.u, self.v)

    @staticmethod
    def _matrix(weight: Tensor) -> Tensor:
        """Return W as (out, in); a stacked weight is stored as (member, in, out)."""
        return weight.mT if weight.ndim == 3 else weight

    def power_step(self, weight: Tensor, u: Tensor, v: Tensor) -> None:
        """Do one power iteration in place, for these or for the target's tensors."""
        W = self._matrix(weight)
        u.copy_(F.normalize((W @ v[..., None])[..., 0], dim=-1, eps=EPS))
        v.copy_(F.normalize((W.mT @ u[..., None])[..., 0], dim=-1, eps=EPS))

    def norm(self) -> Float[Tensor, "..."]:
        """Return σ(W) of every member."""
        return (self.u * (self._matrix(self.weight) @ self.v[..., None])[..., 0]).sum(dim=-1)

    def forward(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        weight = self.weight / self.norm()[..., None, None]
        if weight.ndim == 2:
            return F.linear(x, weight, self.bias)
        return torch.bmm(x, weight) if self.bias is None else torch.baddbmm(self.bias, x, weight)

    def member(self, index: int) -> "SpectralLinear":
        """Return one member of a stacked layer as a plain one."""
        linear = StackedLinear.member(cast(StackedLinear, self), index)
        layer = SpectralLinear(linear)
        layer.u.copy_(self.u[index])
        layer.v.copy_(self.v[index])
        return layer

    def extra_repr(self) -> str:
        rows, columns = self._matrix(self.weight).shape[-2:]
        return f"in_features={columns}, out_features={rows}, norm=1"


def spectral_vectors(network: nn.Module) -> dict[str, Tensor]:
    """Return every u and v of a network, by name: a copy of the network needs copies of them."""
    return {
        f"{name}.{key}": getattr(module, key)
        for name, module in network.named_modules()
        if isinstance(module, SpectralLinear)
        for key in ("u", "v")
    }


def power_steps(network: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Do one power iteration per normalised layer, on a network's tensors or on a copy of them."""
    for name, module in network.named_modules():
        if isinstance(module, SpectralLinear):
            module.power_step(*(tensors[f"{name}.{key}"] for key in ("weight", "u", "v")))
