"""The plain multilayer perceptron: Linear, nonlinearity, …, Linear."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import nn

from lff.core.checks import Sizes
from lff.nn.init import LinearInit, linear
from lff.nn.parts import Front, Trunk

Activation = Literal["relu", "tanh"]
ACTIVATIONS: dict[Activation, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh}


@dataclass(frozen=True)
class Identity(Front):
    """No front: x itself is the trunk's input."""

    tag: ClassVar[str] = "identity"
    is_layer: ClassVar[bool] = False

    def build(
        self,
        in_features: int,  # noqa: ARG002
        *,
        generator: torch.Generator | None = None,  # noqa: ARG002
    ) -> nn.Identity:
        """Return a module that changes nothing."""
        return nn.Identity()


@dataclass(frozen=True)
class LinearTrunk(Trunk):
    """Fields of the trunks that are made of Linear layers and one nonlinearity."""

    hidden: Sizes = (256, 256)
    """Widths of the hidden layers (paper: 2 of 1024 behind Fourier features, else 3)."""
    activation: Activation = "relu"
    """The nonlinearity τ (paper: ReLU for SAC, tanh for PPO)."""
    init: LinearInit = "orthogonal"
    """Orthogonal with zero bias (the paper's code base), or torch's default."""


@dataclass(frozen=True)
class MLPTrunk(LinearTrunk):
    """L_n ∘ τ ∘ … ∘ τ ∘ L_1 with hidden layers of the given widths (Eq. 1)."""

    tag: ClassVar[str] = "mlp"

    def build(
        self, in_features: int, out_features: int, *, generator: torch.Generator | None = None
    ) -> nn.Sequential:
        """Return the trunk for an embedding of this width."""
        layers: list[nn.Module] = []
        width = in_features
        for next_width in self.hidden:
            layers.append(linear(width, next_width, init=self.init, generator=generator))
            layers.append(ACTIVATIONS[self.activation]())
            width = next_width
        layers.append(linear(width, out_features, init=self.init, generator=generator))
        return nn.Sequential(*layers)
