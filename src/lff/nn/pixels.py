"""Convolutional encoder of SAC + RAD, with a front.

Four 3x3 convolutions (stride 2, then 1), 32 filters, a Linear to 50 features, layer norm.  The
front before them is nothing (vanilla), a 1x1 convolution (the baseline of equal size), or learned
Fourier features.  Images are uint8, scaled by 1/255 here, or float, taken as they are: the dtype
decides, never the values.
"""

import math
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, cast

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from lff.core.checks import Config, Positive, Size, check_size, validate
from lff.core.errors import BadInputError
from lff.nn.fourier import check_input
from lff.nn.matched import solve
from lff.nn.mlp import linear, orthogonal_
from lff.nn.net import num_parameters
from lff.nn.parts import AnyPixelFront, PixelFront

KERNEL = 3
FIRST_STRIDE = 2
CACHED = 2**24
"""Bytes of an embedding that stay in the cache while the first convolution reads them."""
MOST_CHUNKS = 4


@dataclass(frozen=True)
class NoFront(PixelFront):
    """The vanilla encoder: the convolutions take the image itself."""

    tag: ClassVar[str] = "no-front"

    def build(
        self,
        in_channels: int,  # noqa: ARG002
        *,
        generator: torch.Generator | None = None,  # noqa: ARG002
    ) -> nn.Identity:
        """Return a module that changes nothing."""
        return nn.Identity()


@dataclass(frozen=True, kw_only=True)
class Conv1x1(PixelFront):
    """A 1x1 convolution and ReLU: the CNN baseline with as many parameters as LFF.

    :class:`MatchedConv1x1` finds the channels.  The authors' command gives 32 channels and
    multiplies by 2π before the ReLU (``Conv1x1(channels=32, scale=2 * pi)``): a quarter of LFF's
    parameters.
    """

    tag: ClassVar[str] = "conv1x1"
    channels: Size
    """Output channels."""
    scale: Annotated[float, Positive()] = 1.0
    """Factor before the ReLU; 2π in the authors' code."""

    def build(
        self, in_channels: int, *, generator: torch.Generator | None = None
    ) -> "ConvFeatures2d":
        """Return the layer for images of this many channels."""
        return ConvFeatures2d(in_channels, self.channels, scale=self.scale, generator=generator)


AUTHORS_UNMATCHED_FRONT = Conv1x1(channels=32, scale=2 * math.pi)
"""The 1x1 convolution of the authors' README command: 9,248 + 320 parameters against 40,064."""


class ConvFeatures2d(nn.Module):
    """x -> relu(scale · (Wx + b)) at every pixel; W and b from torch's default law, as theirs."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        scale: float = 1.0,
        generator: torch.Generator | None = None,
    ) -> None:
        """Draw W and b from U(±1/√in_channels)."""
        super().__init__()
        self.scale = scale
        self.out_channels = out_channels
        dense = linear(in_channels, out_channels, init="default", generator=generator)
        self.conv = _blank_conv(in_channels, out_channels, kernel=1, stride=1)
        with torch.no_grad():
            self.conv.weight.copy_(dense.weight[:, :, None, None])
            if self.conv.bias is not None:
                self.conv.bias.copy_(dense.bias)

    def forward(self, x: Float[Tensor, "n c h w"]) -> Float[Tensor, "n {self.out_channels} h w"]:
        """Return relu(scale · (Wx + b))."""
        return torch.relu(self.scale * self.conv(x))

    def extra_repr(self) -> str:
        """Show the factor."""
        return f"scale={self.scale:g}"


@dataclass(frozen=True, kw_only=True)
class MatchedConv1x1(PixelFront):
    """The 1x1 convolution that makes an encoder as large as one with the front ``like``.

    Front plus first convolution have equal counts; the encoder resolves the channels when built.
    """

    tag: ClassVar[str] = "matched-conv1x1"
    like: AnyPixelFront
    """The front to be compared with."""

    def __post_init__(self) -> None:
        """Refuse a front without parameters."""
        validate(self)
        if isinstance(self.like, NoFront):
            remedy = "pass an encoder with a Fourier2d front"
            raise BadInputError("front", self.like, "something to match", remedy)

    def resolve(self, in_channels: int, *, num_filters: int) -> Conv1x1:
        """Return the convolution with its channels as a number."""
        fronts = (self.like, Conv1x1(channels=1), Conv1x1(channels=2))
        goal, small, large = (
            count_entrance(PixelEncoderConfig(front=front, num_filters=num_filters), in_channels)
            for front in fronts
        )
        return Conv1x1(channels=max(1, solve(goal, small, large)))

    def build(
        self,
        in_channels: int,  # noqa: ARG002
        *,
        generator: torch.Generator | None = None,  # noqa: ARG002
    ) -> nn.Module:
        """Refuse: the channels depend on the convolution that follows."""
        remedy = "build the whole encoder, or call resolve(in_channels, num_filters=...)"
        raise BadInputError("a MatchedConv1x1", self, "resolved", remedy)


@dataclass(frozen=True, kw_only=True)
class PixelEncoderConfig(Config):
    """The encoder of SAC + RAD, with its front."""

    tag: ClassVar[str] = "pixel-encoder"
    front: AnyPixelFront = NoFront()
    """The layer before the convolutions."""
    feature_dim: Size = 50
    """Width of the output."""
    num_layers: Size = 4
    """Number of 3x3 convolutions."""
    num_filters: Size = 32
    """Channels of each."""
    output_tanh: bool = False
    """Squash the output (the paper's code base does not)."""

    def build(
        self, obs_shape: tuple[int, int, int], *, generator: torch.Generator | None = None
    ) -> "PixelEncoder":
        """Return the encoder for images of shape ``(channels, height, width)``."""
        return PixelEncoder(self, obs_shape, generator=generator)

    def resolve(self, in_channels: int) -> "PixelEncoderConfig":
        """Return the same encoder with all channels of its front as numbers."""
        front = self.front.resolve(in_channels, num_filters=self.num_filters)
        return replace(self, front=front)

    def build_entrance(
        self, in_channels: int, *, generator: torch.Generator | None = None
    ) -> tuple[nn.Module, nn.Conv2d]:
        """Return the front and the first convolution: what a fair comparison keeps equal."""
        front = self.resolve(in_channels).front.build(in_channels, generator=generator)
        width = getattr(front, "out_channels", in_channels)
        first = _blank_conv(width, self.num_filters, kernel=KERNEL, stride=FIRST_STRIDE)
        orthogonal_(first, generator=generator)
        return front, first


def count_entrance(config: PixelEncoderConfig, in_channels: int) -> int:
    """Return the number of parameters of an encoder's front plus its first convolution."""
    with torch.device("meta"):
        front, convolution = config.build_entrance(in_channels)
        return num_parameters(front) + num_parameters(convolution)


class PixelMaps(nn.Module):
    """Front and convolutions: ``(*batch, channels, height, width)`` -> flat maps.

    The networks of an agent share them: gradients of the actor stop at the maps.
    """

    def __init__(
        self,
        config: PixelEncoderConfig,
        obs_shape: tuple[int, int, int],
        *,
        generator: torch.Generator | None = None,
    ) -> None:
        """Build front and convolutions; delta-orthogonal, zero bias."""
        super().__init__()
        self.config = config
        if len(obs_shape) != 3:
            constraint, remedy = "(channels, height, width)", "stack frames along the channels"
            raise BadInputError("obs_shape", obs_shape, constraint, remedy)
        self.in_channels, *size = (check_size("obs_shape", n) for n in obs_shape)
        self.image_size = tuple(size)
        height, width = (_conv_size(n, config.num_layers) for n in size)
        if min(height, width) < 1:
            remedy = "render larger images or use fewer num_layers"
            raise BadInputError("obs_shape", obs_shape, f"at least {_least(config)} pixels", remedy)
        self.front, first = config.build_entrance(self.in_channels, generator=generator)
        convolutions: list[nn.Module] = [first, nn.ReLU()]
        for _ in range(config.num_layers - 1):
            conv = _blank_conv(config.num_filters, config.num_filters, kernel=KERNEL, stride=1)
            convolutions += [orthogonal_(conv, generator=generator), nn.ReLU()]
        self.convolutions = nn.Sequential(*convolutions)
        self.maps_width = config.num_filters * height * width

    def convolve(
        self, obs: Shaped[Tensor, "*batch channels height width"]
    ) -> Float[Tensor, "*batch {self.maps_width}"]:
        """Return the flat output of the convolutions.

        Images are laid out with their channels last: a product per pixel then reads neighbouring
        numbers, which is half of the speed.  The embedding is an order of magnitude larger than
        the cache; compiled, it is made and used in chunks of the batch that fit into it.
        """
        if obs.shape[-2:] != self.image_size:
            remedy = "resize the images, or build the encoder for their size"
            constraint = f"{self.image_size[0]} x {self.image_size[1]} pixels"
            raise BadInputError("the input of the encoder", tuple(obs.shape), constraint, remedy)
        *batch, channels, height, width = obs.shape
        images = obs.reshape(math.prod(batch), channels, height, width)
        first, *later = self.convolutions
        chunks: tuple[Tensor, ...] = (images,)
        if torch.compiler.is_compiling() and not torch.compiler.is_exporting():
            chunks = torch.split(images, self._chunk(len(images)))  # a batch of one known size
        parts = [first(self.front(self._scale(chunk))) for chunk in chunks]
        maps: Tensor = parts[0] if len(parts) == 1 else torch.cat(parts)
        for layer in later:
            maps = layer(maps)
        return maps.reshape(*batch, self.maps_width)

    def _scale(self, images: Tensor) -> Tensor:
        if images.dtype == torch.uint8:
            first = cast(nn.Conv2d, self.convolutions[0])
            images = images.to(first.weight.dtype) / 255
        check_input(images, self.in_channels, axis=-3, owner="the encoder", axis_name="in_channels")
        return images.contiguous(memory_format=torch.channels_last)

    def _chunk(self, images: int) -> int:
        """Return how many images' embedding the cache holds; each chunk is compiled anew."""
        channels = getattr(self.front, "out_channels", self.in_channels)
        fitting = CACHED // (4 * channels * math.prod(self.image_size))
        return max(1, fitting, math.ceil(images / MOST_CHUNKS))

    def forward(
        self, obs: Shaped[Tensor, "*batch channels height width"]
    ) -> Float[Tensor, "*batch _"]:
        """Return the flat maps of each image."""
        return self.convolve(obs)

    def extra_repr(self) -> str:
        """Show the size."""
        out = getattr(self, "out_features", self.maps_width)
        return f"in={self.in_channels}, out={out}, parameters={num_parameters(self):,}"


class PixelEncoder(PixelMaps):
    """``(*batch, channels, height, width)`` -> ``(*batch, feature_dim)``.

    >>> from lff.nn import Fourier2d
    >>> encoder = PixelEncoderConfig(front=Fourier2d(fourier_dim=16, sigma=0.1)).build((9, 84, 84))
    >>> encoder(torch.zeros(2, 9, 84, 84, dtype=torch.uint8)).shape
    torch.Size([2, 50])
    """

    def __init__(
        self,
        config: PixelEncoderConfig,
        obs_shape: tuple[int, int, int],
        *,
        generator: torch.Generator | None = None,
    ) -> None:
        """Build front, convolutions and head; delta-orthogonal and orthogonal, zero bias."""
        super().__init__(config, obs_shape, generator=generator)
        self.out_features = config.feature_dim
        self.project = linear(self.maps_width, config.feature_dim, generator=generator)
        self.norm = nn.LayerNorm(config.feature_dim)
        self.output = nn.Tanh() if config.output_tanh else nn.Identity()

    def forward(
        self, obs: Shaped[Tensor, "*batch channels height width"]
    ) -> Float[Tensor, "*batch {self.out_features}"]:
        """Return the features of each image."""
        features: Tensor = self.output(self.norm(self.project(self.convolve(obs))))
        return features


def _blank_conv(in_channels: int, out_channels: int, *, kernel: int, stride: int) -> nn.Conv2d:
    """Return a Conv2d with storage but no values, so that the global RNG stays where it is."""
    device = torch.get_default_device()
    with torch.device("meta"):
        conv = nn.Conv2d(in_channels, out_channels, kernel, stride=stride)
    return conv.to_empty(device=device)


def _conv_size(size: int, num_layers: int) -> int:
    """Return the side of the maps after all convolutions (no padding)."""
    return (size - KERNEL) // FIRST_STRIDE + 1 - (KERNEL - 1) * (num_layers - 1)


def _least(config: PixelEncoderConfig) -> int:
    """Return the smallest side of an image that leaves one pixel."""
    return FIRST_STRIDE * (KERNEL - 1) * (config.num_layers - 1) + KERNEL
