"""Parameter-matched baselines: how wide an MLP or CNN must be to be as large as an LFF network.

The count of the baseline is affine in the free width w, count(w) = a + b·w, so two counts give the
exact w.  Counting builds the real networks without storage (torch's meta device), hence holds for
every front and trunk, those to come included.
"""

import functools
from dataclasses import replace
from typing import Literal, get_args

import torch

from lff.core.checks import check_choice, check_size
from lff.core.errors import BadInputError, BadTypeError
from lff.nn.mlp import Activation, MLPTrunk
from lff.nn.net import Identity, NetConfig, Network, num_parameters
from lff.nn.pixels import Conv1x1, NoFront, PixelEncoder, PixelEncoderConfig

WidthChoice = Literal["exact", "paper", "readme"]
NAMED_WIDTHS = {"paper": 1100, "readme": 1024}
PIXEL_README_CHANNELS = 32


def matched_mlp(
    config: NetConfig, in_features: int, out_features: int, *, choice: WidthChoice = "exact"
) -> NetConfig:
    """Return the MLP that a network is fairly compared with.

    A front is one layer, so the MLP gets one hidden layer more than the trunk, with the trunk's
    widths; its first width is free.  ``exact`` is the width whose count is nearest (off by half a
    unit's weights at the most, under 0.5 % at the sizes that matter), ``paper`` the 1100 of
    section 5, ``readme`` the 1024 of the authors' commands.  A network smaller than the later
    layers alone (deep Fourier features have half the weights) is matched with fewer of them.
    """
    check_choice("choice", choice, get_args(WidthChoice))
    later = _later(config)
    if choice != "exact":
        return _mlp(config, NAMED_WIDTHS[choice], later)
    for skipped in range(len(later) + 1):
        width = _exact(config, in_features, out_features, later[skipped:])
        if width >= 1:
            return _mlp(config, width, later[skipped:])
    return _mlp(config, 1, ())


def match_width(
    network: Network | PixelEncoder | NetConfig | PixelEncoderConfig,
    in_features: int | None = None,
    out_features: int | None = None,
    *,
    choice: WidthChoice = "exact",
) -> int:
    """Return the width that makes a baseline as large as ``network``.

    For a network or its config: the first hidden width of an MLP with one hidden layer more (none
    more if there is no front), as ``lff.MLP(..., first_dim=...)`` takes it.  For a pixel encoder:
    the channels of the 1x1 convolution that stands in the front's place, so that front plus first
    convolution are equal.  A config alone does not know its input, so it needs ``in_features`` (the
    image's channels for an encoder) and, for networks, ``out_features``.

    >>> from lff import LFF
    >>> match_width(LFF(23, 1, n_hidden=2, hidden_dim=1024, sigma=0.001, fourier_dim=1024))
    1034
    """
    if isinstance(network, Network | PixelEncoder):
        config = network.config
        in_features = (
            network.in_channels if isinstance(network, PixelEncoder) else network.in_features
        )
        out_features = network.out_features
    else:
        config = network
    if isinstance(config, PixelEncoderConfig):
        return _match_channels(config, check_size("in_features", in_features), choice=choice)
    if not isinstance(config, NetConfig):
        kinds = "a Network, a PixelEncoder, or the config of one"
        raise BadTypeError("network", network, kinds, "pass lff.LFF(...), say")
    in_features = check_size("in_features", in_features)
    out_features = check_size("out_features", out_features)
    check_choice("choice", choice, get_args(WidthChoice))
    if choice != "exact":
        return NAMED_WIDTHS[choice]
    width = _exact(config, in_features, out_features, _later(config))
    if width < 1:
        constraint = f"larger than an MLP with layers {(1, *_later(config))}"
        remedy = "use lff.nn.matched_mlp, which takes fewer layers"
        raise BadInputError("the network", config, constraint, remedy)
    return width


def matched_cnn(config: PixelEncoderConfig, in_channels: int) -> PixelEncoderConfig:
    """Return the encoder whose 1x1 convolution makes it as large as ``config`` with its front."""
    return replace(config, front=Conv1x1(channels=match_width(config, in_channels)))


@functools.lru_cache(maxsize=1024)
def count(config: NetConfig, in_features: int, out_features: int) -> int:
    """Return the exact number of parameters of a network, without allocating it."""
    with torch.device("meta"):
        return num_parameters(config.build(in_features, out_features))


def count_entrance(config: PixelEncoderConfig, in_channels: int) -> int:
    """Return the number of parameters of an encoder's front plus its first convolution."""
    with torch.device("meta"):
        front, convolutions = config.build_entrance(in_channels)
        return num_parameters(front) + num_parameters(convolutions)


def _later(config: NetConfig) -> tuple[int, ...]:
    """Return the MLP's widths after the free one: a front counts as a layer."""
    return config.trunk.hidden[isinstance(config.front, Identity) :]


def _mlp(config: NetConfig, first: int, later: tuple[int, ...]) -> NetConfig:
    activation: Activation = getattr(config.trunk, "activation", "relu")
    return NetConfig(trunk=MLPTrunk(hidden=(first, *later), activation=activation))


def _exact(config: NetConfig, in_features: int, out_features: int, later: tuple[int, ...]) -> int:
    goal = count(config, in_features, out_features)
    small, large = (count(_mlp(config, w, later), in_features, out_features) for w in (1, 2))
    return _solve(goal, small, large)


def _match_channels(config: PixelEncoderConfig, in_channels: int, *, choice: WidthChoice) -> int:
    check_choice("choice for pixels", choice, ("exact", "readme"))
    if choice == "readme":
        return PIXEL_README_CHANNELS
    if isinstance(config.front, NoFront):
        remedy = "pass an encoder with a Fourier2d front"
        raise BadInputError("front", config.front, "something to match", remedy)
    goal = count_entrance(config, in_channels)
    small, large = (
        count_entrance(replace(config, front=Conv1x1(channels=c)), in_channels) for c in (1, 2)
    )
    return max(1, _solve(goal, small, large))


def _solve(goal: int, at_one: int, at_two: int) -> int:
    """Return the integer w nearest to the solution of a + b·w = goal, in exact arithmetic."""
    slope = at_two - at_one
    return (2 * (goal - at_one) + slope) // (2 * slope) + 1
