"""MLPs that take their input again: once (MLP with concatenation), or in every layer (D2RL)."""

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lff.nn.mlp import ACTIVATIONS, LinearTrunk, linear


@dataclass(frozen=True)
class ConcatMLPTrunk(LinearTrunk):
    """MLP with x concatenated to the first layer's output: the paper's control of Fig. 9.

    It tests whether LFF's gain comes from the concatenation of x alone.
    """

    tag: ClassVar[str] = "concat-mlp"

    def build(
        self, in_features: int, out_features: int, *, generator: torch.Generator | None = None
    ) -> "SkipBody":
        """Return the trunk for an embedding of this width."""
        return SkipBody(self, in_features, out_features, skips=(1,), generator=generator)


@dataclass(frozen=True)
class D2RLTrunk(LinearTrunk):
    """Deep dense architecture of Sinha et al. (2020): x enters every hidden layer anew."""

    tag: ClassVar[str] = "d2rl"

    def build(
        self, in_features: int, out_features: int, *, generator: torch.Generator | None = None
    ) -> "SkipBody":
        """Return the trunk for an embedding of this width."""
        skips = tuple(range(1, len(self.hidden)))
        return SkipBody(self, in_features, out_features, skips=skips, generator=generator)


class SkipBody(nn.Module):
    """Linear layers, some of which get x appended to their input.

    Layer 0 takes x; layer ``len(hidden)`` is the output layer.  ``skips`` lists the others that
    take x as well.
    """

    def __init__(
        self,
        config: LinearTrunk,
        in_features: int,
        out_features: int,
        *,
        skips: tuple[int, ...],
        generator: torch.Generator | None = None,
    ) -> None:
        """Build the layers, wider where x is appended."""
        super().__init__()
        self.skips = skips
        widths = (in_features, *config.hidden, out_features)
        self.layers = nn.ModuleList(
            linear(
                width + in_features * (i in skips),
                next_width,
                init=config.init,
                generator=generator,
            )
            for i, (width, next_width) in enumerate(pairwise(widths))
        )
        self.activations = nn.ModuleList(ACTIVATIONS[config.activation]() for _ in config.hidden)

    def forward(self, x: Float[Tensor, "*batch in_features"]) -> Float[Tensor, "*batch _"]:
        """Apply the layers in turn, appending x where it belongs."""
        y = x
        for i, layer in enumerate(self.layers):
            if i > 0:
                y = self.activations[i - 1](y)
            y = layer(torch.cat((y, x), dim=-1) if i in self.skips else y)
        return y

    def extra_repr(self) -> str:
        """Show which layers take x."""
        return f"x_into_layers={list(self.skips)}"
