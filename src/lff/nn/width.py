"""Width that makes an MLP or CNN as large as an LFF network."""

from typing import get_args

from lff.core.checks import check_choice, check_size
from lff.core.errors import BadInputError, BadTypeError
from lff.nn.matched import NAMED_WIDTHS, MatchRule, exact_width, later_widths
from lff.nn.net import NetConfig, Network
from lff.nn.pixels import MatchedConv1x1, PixelEncoder, PixelEncoderConfig

PIXEL_README_CHANNELS = 32


def match_width(
    network: Network | PixelEncoder | NetConfig | PixelEncoderConfig,
    in_features: int | None = None,
    out_features: int | None = None,
    *,
    choice: MatchRule = "exact",
) -> int:
    """Return the width that makes a baseline as large as ``network``.

    For a network or its config: the first hidden width of an MLP with one hidden layer more (as
    many without a front), as ``lff.MLP(..., first_dim=...)`` takes it.  For a pixel encoder: the
    channels of the 1x1 convolution that replaces the front, so that front plus first convolution
    are equal.  A config alone does not know its input, so it needs ``in_features`` (the
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
    check_choice("choice", choice, get_args(MatchRule))
    if choice != "exact":
        return NAMED_WIDTHS[choice]
    later = later_widths(config, in_features, out_features)
    width = exact_width(config, in_features, out_features, later)
    if width < 1:
        constraint = f"larger than an MLP with layers {(1, *later)}"
        remedy = "use lff.nn.MatchedMLP, which takes fewer layers"
        raise BadInputError("the network", config, constraint, remedy)
    return width


def _match_channels(config: PixelEncoderConfig, in_channels: int, *, choice: MatchRule) -> int:
    check_choice("choice for pixels", choice, ("exact", "readme"))
    if choice == "readme":
        return PIXEL_README_CHANNELS
    return (
        MatchedConv1x1(like=config.front)
        .resolve(in_channels, num_filters=config.num_filters)
        .channels
    )
