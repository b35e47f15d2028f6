"""Other fronts: none at all, the log-uniform basis, controls without waves, and the rival's sines.

The controls ask *why* Fourier features work.  At the paper's σ the phases 2πBx are small, so
sin(2πBx) ≈ 2πBx and cos(2πBx) ≈ 1: the layer is close to a linear one.  Two fronts are those
limits, exactly:

- :class:`LinearControl`: [2πBx, 1, x], the first-order limit, B still trained;
- :class:`ConstantControl`: [1, x], the limit σ -> 0 with B held there.

:class:`TanhControl` keeps the features bounded and takes their period away: [tanh(2πBx), x].
If an agent learns as well with a control as with the real layer, the waves were not the reason.
"""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lff.core.checks import EvenSize, NonNegative, Scale, Size, check_size
from lff.nn.fourier import BasisLayer, check_input, project
from lff.nn.parts import Front, Rng

FEATURES_PER_INPUT = 40


@dataclass(frozen=True)
class Identity(Front):
    """No front: x itself is the trunk's input."""

    layer = nn.Identity
    is_layer: ClassVar[bool] = False


class LogUniformFourierFeatures(BasisLayer):
    """x -> [sin(2πBx), cos(2πBx), x] with B = (I, cI, c²I, …, c^{k-1}I) at the start (Fig. 10).

    Of the asked ``fourier_dim`` it takes k = max(1, fourier_dim // 2d) octaves, so the real number
    of features is 2dk; the attribute ``fourier_dim`` holds it and ``print`` shows it.
    """

    random_law = False
    shown = ("ratio", "octaves", "trainable", "concat_input")

    def __init__(
        self, in_features: int, config: "LogUniformFourier", *, generator: Rng = None
    ) -> None:
        super().__init__()
        self.ratio = config.ratio
        self.octaves = max(1, config.fourier_dim // (2 * check_size("in_features", in_features)))
        squares = sum(self.ratio ** (2 * j) for j in range(self.octaves))
        self.register_basis(
            in_features,
            in_features * self.octaves,
            spread=math.sqrt(squares / (self.octaves * in_features)),
            trainable=config.trainable,
            concat_input=config.concat_input,
            generator=generator,
        )

    def draw(self, generator: Rng = None) -> Tensor:  # noqa: ARG002
        """Return B = (I, cI, …), which is not random."""
        scales = self.ratio ** torch.arange(self.octaves, dtype=torch.get_default_dtype())
        return torch.kron(scales[:, None], torch.eye(self.in_features))


@dataclass(frozen=True, kw_only=True)
class LogUniformFourier(Front):
    """Front of :class:`LogUniformFourierFeatures`.

    >>> LogUniformFourier(fourier_dim=64).build(3)
    LogUniformFourierFeatures(in=3, F=60, ratio=0.5, octaves=10, trainable=True, concat_input=True)
    """

    layer = LogUniformFourierFeatures
    fourier_dim: EvenSize
    """Number of features asked for; the real one is 2d·max(1, F // 2d)."""
    ratio: Annotated[float, NonNegative("use 0.5, 0.7 or 0.9")] = 0.5
    """c, the step from one frequency to the next (the paper tuned it and does not say)."""
    trainable: bool = True
    """Train B."""
    concat_input: bool = True
    """Append x."""


@dataclass(frozen=True, kw_only=True)
class BasisControl(Front):
    """Fields of the controls with a basis, which is trained."""

    trainable: ClassVar[bool] = True
    fourier_dim: EvenSize
    """F of the Fourier front that it replaces."""
    sigma: Scale
    """Standard deviation of B at the start."""


class ControlFeatures(BasisLayer):
    """Base of the layers of a :class:`BasisControl`."""

    shown = ("sigma", "trainable")
    waves_per_row: ClassVar[int]
    """Features of each row of B."""

    def __init__(self, in_features: int, config: BasisControl, *, generator: Rng = None) -> None:
        super().__init__()
        self.sigma, each = config.sigma, self.waves_per_row
        rows = config.fourier_dim // each
        self.register_basis(
            in_features, rows, spread=self.sigma, waves_per_row=each, generator=generator
        )


class LinearFeatures(ControlFeatures):
    """x -> [2πBx, 1, x]: the sines replaced by their argument, the cosines by 1.

    >>> LinearControl(fourier_dim=64, sigma=0.01).build(3)(torch.zeros(5, 3)).shape
    torch.Size([5, 67])
    """

    waves_per_row = 2

    def forward(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch {self.out_features}"]:
        phase = self.phase(x)
        return torch.cat((phase, torch.ones_like(phase), x), dim=-1)


@dataclass(frozen=True, kw_only=True)
class LinearControl(BasisControl):
    """Front of :class:`LinearFeatures`."""

    layer = LinearFeatures


class ConstantFeatures(nn.Module):
    """x -> [1, x] with ``fourier_dim // 2`` ones: the cosines of a B that is zero.

    >>> ConstantControl(fourier_dim=64).build(3)(torch.zeros(5, 3)).shape
    torch.Size([5, 35])
    """

    def __init__(self, in_features: int, config: "ConstantControl", **_: object) -> None:
        super().__init__()
        self.in_features = check_size("in_features", in_features)
        self.fourier_dim = config.fourier_dim
        self.out_features = self.fourier_dim // 2 + self.in_features

    def forward(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch {self.out_features}"]:
        check_input(x, self.in_features, axis=-1, owner="the layer", axis_name="in_features")
        return torch.cat((x.new_ones(*x.shape[:-1], self.fourier_dim // 2), x), dim=-1)

    def extra_repr(self) -> str:
        return f"in={self.in_features}, ones={self.fourier_dim // 2}"


@dataclass(frozen=True, kw_only=True)
class ConstantControl(Front):
    """Front of :class:`ConstantFeatures`."""

    layer = ConstantFeatures
    fourier_dim: EvenSize
    """F of the Fourier front that it replaces: half of it becomes ones."""


class TanhFeatures(ControlFeatures):
    """x -> [tanh(2πBx), x]: bounded as waves are, but not periodic.

    >>> TanhControl(fourier_dim=64, sigma=0.01).build(3)(torch.zeros(5, 3)).shape
    torch.Size([5, 67])
    """

    waves_per_row = 1

    def forward(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch {self.out_features}"]:
        return torch.cat((self.phase(x).tanh(), x), dim=-1)


@dataclass(frozen=True, kw_only=True)
class TanhControl(BasisControl):
    """Front of :class:`TanhFeatures`, each with a row of B."""

    layer = TanhFeatures


class FFNFeatures(BasisLayer):
    """x -> sin(π(Bx + b)); their W is ``B`` here, so that every tool finds it by one name."""

    shown = ("scale", "trainable")

    def __init__(self, in_features: int, config: "FFN", *, generator: Rng = None) -> None:
        super().__init__()
        self.scale = config.scale
        self.register_basis(
            in_features,
            config.features or FEATURES_PER_INPUT * check_size("in_features", in_features),
            spread=self.scale / in_features,
            waves_per_row=1,
            concat_input=False,
            generator=generator,
        )
        self.bias = nn.Parameter(torch.empty(self.out_features))
        nn.init.uniform_(self.bias, -1, 1, generator=generator)

    def reset_parameters(self, generator: Rng = None) -> None:
        super().reset_parameters(generator)
        nn.init.uniform_(self.bias, -1, 1, generator=generator)

    def phase(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch {self.out_features}"]:
        check_input(x, self.in_features, axis=-1, owner="the layer", axis_name="in_features")
        return math.pi * (project(x, self.B) + self.bias)

    def forward(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch {self.out_features}"]:
        return self.phase(x).sin()


@dataclass(frozen=True, kw_only=True)
class FFN(Front):
    """Front of :class:`FFNFeatures`, the rival's layer of Yang, Ajay and Agrawal (2022).

    They explain the same gain the other way round (a critic that underfits high frequencies),
    without cosine and concatenation and with a bias: W_ij ~ N(0, (scale/d)²), b ~ U(-1, 1).

    >>> FFN(scale=0.001).build(3)
    FFNFeatures(in=3, F=120, scale=0.001, trainable=True)
    """

    layer = FFNFeatures
    trainable: ClassVar[bool] = True
    scale: Annotated[float, NonNegative("use 0.001 to start")] = 0.001
    """W ~ N(0, (scale/d)²); the authors tuned 1e-4 to 3e-3 per task."""
    features: Size | None = None
    """Number of sines; 40 per input if None."""
