"""Trunks: MLPs, MLPs that take their input again, residual blocks, and waves in every layer.

``orthogonal_`` is the initialization of the paper's starting code base: orthogonal weights with
gain 1 and zero bias for every Linear, output layer included; for convolutions delta-orthogonal
weights (all zero but the centre tap) with gain √2.  A basis B is neither, so it keeps its own
initial law.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Literal, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lff.core.checks import EvenSize, NonEmpty, Positive, Size, Sizes
from lff.nn.parts import Rng, Trunk

LinearInit = Literal["orthogonal", "default"]
Activation = Literal["relu", "tanh"]
ACTIVATIONS: dict[Activation, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh}
CONV_GAIN = math.sqrt(2)
CUT_NORMAL_STD = 0.87962566103423978
"""Standard deviation of N(0, 1) cut at ±2."""
SIMBA_NORM_EPS = 1e-6
Layer = TypeVar("Layer", bound=nn.Module)


def blank(
    kind: Callable[..., Layer], *sizes: int, stride: int | None = None, bias: bool = True
) -> Layer:
    """Return a layer with storage but no values: torch's draw would advance the global RNG."""
    device = torch.get_default_device()
    options = {} if stride is None else {"stride": stride}
    with torch.device("meta"):
        layer = kind(*sizes, bias=bias, **options)
    return layer.to_empty(device=device)


def linear(
    in_features: int, out_features: int, *, init: LinearInit = "orthogonal", generator: Rng = None
) -> nn.Linear:
    """Return an initialised Linear: the paper's orthogonal law, or torch's default one."""
    layer = blank(nn.Linear, in_features, out_features)
    if init == "orthogonal":
        return orthogonal_(layer, generator=generator)
    return uniform_(layer, generator=generator)


def uniform_(layer: Layer, *, bound: float | None = None, generator: Rng = None) -> Layer:
    """Re-initialise a Linear or Conv2d by torch's default law, U(±1/√inputs); W to ± ``bound``."""
    for name, parameter in layer.named_parameters():
        default = layer.get_parameter("weight")[0].numel() ** -0.5
        limit = default if bound is None or name == "bias" else bound
        nn.init.uniform_(parameter, -limit, limit, generator=generator)
    return layer


def he_normal_(layer: nn.Linear, *, generator: Rng = None) -> nn.Linear:
    """Re-initialise a Linear by He's law as flax draws it: N(0, 2/inputs) cut at ±2, zero bias."""
    std = math.sqrt(2 / layer.in_features) / CUT_NORMAL_STD
    nn.init.trunc_normal_(layer.weight, std=std, a=-2 * std, b=2 * std, generator=generator)
    nn.init.zeros_(layer.bias)
    return layer


def orthogonal_(module: Layer, *, generator: Rng = None) -> Layer:
    """Re-initialise every Linear and Conv2d below ``module`` in place, as the paper's code did."""
    for layer in module.modules():
        if isinstance(layer, nn.Linear):
            nn.init.orthogonal_(layer.weight, generator=generator)
        elif isinstance(layer, nn.Conv2d):
            rows, columns = (size // 2 for size in layer.weight.shape[2:])
            centre = torch.empty_like(layer.weight[:, :, 0, 0])
            nn.init.orthogonal_(centre, gain=CONV_GAIN, generator=generator)
            nn.init.zeros_(layer.weight).data[:, :, rows, columns] = centre
        else:
            continue
        if layer.bias is not None:
            nn.init.zeros_(layer.bias)
    return module


def chain(linears: Iterable[nn.Linear], nonlinearity: Callable[[], nn.Module]) -> nn.Sequential:
    """Return L_n ∘ τ ∘ … ∘ τ ∘ L_1."""
    layers = [module for layer in linears for module in (layer, nonlinearity())]
    return nn.Sequential(*layers[:-1])


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

    def build(self, in_features: int, out_features: int, *, generator: Rng = None) -> nn.Sequential:
        sizes = pairwise((in_features, *self.hidden, out_features))
        linears = (linear(*size, init=self.init, generator=generator) for size in sizes)
        return chain(linears, ACTIVATIONS[self.activation])


@dataclass(frozen=True)
class ConcatMLPTrunk(LinearTrunk):
    """MLP with x concatenated to the first layer's output: the paper's control of Fig. 9.

    It tests whether LFF's gain comes from the concatenation of x alone.
    """

    def build(self, in_features: int, out_features: int, *, generator: Rng = None) -> "SkipBody":
        return SkipBody(self, in_features, out_features, skips=(1,), generator=generator)


@dataclass(frozen=True)
class D2RLTrunk(LinearTrunk):
    """Deep dense architecture of Sinha et al. (2020): x enters every hidden layer."""

    def build(self, in_features: int, out_features: int, *, generator: Rng = None) -> "SkipBody":
        skips = tuple(range(1, len(self.hidden)))
        return SkipBody(self, in_features, out_features, skips=skips, generator=generator)


class SkipBody(nn.Module):
    """Linear layers, some of which get x appended to their input.

    Layer 0 takes x; layer ``len(hidden)`` is the output layer.  ``skips`` lists the others that
    take x as well.
    """

    def __init__(
        self,
        config: LinearTrunk,
        in_features: int,
        out_features: int,
        *,
        skips: tuple[int, ...],
        generator: Rng = None,
    ) -> None:
        super().__init__()
        self.skips = skips
        sizes = pairwise((in_features, *config.hidden, out_features))
        self.layers = nn.ModuleList(
            linear(width + in_features * (i in skips), out, init=config.init, generator=generator)
            for i, (width, out) in enumerate(sizes)
        )
        self.activations = nn.ModuleList(ACTIVATIONS[config.activation]() for _ in config.hidden)

    def forward(self, x: Float[Tensor, "*batch in_features"]) -> Float[Tensor, "*batch _"]:
        y = x
        for i, layer in enumerate(self.layers):
            if i > 0:
                y = self.activations[i - 1](y)
            y = layer(torch.cat((y, x), dim=-1) if i in self.skips else y)
        return y

    def extra_repr(self) -> str:
        return f"x_into_layers={list(self.skips)}"


class Sine(nn.Module):
    """x -> sin(ωx)."""

    def __init__(self, omega: float) -> None:
        super().__init__()
        self.omega = omega

    def forward(self, x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        return (self.omega * x).sin()

    def extra_repr(self) -> str:
        return f"omega={self.omega:g}"


class SineCosine(nn.Module):
    """x -> [sin(x), cos(x)]: doubles the width and keeps a linear part alive in every unit."""

    def forward(self, x: Float[Tensor, "*batch half"]) -> Float[Tensor, "*batch 2*half"]:
        return torch.cat((x.sin(), x.cos()), dim=-1)


@dataclass(frozen=True)
class SIRENTrunk(Trunk):
    """sin(ω(Wx + b)) in every layer (Sitzmann et al., 2020), with its initialisation.

    First layer U(±1/n), later ones U(±√(6/n)/ω), so that activations keep their spread.
    """

    hidden: Sizes = (256, 256)
    """Widths of the hidden layers."""
    first_omega: Annotated[float, Positive()] = 30.0
    """ω of the first layer: the range of frequencies it starts with."""
    hidden_omega: Annotated[float, Positive()] = 30.0
    """ω of the later layers."""

    def build(self, in_features: int, out_features: int, *, generator: Rng = None) -> nn.Sequential:
        layers: list[nn.Module] = []
        for i, size in enumerate(pairwise((in_features, *self.hidden, out_features))):
            bound = math.sqrt(6 / size[0]) / self.hidden_omega if i else 1 / size[0]
            layers.append(uniform_(blank(nn.Linear, *size), bound=bound, generator=generator))
            layers.append(Sine(self.hidden_omega if i else self.first_omega))
        return nn.Sequential(*layers[:-1])


@dataclass(frozen=True)
class DeepFourierTrunk(Trunk):
    """[sin(z), cos(z)] of z = Wx + b in every layer (Lewandowski et al., 2025).

    A layer of width h has h/2 rows in W, so a trunk is about half as large as an MLP's.
    """

    hidden: Annotated[tuple[EvenSize, ...], NonEmpty()] = (256, 256)
    """Widths of the hidden layers after sin and cos, even."""

    def build(self, in_features: int, out_features: int, *, generator: Rng = None) -> nn.Sequential:
        sizes = pairwise((in_features, *self.hidden, 2 * out_features))
        linears = (linear(a, b // 2, init="default", generator=generator) for a, b in sizes)
        return chain(linears, SineCosine)


class Residual(nn.Sequential):
    """x -> x + f(x), f the layers inside."""

    def forward(self, x: Float[Tensor, "*batch width"]) -> Float[Tensor, "*batch width"]:
        return x + super().forward(x)


@dataclass(frozen=True)
class SimBaTrunk(Trunk):
    """Residual blocks with layer norm (Lee et al., 2025), with their initialisation.

    L_out ∘ norm ∘ R_n ∘ … ∘ R_1 ∘ L_in,    R(h) = h + W₂ relu(W₁ norm(h)),    W₁ of 4 · width rows

    L_in and L_out are orthogonal, W₁ and W₂ by He's law.  SimBa also normalises observations by
    running statistics: ``normalize_obs`` of the algorithm.
    """

    width: Size = 128
    """Width between the blocks."""
    blocks: Size = 2
    """Number of blocks n (its authors: 1 in the actor, 2 in the critic)."""

    def build(self, in_features: int, out_features: int, *, generator: Rng = None) -> nn.Sequential:
        first = linear(in_features, self.width, generator=generator)
        blocks = [self._block(generator) for _ in range(self.blocks)]
        body = nn.Sequential(*blocks, nn.LayerNorm(self.width, eps=SIMBA_NORM_EPS))
        return nn.Sequential(first, body, linear(self.width, out_features, generator=generator))

    @property
    def hidden(self) -> tuple[int, ...]:
        """Widths of the hidden layers."""
        return (self.width, *(4 * self.width, self.width) * self.blocks)

    def _block(self, generator: Rng) -> Residual:
        sizes = self.width, 4 * self.width
        wide, narrow = blank(nn.Linear, *sizes), blank(nn.Linear, *sizes[::-1])
        return Residual(
            nn.LayerNorm(self.width, eps=SIMBA_NORM_EPS),
            he_normal_(wide, generator=generator),
            nn.ReLU(),
            he_normal_(narrow, generator=generator),
        )
