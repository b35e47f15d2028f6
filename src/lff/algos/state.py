"""What an agent keeps and how it is filled again, and weights at the start that share a gain."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from lff.core.errors import BadInputError
from lff.regularizers.base import linears


def kept_buffers(network: nn.Module) -> dict[str, Tensor]:
    """Return the buffers that are kept: not the place that a mask is put into."""
    kept = network.state_dict()
    return {name: value for name, value in network.named_buffers() if name in kept}


def fill(own: Mapping[str, Tensor], tensors: Mapping[str, Tensor]) -> None:
    """Copy a checkpoint's tensors into the agent's own, in place."""
    if own.keys() != tensors.keys():
        odd = sorted(own.keys() ^ tensors.keys())
        raise BadInputError("checkpoint", odd[:3], "of this agent", "use the run's own config")
    with torch.no_grad():
        for name, value in own.items():
            value.copy_(tensors[name])


def scale_orthogonal_(network: nn.Module, *, hidden: float, output: float) -> None:
    """Give the Linear layers of a trunk that was drawn orthogonal these gains, in place.

    A gain is a factor, so that nothing is drawn again; other laws (SIREN's, torch's) stay.
    """
    config = getattr(network, "config", None)
    if getattr(getattr(config, "trunk", None), "init", None) != "orthogonal":
        return
    *inner, last = [place.module for place in linears(network)]
    with torch.no_grad():
        for layer in inner:
            layer.get_parameter("weight").mul_(hidden)
        last.get_parameter("weight").mul_(output)
