"""The networks of a pixel agent: a shared encoder, and the heads of actor and critics.

encoder   front and convolutions, shared by actor and critics, trained by the critics alone
head      Linear to 50, layer norm, then the network: one for the actor, one for all critics
"""

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from lff.nn.ensemble import Ensemble
from lff.nn.mlp import linear
from lff.nn.net import NetConfig, Network
from lff.nn.pixels import PixelEncoderConfig, PixelMaps


class PixelHead(nn.Module):
    """Maps -> features -> network; further inputs, the action, join the features."""

    def __init__(
        self,
        config: PixelEncoderConfig,
        maps_width: int,
        net: Network | Ensemble,
        *,
        generator: torch.Generator | None = None,
    ) -> None:
        """Put projection and layer norm before a network of inputs ``feature_dim`` wide."""
        super().__init__()
        self.project = linear(maps_width, config.feature_dim, generator=generator)
        self.norm = nn.LayerNorm(config.feature_dim)
        self.output = nn.Tanh() if config.output_tanh else nn.Identity()
        self.net = net

    def forward(
        self, maps: Float[Tensor, "*batch maps"], *rest: Float[Tensor, "*batch _"]
    ) -> Float[Tensor, "..."]:
        """Return the network's output."""
        output: Tensor = self.net(self.output(self.norm(self.project(maps))), *rest)
        return output


class PixelCritic(nn.Module):
    """Encoder and all critics: ``(images, action)`` -> ``(critic, *batch, 1)``."""

    def __init__(
        self,
        config: PixelEncoderConfig,
        net: NetConfig,
        size: int,
        *,
        obs_shape: tuple[int, int, int],
        action_dim: int,
        generator: torch.Generator | None = None,
    ) -> None:
        """Build the encoder, then ``size`` critics on one projection."""
        super().__init__()
        self.encoder = PixelMaps(config, obs_shape, generator=generator)
        width = config.feature_dim + action_dim
        critics = Ensemble.build(net, size, in_features=width, out_features=1, generator=generator)
        self.head = PixelHead(config, self.encoder.maps_width, critics, generator=generator)

    def forward(
        self, obs: Shaped[Tensor, "*batch channels height width"], action: Float[Tensor, "*batch a"]
    ) -> Float[Tensor, "critic *batch 1"]:
        """Return every critic's value."""
        output: Tensor = self.head(self.encoder(obs), action)
        return output


def pixel_actor(
    config: PixelEncoderConfig,
    net: NetConfig,
    *,
    maps_width: int,
    action_dim: int,
    generator: torch.Generator | None = None,
) -> PixelHead:
    """Return the actor's head, for the maps of the critics' encoder."""
    network = net.build(config.feature_dim, 2 * action_dim, generator=generator)
    return PixelHead(config, maps_width, network, generator=generator)
