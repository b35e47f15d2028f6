"""Trunks with waves in every layer: SIREN, and deep Fourier features."""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lff.core.checks import EvenSize, NonEmpty, Positive, Sizes
from lff.nn.mlp import blank_linear, linear
from lff.nn.parts import Trunk


class Sine(nn.Module):
    """x -> sin(ωx)."""

    def __init__(self, omega: float) -> None:
        """Set the frequency factor ω."""
        super().__init__()
        self.omega = omega

    def forward(self, x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """Return sin(ωx)."""
        return (self.omega * x).sin()

    def extra_repr(self) -> str:
        """Show ω."""
        return f"omega={self.omega:g}"


class SineCosine(nn.Module):
    """x -> [sin(x), cos(x)]: doubles the width and keeps a linear part alive in every unit."""

    def forward(self, x: Float[Tensor, "*batch half"]) -> Float[Tensor, "*batch 2*half"]:
        """Return sin(x) ‖ cos(x)."""
        return torch.cat((x.sin(), x.cos()), dim=-1)


@dataclass(frozen=True)
class SIRENTrunk(Trunk):
    """sin(ω(Wx + b)) in every layer (Sitzmann et al., 2020), with its initialisation.

    First layer U(±1/n), later ones U(±√(6/n)/ω), so that activations keep their spread.
    """

    tag: ClassVar[str] = "siren"
    hidden: Sizes = (256, 256)
    """Widths of the hidden layers."""
    first_omega: Annotated[float, Positive()] = 30.0
    """ω of the first layer: the range of frequencies it starts with."""
    hidden_omega: Annotated[float, Positive()] = 30.0
    """ω of the later layers."""

    def build(
        self, in_features: int, out_features: int, *, generator: torch.Generator | None = None
    ) -> nn.Sequential:
        """Return the trunk for an embedding of this width."""
        layers: list[nn.Module] = []
        width = in_features
        for i, next_width in enumerate((*self.hidden, out_features)):
            omega = self.hidden_omega if i else self.first_omega
            bound = math.sqrt(6 / width) / self.hidden_omega if i else 1 / width
            layer = blank_linear(width, next_width)
            with torch.no_grad():
                layer.weight.uniform_(-bound, bound, generator=generator)
                layer.bias.uniform_(-(width**-0.5), width**-0.5, generator=generator)
            layers += [layer, Sine(omega)]
            width = next_width
        return nn.Sequential(*layers[:-1])


@dataclass(frozen=True)
class DeepFourierTrunk(Trunk):
    """[sin(z), cos(z)] of z = Wx + b in every layer (Lewandowski et al., 2025).

    A layer of width h has h/2 rows in W, so a trunk is about half as large as an MLP's.
    """

    tag: ClassVar[str] = "deep-fourier"
    hidden: Annotated[tuple[EvenSize, ...], NonEmpty()] = (256, 256)
    """Widths of the hidden layers after sin and cos, even."""

    def build(
        self, in_features: int, out_features: int, *, generator: torch.Generator | None = None
    ) -> nn.Sequential:
        """Return the trunk for an embedding of this width."""
        layers: list[nn.Module] = []
        width = in_features
        for next_width in self.hidden:
            layers.append(linear(width, next_width // 2, init="default", generator=generator))
            layers.append(SineCosine())
            width = next_width
        layers.append(linear(width, out_features, init="default", generator=generator))
        return nn.Sequential(*layers)
