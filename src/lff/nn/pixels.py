"""Convolutional encoder of SAC + RAD, with a front.

Four 3x3 convolutions (stride 2, then 1), 32 filters, a Linear to 50 features, layer norm.  The
front before them is nothing (vanilla), a 1x1 convolution (the baseline of equal size), or learned
Fourier features.  Images are uint8, scaled by 1/255 here, or float, taken as they are: the dtype
decides, never the values.
"""

import math
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar, cast

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from lff.core.checks import Config, Positive, Size, check_size, validate
from lff.core.config import LATER
from lff.core.errors import BadInputError
from lff.nn.ensemble import Ensemble
from lff.nn.fourier import check_input
from lff.nn.net import NetConfig, num_parameters, solve_affine
from lff.nn.parts import AnyPixelFront, PixelFront, Rng
from lff.nn.trunks import blank, linear, orthogonal_, uniform_

KERNEL = 3
FIRST_STRIDE = 2
CACHED = 2**24
"""Bytes of an embedding that stay in the cache while the first convolution reads them."""
MOST_CHUNKS = 4
ImageShape = tuple[int, int, int]
"""Channels, height, width."""


@dataclass(frozen=True)
class NoFront(PixelFront):
    """The vanilla encoder: the convolutions take the image itself."""

    layer = nn.Identity


class ConvFeatures2d(nn.Module):
    """x -> relu(scale · (Wx + b)) at every pixel; W and b from torch's default law, as theirs."""

    def __init__(self, in_channels: int, config: "Conv1x1", *, generator: Rng = None) -> None:
        super().__init__()
        self.scale, self.out_channels = config.scale, config.channels
        conv = blank(nn.Conv2d, in_channels, config.channels, 1, bias=config.bias)
        self.conv = uniform_(conv, generator=generator)

    def forward(self, x: Float[Tensor, "n c h w"]) -> Float[Tensor, "n {self.out_channels} h w"]:
        return torch.relu(self.scale * self.conv(x))

    def extra_repr(self) -> str:
        return f"scale={self.scale:g}"


@dataclass(frozen=True, kw_only=True)
class Conv1x1(PixelFront):
    """A 1x1 convolution and ReLU: the CNN baseline with as many parameters as LFF.

    :class:`MatchedConv1x1` finds the channels.  The authors' command gives 32 channels without a
    bias and multiplies by 2π before the ReLU (``AUTHORS_UNMATCHED_FRONT``): a quarter of LFF's
    parameters.
    """

    layer = ConvFeatures2d
    channels: Size
    """Output channels."""
    scale: Annotated[float, Positive()] = 1.0
    """Factor before the ReLU; 2π in the authors' code."""
    bias: bool = field(default=True, metadata=LATER)
    """Learn a bias; the authors' convolution does not."""


AUTHORS_UNMATCHED_FRONT = Conv1x1(channels=32, scale=2 * math.pi, bias=False)
"""The 1x1 convolution of the authors' README command: 9,248 + 288 parameters against 40,064."""


@dataclass(frozen=True, kw_only=True)
class MatchedConv1x1(PixelFront):
    """The 1x1 convolution that makes an encoder as large as one with the front ``like``.

    Front plus first convolution have equal counts; the encoder resolves the channels when built.
    """

    like: AnyPixelFront
    """The front to be compared with."""

    def __post_init__(self) -> None:
        validate(self)
        if isinstance(self.like, NoFront):
            remedy = "pass an encoder with a Fourier2d front"
            raise BadInputError("front", self.like, "something to match", remedy)

    def resolve(self, in_channels: int, *, num_filters: int) -> Conv1x1:
        """Return the convolution with its channels as a number."""
        counts = (
            count_entrance(PixelEncoderConfig(front=front, num_filters=num_filters), in_channels)
            for front in (self.like, Conv1x1(channels=1), Conv1x1(channels=2))
        )
        return Conv1x1(channels=max(1, solve_affine(*counts)))

    def build(self, in_channels: int, *, generator: Rng = None) -> nn.Module:  # noqa: ARG002
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

    def build(self, obs_shape: ImageShape, *, generator: Rng = None) -> "PixelEncoder":
        """Return the encoder for images of shape ``(channels, height, width)``."""
        return PixelEncoder(self, obs_shape, generator=generator)

    def resolve(self, in_channels: int) -> "PixelEncoderConfig":
        """Return the same encoder with all channels of its front as numbers."""
        front = self.front.resolve(in_channels, num_filters=self.num_filters)
        return replace(self, front=front)

    def build_entrance(
        self, in_channels: int, *, generator: Rng = None
    ) -> tuple[nn.Module, nn.Conv2d]:
        """Return the front and the first convolution: what a fair comparison keeps equal."""
        front = self.resolve(in_channels).front.build(in_channels, generator=generator)
        width = getattr(front, "out_channels", in_channels)
        first = blank(nn.Conv2d, width, self.num_filters, KERNEL, stride=FIRST_STRIDE)
        return front, orthogonal_(first, generator=generator)


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
        self, config: PixelEncoderConfig, obs_shape: ImageShape, *, generator: Rng = None
    ) -> None:
        super().__init__()
        self.config = config
        if len(obs_shape) != 3:
            constraint, remedy = "(channels, height, width)", "stack frames along the channels"
            raise BadInputError("obs_shape", obs_shape, constraint, remedy)
        self.in_channels, *size = (check_size("obs_shape", n) for n in obs_shape)
        self.image_size = tuple(size)
        shrink = (KERNEL - 1) * (config.num_layers - 1)  # of the later convolutions, unpadded
        height, width = ((n - KERNEL) // FIRST_STRIDE + 1 - shrink for n in size)
        if min(height, width) < 1:
            least = f"at least {FIRST_STRIDE * shrink + KERNEL} pixels"
            remedy = "render larger images or use fewer num_layers"
            raise BadInputError("obs_shape", obs_shape, least, remedy)
        self.front, first = config.build_entrance(self.in_channels, generator=generator)
        convolutions: list[nn.Module] = [first, nn.ReLU()]
        for _ in range(config.num_layers - 1):
            conv = blank(nn.Conv2d, config.num_filters, config.num_filters, KERNEL)
            convolutions += [orthogonal_(conv, generator=generator), nn.ReLU()]
        self.convolutions = nn.Sequential(*convolutions)
        self.maps_width = config.num_filters * height * width

    def forward(
        self, obs: Shaped[Tensor, "*batch channels height width"]
    ) -> Float[Tensor, "*batch _"]:
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

    def extra_repr(self) -> str:
        out = getattr(self, "out_features", self.maps_width)
        return f"in={self.in_channels}, out={out}, parameters={num_parameters(self):,}"


class PixelHead(nn.Module):
    """Maps -> Linear, layer norm -> features -> network; the action, if any, joins the features."""

    def __init__(
        self, config: PixelEncoderConfig, maps_width: int, net: nn.Module, *, generator: Rng = None
    ) -> None:
        super().__init__()
        self.project = linear(maps_width, config.feature_dim, generator=generator)
        self.norm = nn.LayerNorm(config.feature_dim)
        self.output = nn.Tanh() if config.output_tanh else nn.Identity()
        self.net = net

    def forward(
        self, maps: Float[Tensor, "*batch maps"], *rest: Float[Tensor, "*batch _"]
    ) -> Float[Tensor, "..."]:
        output: Tensor = self.net(self.output(self.norm(self.project(maps))), *rest)
        return output


class PixelEncoder(PixelMaps):
    """``(*batch, channels, height, width)`` -> ``(*batch, feature_dim)``.

    >>> from lff.nn import Fourier2d
    >>> encoder = PixelEncoderConfig(front=Fourier2d(fourier_dim=16, sigma=0.1)).build((9, 84, 84))
    >>> encoder(torch.zeros(2, 9, 84, 84, dtype=torch.uint8)).shape
    torch.Size([2, 50])
    """

    def __init__(
        self, config: PixelEncoderConfig, obs_shape: ImageShape, *, generator: Rng = None
    ) -> None:
        super().__init__(config, obs_shape, generator=generator)
        self.out_features = config.feature_dim
        self.head = PixelHead(config, self.maps_width, nn.Identity(), generator=generator)

    def forward(
        self, obs: Shaped[Tensor, "*batch channels height width"]
    ) -> Float[Tensor, "*batch {self.out_features}"]:
        features: Tensor = self.head(super().forward(obs))
        return features


class PixelCritic(nn.Module):
    """Encoder and all critics: ``(images, action)`` -> ``(critic, *batch, 1)``.

    The actor, a :class:`PixelHead`, shares the encoder, but the critics alone train it.
    """

    def __init__(
        self,
        config: PixelEncoderConfig,
        net: NetConfig,
        size: int,
        *,
        obs_shape: ImageShape,
        action_dim: int,
        generator: Rng = None,
    ) -> None:
        super().__init__()
        self.encoder = PixelMaps(config, obs_shape, generator=generator)
        width = config.feature_dim + action_dim
        critics = Ensemble.build(net, size, in_features=width, out_features=1, generator=generator)
        self.head = PixelHead(config, self.encoder.maps_width, critics, generator=generator)

    @property
    def net(self) -> nn.Module:
        """The critics behind encoder and projection."""
        return self.head.net

    def forward(
        self, obs: Shaped[Tensor, "*batch channels height width"], action: Float[Tensor, "*batch a"]
    ) -> Float[Tensor, "critic *batch 1"]:
        output: Tensor = self.head(self.encoder(obs), action)
        return output
