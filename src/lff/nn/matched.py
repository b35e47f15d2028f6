"""Baselines and rivals of equal size: trunks whose widths are resolved when they are built.

Counting builds the real networks without storage (torch's meta device), so it holds for every front
and trunk.  The count is affine in one free width w, count(w) = a + b·w, so two counts give the
exact w; where all widths move together it is monotone, and bisection finds the nearest.
"""

import bisect
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch
from torch import nn

from lff.core.checks import Size, check_choice, check_size
from lff.core.errors import BadInputError, BadTypeError
from lff.nn.fronts import Identity
from lff.nn.net import NetConfig, Network, num_parameters, solve_affine
from lff.nn.parts import Front, Rng, Trunk
from lff.nn.pixels import AUTHORS_UNMATCHED_FRONT, MatchedConv1x1, PixelEncoder, PixelEncoderConfig
from lff.nn.trunks import Activation, ConcatMLPTrunk, DeepFourierTrunk, MLPTrunk, SimBaTrunk

MatchRule = Literal["exact", "paper", "readme"]
MatchedLayers = Literal["plain", "concat", "deep-fourier", "shallow"]
NAMED_WIDTHS = {"paper": 1100, "readme": 1024}


class Matched(Trunk):
    """Base of trunks whose widths follow from another network's size."""

    def build(self, in_features: int, out_features: int, *, generator: Rng = None) -> nn.Module:
        trunk = self.resolve(in_features, out_features)
        return trunk.build(in_features, out_features, generator=generator)


@dataclass(frozen=True, kw_only=True)
class MatchedMLP(Matched):
    """MLP with as many parameters as another network.

    A front is one layer, so the MLP gets one hidden layer more than ``like.trunk``, with the
    trunk's widths and nonlinearity; its first width is free and solves count(MLP) = count(like).
    Where the first layer would become the narrowest, all hidden layers get one width instead: a
    bottleneck would be another handicap than the one that is studied.

    A ``shallow`` one has as many hidden layers as ``like.trunk``, all of one width; it may have a
    front of its own, whose parameters count.

    >>> from lff.nn import Fourier
    >>> like = NetConfig(front=Fourier(fourier_dim=64, sigma=0.01), trunk=MLPTrunk((64, 64)))
    >>> MatchedMLP(like=like).resolve(4, 1).hidden
    (65, 64, 64)
    >>> MatchedMLP(like=like, layers="shallow").resolve(4, 1).hidden
    (90, 90)
    """

    like: NetConfig
    """The network to be compared with."""
    rule: MatchRule = "exact"
    """First width: of equal size, the 1100 of section 5, or the 1024 of the authors' commands."""
    layers: MatchedLayers = "plain"
    """Plain MLP; x concatenated once (Fig. 9); the same widths with sine and cosine; or an MLP that
    is as deep as ``like.trunk``."""

    @property
    def takes_front(self) -> bool:
        return self.layers == "shallow"

    def resolve(
        self, in_features: int, out_features: int, *, front: Front | None = None
    ) -> MLPTrunk | ConcatMLPTrunk | DeepFourierTrunk:
        like, sizes = self.like.resolve(in_features, out_features), (in_features, out_features)
        activation: Activation = getattr(like.trunk, "activation", "relu")
        if self.layers == "shallow":
            widths = equal_widths(like, *sizes, depth=len(like.hidden(*sizes)), front=front)
        else:
            widths = self._widths(like, *sizes)
        if self.layers == "deep-fourier":
            return DeepFourierTrunk(hidden=tuple(width + width % 2 for width in widths))
        kind = ConcatMLPTrunk if self.layers == "concat" else MLPTrunk
        return kind(hidden=widths, activation=activation)

    def _widths(self, like: NetConfig, in_features: int, out_features: int) -> tuple[int, ...]:
        """Return the first width by the rule, and those of ``like``.

        ``exact`` is off by half a unit's weights at the most, under 0.5 % at the sizes that matter.
        """
        later = later_widths(like, in_features, out_features)
        if self.rule != "exact":
            return (NAMED_WIDTHS[self.rule], *later)
        width = first_width(like, in_features, out_features, later)
        if width >= min(later, default=1):
            return (width, *later)
        return equal_widths(like, in_features, out_features, depth=1 + len(later))


@dataclass(frozen=True, kw_only=True)
class MatchedSimBa(Matched):
    """SimBa's trunk with as many parameters as another network.

    >>> from lff.nn import Fourier
    >>> like = NetConfig(front=Fourier(fourier_dim=64, sigma=0.01), trunk=MLPTrunk((64, 64)))
    >>> MatchedSimBa(like=like).resolve(4, 1)
    SimBaTrunk(width=23, blocks=2)
    """

    like: NetConfig
    """The network to be compared with."""
    blocks: Size = 2
    """Number of residual blocks."""

    @property
    def takes_front(self) -> bool:
        return False

    def resolve(
        self,
        in_features: int,
        out_features: int,
        *,
        front: Front | None = None,  # noqa: ARG002
    ) -> SimBaTrunk:
        width = nearest_width(
            self.like,
            lambda width: NetConfig(trunk=SimBaTrunk(width=width, blocks=self.blocks)),
            in_features,
            out_features,
        )
        return SimBaTrunk(width=width, blocks=self.blocks)


@functools.lru_cache(maxsize=1024)
def count(config: NetConfig, in_features: int, out_features: int) -> int:
    """Return the exact number of parameters of a network, without allocating it."""
    with torch.device("meta"):
        return num_parameters(config.build(in_features, out_features))


def later_widths(like: NetConfig, in_features: int, out_features: int) -> tuple[int, ...]:
    """Return the MLP's widths after the free one: a front counts as a layer."""
    return like.hidden(in_features, out_features)[not like.front.is_layer :]


def first_width(
    like: NetConfig, in_features: int, out_features: int, later: tuple[int, ...]
) -> int:
    """Return the first width of nearest count; below 1 if the later layers alone are larger."""
    baselines = (NetConfig(trunk=MLPTrunk((w, *later))) for w in (1, 2))
    return solve_affine(*(count(net, in_features, out_features) for net in (like, *baselines)))


def equal_widths(
    like: NetConfig, in_features: int, out_features: int, *, depth: int, front: Front | None = None
) -> tuple[int, ...]:
    """Return ``depth`` equal widths whose count, with this front before them, is nearest."""

    def make(width: int) -> NetConfig:
        return NetConfig(front or Identity(), MLPTrunk((width,) * depth))

    return (nearest_width(like, make, in_features, out_features),) * depth


def nearest_width(
    like: NetConfig, make: Callable[[int], NetConfig], in_features: int, out_features: int
) -> int:
    """Return the width at which the network that ``make`` returns has the nearest count."""
    goal = count(like, in_features, out_features)

    def excess(width: int) -> int:
        return count(make(width), in_features, out_features) - goal

    above = bisect.bisect_left(range(1, 1 << 16), 0, key=excess) + 1  # the least that is not below
    return above if above == 1 or excess(above) < -excess(above - 1) else above - 1


def match_width(
    network: Network | PixelEncoder | NetConfig | PixelEncoderConfig,
    in_features: int | None = None,
    out_features: int | None = None,
    *,
    choice: MatchRule = "exact",
) -> int:
    """Return the width that makes a baseline as large as ``network``.

    For a network or its config: the first hidden width of an MLP with one hidden layer more (as
    many without a front), as ``lff.MLP(..., first_dim=...)`` takes it; where that is far below the
    others, prefer :class:`MatchedMLP`, which does not make a bottleneck.  For a pixel encoder: the
    channels of the 1x1 convolution that replaces the front, so that front plus first convolution
    are equal.  A config alone does not know its input, so it needs ``in_features`` (the
    image's channels for an encoder) and, for networks, ``out_features``.

    >>> from lff import LFF
    >>> match_width(LFF(23, 1, n_hidden=2, hidden_dim=1024, sigma=0.001, fourier_dim=1024))
    1034
    """
    config: Any = network
    if isinstance(network, PixelEncoder):
        config, in_features = network.config, network.in_channels
    elif isinstance(network, Network):
        config, in_features = network.config, network.in_features
        out_features = network.out_features
    if not isinstance(config, NetConfig | PixelEncoderConfig):
        kinds = "a Network, a PixelEncoder, or the config of one"
        raise BadTypeError("network", network, kinds, "pass for example lff.LFF(...)")
    in_features = check_size("in_features", in_features)
    if isinstance(config, PixelEncoderConfig):
        check_choice("choice for pixels", choice, ("exact", "readme"))
        if choice == "readme":
            return AUTHORS_UNMATCHED_FRONT.channels
        matched = MatchedConv1x1(like=config.front)
        return matched.resolve(in_features, num_filters=config.num_filters).channels
    out_features = check_size("out_features", out_features)
    check_choice("choice", choice, get_args(MatchRule))
    if choice != "exact":
        return NAMED_WIDTHS[choice]
    later = later_widths(config, in_features, out_features)
    width = first_width(config, in_features, out_features, later)
    if width < 1:
        constraint = f"larger than an MLP with layers {(1, *later)}"
        remedy = "use lff.nn.MatchedMLP, which narrows all layers"
        raise BadInputError("the network", config, constraint, remedy)
    return width
