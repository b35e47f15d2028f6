"""Spectral normalisation (Miyato et al., 2018) of the last hidden Linear layer.

    W̄ = W / σ(W),    σ(W) = uᵀWv,    u <- Wv / ‖Wv‖,  v <- Wᵀu / ‖Wᵀu‖

σ(W) is the largest singular value; one power iteration per update keeps u and v near its singular
vectors, which count as constants in the gradient, as is usual.  "Second-to-last layer" (the paper,
after Gogianu et al., 2021) is the last hidden one; the norm is always 1.  The target network has
separate vectors.  The weight under training is W: decay acts on it, not on W̄.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, cast

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from lff.nn.ensemble import StackedLinear
from lff.regularizers.base import LinearLike, Regularizer, Where, linears

FIRST_ITERATIONS = 15
EPS = 1e-12


@dataclass(frozen=True, kw_only=True)
class SpectralNorm(Regularizer):
    """Divide the last hidden layer's weight by its largest singular value."""

    tag: ClassVar[str] = "spectral-norm"
    where: Where = "critic"
    """The networks it works on; the paper does not say, the critics are the usual place."""

    def wrap(self, network: nn.Module, generator: torch.Generator | None = None) -> None:
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

    def __init__(
        self, linear: nn.Linear | StackedLinear, *, generator: torch.Generator | None = None
    ) -> None:
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
        """Return x W / σ(W) + b."""
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
        """Show the sizes in the order of ``nn.Linear``."""
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
