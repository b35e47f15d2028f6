"""The plain multilayer perceptron: Linear, nonlinearity, …, Linear."""

from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import nn

from lff.core.checks import check_choice, check_sizes, settle
from lff.nn.init import LinearInit, linear

Activation = Literal["relu", "tanh"]
ACTIVATIONS: dict[Activation, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh}


@dataclass(frozen=True)
class Identity:
    """No front: the trunk sees x itself."""

    def build(
        self,
        in_features: int,  # noqa: ARG002
        *,
        generator: torch.Generator | None = None,  # noqa: ARG002
    ) -> nn.Identity:
        """Return a module that changes nothing."""
        return nn.Identity()


@dataclass(frozen=True)
class MLPTrunk:
    """L_n ∘ τ ∘ … ∘ τ ∘ L_1 with hidden layers of the given widths (Eq. 1)."""

    hidden: tuple[int, ...] = (256, 256)
    """Widths of the hidden layers (paper: 2 of 1024 behind Fourier features, else 3)."""
    activation: Activation = "relu"
    """The nonlinearity τ (paper: ReLU for SAC, tanh for PPO)."""
    init: LinearInit = "orthogonal"
    """Orthogonal with zero bias (the paper's code base), or torch's default."""

    def __post_init__(self) -> None:
        """Check the sizes before anything is built."""
        settle(self, hidden=check_sizes)
        check_layers(self.activation, self.init)

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


def check_layers(activation: Activation, init: LinearInit) -> None:
    """Check the choices of a trunk of plain layers."""
    check_choice("activation", activation, get_args(Activation))
    check_choice("init", init, get_args(LinearInit))
