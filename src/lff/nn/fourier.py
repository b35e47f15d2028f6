"""Learned Fourier features: the layer of Li and Pathak (2021), dense and per pixel.

    F_B(x) = sin(2πBx) ‖ cos(2πBx) ‖ x,    B_ij ~ N(0, σ²) at the start, then trained       (Eq. 2)

A small σ starts the network with slow waves, hence a smooth function; a large σ lets it fit fine
detail at once.  B is a bare parameter (a buffer when it is not trained): this layer neither is nor
contains ``nn.Linear`` or ``nn.Conv2d``, so no host library that re-initialises those can touch σ.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from lff.core.checks import Config, EvenSize, Scale, Size, check_size
from lff.core.errors import BadInputError, BadTypeError
from lff.nn.parts import Front, PixelFront, Rng

TWO_PI = 2 * math.pi


def project(
    x: Float[Tensor, "*batch in_features"], B: Float[Tensor, "*member rows in_features"]
) -> Float[Tensor, "*batch rows"]:
    """Bx for every row of x; with a stacked B, member m of x meets member m of B.

    Never in reduced precision: rounding a phase of many radians to 8 bits would scramble its sine.
    """
    phase = F.linear(x, B) if B.ndim == 2 else torch.matmul(x, B.mT)
    if phase.dtype != B.dtype:  # under autocast; comparing dtypes is cheaper than asking
        with torch.autocast(x.device.type, enabled=False):
            return project(x.to(B.dtype), B)
    return phase


def check_input(x: Tensor, width: int, *, axis: int, owner: str, axis_name: str) -> None:
    """Raise one clear line for integer input or a wrong width, where torch would name a kernel."""
    if not isinstance(x, Tensor):
        raise BadTypeError(f"the input of {owner}", type(x), "a tensor", "use torch.as_tensor(x)")
    if not x.is_floating_point():
        remedy = "convert it first, e.g. x.float() (x.float() / 255 for images)"
        raise BadTypeError(f"the input of {owner}", x.dtype, "floating point", remedy)
    if x.ndim >= -axis and x.shape[axis] == width:
        return
    remedy = f"build the layer with {axis_name}={x.shape[axis]}" if x.ndim >= -axis else "add it"
    shape = tuple(x.shape)
    raise BadInputError(f"axis {axis} of the input of {owner}", shape, f"{width} wide", remedy)


class BasisLayer(nn.Module):
    """Layer that embeds its input by a basis B, and owns how B is drawn.

    ``B`` has shape ``(rows, in_features)``, or ``(member, rows, in_features)`` once an
    :class:`lff.Ensemble` has stacked several layers into one.  A subclass calls
    :meth:`register_basis`; by default B_ij ~ N(0, s²), s the ``initial_spread``, the phase of the
    waves is 2πBx, and the output is sin ‖ cos ‖ x.
    """

    B: Tensor
    fourier_dim: int
    wave_features: int
    """Number of leading outputs that come from B; the rest is x itself."""
    initial_spread: float
    """Root mean square of B's entries under the initial law (σ for a Gaussian)."""
    random_law: bool = True
    """Whether B is a random draw; if not, :meth:`draw` returns the same matrix every time."""
    shown: ClassVar[tuple[str, ...]] = ("sigma", "trainable", "concat_input")
    """Attributes that ``print`` shows beside the sizes."""

    def register_basis(
        self,
        in_features: int,
        rows: int,
        *,
        spread: float,
        waves_per_row: int = 2,
        trainable: bool = True,
        concat_input: bool = True,
        generator: Rng = None,
    ) -> None:
        """Set the sizes and draw B: a parameter if trained, else a buffer, out of any optimizer."""
        self.in_features = check_size("in_features", in_features)
        self.rows, self.initial_spread = rows, spread
        self.trainable, self.concat_input = trainable, concat_input
        self.fourier_dim = self.wave_features = waves_per_row * rows
        self.out_features = self.wave_features + in_features * concat_input
        B = self.draw(generator)
        if trainable:
            self.B = nn.Parameter(B)
        else:
            self.register_buffer("B", B)

    def register_gaussian(self, config: "FourierFields", in_features: int, generator: Rng) -> None:
        """Draw B of a config's size, law and use."""
        self.sigma = config.sigma
        self.register_basis(
            in_features,
            config.fourier_dim // 2,
            spread=config.sigma,
            trainable=config.trainable,
            concat_input=config.concat_input,
            generator=generator,
        )

    def draw(self, generator: Rng = None) -> Tensor:
        """Return a fresh B of one member from the initial law."""
        return self.initial_spread * torch.randn(self.rows, self.in_features, generator=generator)

    def phase(self, x: Float[Tensor, "*batch _"]) -> Float[Tensor, "*batch _"]:
        """Return 2πBx.  The factor multiplies x, the smallest of the three tensors: it is free."""
        check_input(x, self.in_features, axis=-1, owner="the layer", axis_name="in_features")
        # nn.Module's attribute look-up of a parameter would cost as much as a small matrix product
        B = self._parameters.get("B")
        return project(TWO_PI * x, self.B if B is None else B)

    def forward(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch {self.out_features}"]:
        """Return sin(2πBx) ‖ cos(2πBx) ‖ x."""
        return sin_cos(self.phase(x), x if self.concat_input else None)

    def reset_parameters(self, generator: Rng = None) -> None:
        """Redraw B from its initial distribution, in place; every member separately."""
        with torch.no_grad():
            for member in self.B.unbind() if self.B.ndim == 3 else (self.B,):
                member.copy_(self.draw(generator))

    def extra_repr(self) -> str:
        values = {"in": getattr(self, "in_channels", self.in_features), "F": self.fourier_dim}
        values |= {name: getattr(self, name) for name in self.shown}
        return ", ".join(
            f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
            for name, value in values.items()
        )


def sin_cos(phase: Tensor, x: Tensor | None, *, dim: int = -1) -> Tensor:
    """Return sin(phase) ‖ cos(phase) ‖ x along an axis, without x if it is None."""
    waves = (phase.sin(), phase.cos())
    return torch.cat(waves if x is None else (*waves, x), dim=dim)


class LearnedFourierFeatures(BasisLayer):
    """x -> [sin(2πBx), cos(2πBx), x] with B_ij ~ N(0, σ²) learned; smaller σ, smoother function.

    Shapes: ``(*batch, in_features)`` -> ``(*batch, out_features)`` with ``out_features`` =
    ``fourier_dim + in_features`` (``fourier_dim`` without concatenation).

    >>> layer = LearnedFourierFeatures(3, 64, sigma=0.01)
    >>> layer(torch.zeros(5, 3)).shape
    torch.Size([5, 67])
    >>> layer
    LearnedFourierFeatures(in=3, F=64, sigma=0.01, trainable=True, concat_input=True)
    """

    def __init__(
        self,
        in_features: int,
        fourier_dim: int,
        *,
        sigma: float,
        trainable: bool = True,
        concat_input: bool = True,
        generator: Rng = None,
    ) -> None:
        """Draw B of shape ``(fourier_dim // 2, in_features)``.

        Args:
            in_features: width d of the input.
            fourier_dim: number of Fourier features F, even: F/2 sines and F/2 cosines.
            sigma: standard deviation of B's entries at the start; 0.01 for inputs of usual scale.
            trainable: train B (the paper) or keep it as drawn (its ablation).
            concat_input: append x itself (the paper) or not (its ablation).
            generator: source of randomness; torch's global one if None.
        """
        super().__init__()
        config = Fourier(
            fourier_dim=fourier_dim, sigma=sigma, trainable=trainable, concat_input=concat_input
        )
        self.register_gaussian(config, in_features, generator)


class LearnedFourierFeatures2d(BasisLayer):
    """The same at every pixel of ``(*batch, C, H, W)``: a 1x1 convolution by B, then sin, cos, x.

    ``per_frame=False`` (the authors' code) applies B to all stacked channels at once and gives
    ``fourier_dim + C`` channels.  ``per_frame=True`` (the paper's text) applies one B, of
    ``frame_channels`` columns, to each RGB frame of the stack: ``frames * fourier_dim + C``
    channels, sines of all frames first, then cosines, then x.

    >>> LearnedFourierFeatures2d(9, 64, sigma=0.1)(torch.zeros(2, 9, 8, 8)).shape
    torch.Size([2, 73, 8, 8])
    >>> LearnedFourierFeatures2d(9, 64, sigma=0.1, per_frame=True).B.shape
    torch.Size([32, 3])
    """

    shown = (*BasisLayer.shown, "per_frame")

    def __init__(
        self,
        in_channels: int,
        fourier_dim: int,
        *,
        sigma: float,
        trainable: bool = True,
        concat_input: bool = True,
        per_frame: bool = False,
        frame_channels: int = 3,
        generator: Rng = None,
    ) -> None:
        super().__init__()
        config = Fourier2d(
            fourier_dim=fourier_dim,
            sigma=sigma,
            trainable=trainable,
            concat_input=concat_input,
            per_frame=per_frame,
            frame_channels=frame_channels,
        )
        self.in_channels = check_size("in_channels", in_channels)
        self.per_frame = config.per_frame
        width = config.frame_channels if per_frame else self.in_channels
        self.frames, rest = divmod(self.in_channels, width)
        if rest:
            constraint = f"a multiple of frame_channels={frame_channels} when per_frame=True"
            raise BadInputError("in_channels", in_channels, constraint, "set frame_channels")
        self.register_gaussian(config, width, generator)
        self.wave_features = self.frames * self.fourier_dim
        self.out_channels = self.wave_features + self.in_channels * self.concat_input
        self.out_features = self.out_channels

    def phase(
        self, x: Float[Tensor, "*batch channels height width"]
    ) -> Float[Tensor, "*batch {self.frames*self.fourier_dim//2} height width"]:
        """Return 2πBx at every pixel, frame by frame if ``per_frame``."""
        check_input(x, self.in_channels, axis=-3, owner="the 2d layer", axis_name="in_channels")
        *batch, _, height, width = x.shape
        count = math.prod(batch) * self.frames  # not -1: a batch may be empty
        frames = (TWO_PI * x).reshape(count, self.in_features, height, width)
        phase = _convolve(frames, self.B)
        return phase.reshape(*batch, self.frames * self.fourier_dim // 2, height, width)

    def forward(
        self, x: Float[Tensor, "*batch channels height width"]
    ) -> Float[Tensor, "*batch {self.out_channels} height width"]:
        return sin_cos(self.phase(x), x if self.concat_input else None, dim=-3)


def _convolve(
    x: Float[Tensor, "n channels height width"], B: Float[Tensor, "rows channels"]
) -> Float[Tensor, "n rows height width"]:
    """Bx at every pixel, never in reduced precision (see :func:`project`)."""
    phase = F.conv2d(x, B[:, :, None, None])
    if phase.dtype != B.dtype:
        with torch.autocast(x.device.type, enabled=False):
            return _convolve(x.to(B.dtype), B)
    return phase


@dataclass(frozen=True, kw_only=True)
class FourierFields(Config):
    """Fields that the fronts of vectors and of pixels share."""

    fourier_dim: EvenSize
    """Number of Fourier features F (paper: 1024, Cheetah 64; per pixel 64, Hopper 128)."""
    sigma: Scale
    """Standard deviation of B at the start (paper: 0.001, Cheetah 0.003; pixels 0.1 or 0.01)."""
    trainable: bool = True
    """Train B; False is the ablation of Fig. 10."""
    concat_input: bool = True
    """Append x, or the pixel, itself; False is the ablation of Fig. 10."""


@dataclass(frozen=True, kw_only=True)
class Fourier(FourierFields, Front):
    """Front of :class:`LearnedFourierFeatures`."""

    def build(self, in_features: int, *, generator: Rng = None) -> LearnedFourierFeatures:
        return LearnedFourierFeatures(in_features, **vars(self), generator=generator)


@dataclass(frozen=True, kw_only=True)
class Fourier2d(FourierFields, PixelFront):
    """Pixel front of :class:`LearnedFourierFeatures2d`."""

    per_frame: bool = False
    """One B for each RGB frame (the paper's text) instead of all channels (the authors' code)."""
    frame_channels: Size = 3
    """Channels of a frame: 3 for RGB, 1 for grey; used by ``per_frame`` alone."""

    def build(self, in_channels: int, *, generator: Rng = None) -> LearnedFourierFeatures2d:
        return LearnedFourierFeatures2d(in_channels, **vars(self), generator=generator)
