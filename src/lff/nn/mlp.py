"""The plain multilayer perceptron, and the initialization of Linear and Conv2d layers.

``orthogonal_`` is that of the paper's starting code base: orthogonal weights with gain 1 and zero
bias for every Linear, output layer included; for convolutions delta-orthogonal weights (all zero
but the centre tap) with gain √2.  A basis B is neither, so it keeps its own initial law.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import nn

from lff.core.checks import Sizes
from lff.nn.parts import Front, Trunk

LinearInit = Literal["orthogonal", "default"]
CONV_GAIN = math.sqrt(2)


def blank_linear(in_features: int, out_features: int) -> nn.Linear:
    """Return a Linear with storage but no values: torch's draw would advance the global RNG."""
    device = torch.get_default_device()
    with torch.device("meta"):
        layer = nn.Linear(in_features, out_features)
    return layer.to_empty(device=device)


def linear(
    in_features: int,
    out_features: int,
    *,
    init: LinearInit = "orthogonal",
    generator: torch.Generator | None = None,
) -> nn.Linear:
    """Return an initialised Linear: the paper's orthogonal law, or torch's default one."""
    layer = blank_linear(in_features, out_features)
    if init == "orthogonal":
        orthogonal_(layer, generator=generator)
    else:
        bound = 1 / math.sqrt(in_features)
        with torch.no_grad():
            layer.weight.uniform_(-bound, bound, generator=generator)
            layer.bias.uniform_(-bound, bound, generator=generator)
    return layer


def orthogonal_(
    module: nn.Module,
    *,
    gain: float = 1.0,
    conv_gain: float = CONV_GAIN,
    generator: torch.Generator | None = None,
) -> nn.Module:
    """Re-initialise every Linear and Conv2d below ``module`` in place, as the paper's code did."""
    for layer in module.modules():
        if isinstance(layer, nn.Linear):
            nn.init.orthogonal_(layer.weight, gain=gain, generator=generator)
        elif isinstance(layer, nn.Conv2d):
            delta_orthogonal_(layer.weight, gain=conv_gain, generator=generator)
        else:
            continue
        if layer.bias is not None:
            nn.init.zeros_(layer.bias)
    return module


def delta_orthogonal_(
    weight: torch.Tensor, *, gain: float = CONV_GAIN, generator: torch.Generator | None = None
) -> None:
    """Fill a convolution's weight with zeros but for an orthogonal matrix at the centre tap."""
    rows, columns = weight.shape[2] // 2, weight.shape[3] // 2
    centre = torch.empty(weight.shape[:2], dtype=weight.dtype, device=weight.device)
    nn.init.orthogonal_(centre, gain=gain, generator=generator)
    with torch.no_grad():
        weight.zero_()
        weight[:, :, rows, columns] = centre


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
