"""Parts of a network: base classes of fronts and trunks, and the registries of ours.

A part is a frozen dataclass with ``build``.  One of ours is a file in this package and a line in
its registry; one of yours derives from the same base class in any package.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Annotated, ClassVar

import torch
from torch import nn

from lff.core.checks import Config
from lff.core.config import Registry

Rng = torch.Generator | None
"""Source of random numbers; torch's global one if None."""
FRONTS = Registry(
    "front",
    {
        "identity": "lff.nn.fronts:Identity",
        "fourier": "lff.nn.fourier:Fourier",
        "log-uniform-fourier": "lff.nn.fronts:LogUniformFourier",
        "linear-control": "lff.nn.fronts:LinearControl",
        "constant-control": "lff.nn.fronts:ConstantControl",
        "tanh": "lff.nn.fronts:TanhControl",
        "ffn": "lff.nn.fronts:FFN",
    },
)
TRUNKS = Registry(
    "trunk",
    {
        "mlp": "lff.nn.trunks:MLPTrunk",
        "matched-mlp": "lff.nn.matched:MatchedMLP",
        "concat-mlp": "lff.nn.trunks:ConcatMLPTrunk",
        "d2rl": "lff.nn.trunks:D2RLTrunk",
        "siren": "lff.nn.trunks:SIRENTrunk",
        "deep-fourier": "lff.nn.trunks:DeepFourierTrunk",
        "simba": "lff.nn.trunks:SimBaTrunk",
        "matched-simba": "lff.nn.matched:MatchedSimBa",
    },
    adapt="lff.nn.called:as_trunk",
)
"""A trunk of yours may also be a function ``(in_features, out_features) -> nn.Module``."""
PIXEL_FRONTS = Registry(
    "pixel front",
    {
        "no-front": "lff.nn.pixels:NoFront",
        "conv1x1": "lff.nn.pixels:Conv1x1",
        "matched-conv1x1": "lff.nn.pixels:MatchedConv1x1",
        "fourier-2d": "lff.nn.fourier:Fourier2d",
    },
)


class Embedding(Config):
    """Base of fronts: configs of a layer that embeds its input."""

    layer: ClassVar[Callable[..., nn.Module]]
    """The layer's class, called with the width, the config and the generator by ``build``."""

    def build(self, in_features: int, *, generator: Rng = None) -> nn.Module:
        """Return the layer; ``out_features`` or ``out_channels``, if any, is its output's width."""
        return self.layer(in_features, self, generator=generator)

    @property
    def trains_basis(self) -> bool:
        """Whether the layer has a basis B that is trained."""
        return bool(getattr(self, "trainable", False))


class Front(Embedding):
    """Config of the layer that embeds the input of a network."""

    is_layer: ClassVar[bool] = True
    """Whether a matched MLP has a layer in its place."""


class Trunk(Config, ABC):
    """Config of the layers that compute a network's output from the embedding."""

    @property
    def takes_front(self) -> bool:
        """Whether a front may precede it."""
        return True

    def resolve(
        self,
        in_features: int,  # noqa: ARG002
        out_features: int,  # noqa: ARG002
        *,
        front: Front | None = None,  # noqa: ARG002
    ) -> "Trunk":
        """Return the trunk with all its widths as numbers, behind ``front`` of the network."""
        return self

    @abstractmethod
    def build(self, in_features: int, out_features: int, *, generator: Rng = None) -> nn.Module:
        """Return the module; the same generator state gives the same weights."""


class PixelFront(Embedding):
    """Config of the layer before the convolutions of an encoder."""

    def resolve(self, in_channels: int, *, num_filters: int) -> "PixelFront":  # noqa: ARG002
        """Return the front with all its channels as numbers; the next layer has ``num_filters``."""
        return self


AnyFront = Annotated[Front, FRONTS]
AnyTrunk = Annotated[Trunk, TRUNKS]
AnyPixelFront = Annotated[PixelFront, PIXEL_FRONTS]
