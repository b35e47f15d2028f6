"""The rival's front: one learned sine layer, sin(π(Wx + b)), of Yang, Ajay and Agrawal (2022).

They explain the same gain the other way round (a critic that *under*fits high frequencies), without
cosine and concatenation and with a bias: W_ij ~ N(0, (scale/d)²), b ~ U(-1, 1), 40·d features.
"""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lff.core.checks import NonNegative, Size, check_size
from lff.nn.fourier import BasisLayer, check_input, project
from lff.nn.parts import Front

FEATURES_PER_INPUT = 40


@dataclass(frozen=True, kw_only=True)
class FFN(Front):
    """Front of :class:`FFNFeatures`.

    >>> FFN(scale=0.001).build(3)
    FFNFeatures(in=3, features=120, scale=0.001, trainable=True)
    """

    tag: ClassVar[str] = "ffn"
    trainable: ClassVar[bool] = True
    scale: Annotated[float, NonNegative("use 0.001 to start")] = 0.001
    """W ~ N(0, (scale/d)²); the authors tuned 1e-4 to 3e-3 per task."""
    features: Size | None = None
    """Number of sines; 40 per input if None."""

    def build(self, in_features: int, *, generator: torch.Generator | None = None) -> "FFNFeatures":
        """Return the layer for inputs of this width."""
        return FFNFeatures(in_features, self, generator=generator)


class FFNFeatures(BasisLayer):
    """x -> sin(π(Bx + b)); their W is ``B`` here, so that every tool finds it by one name."""

    bias: Tensor

    def __init__(
        self, in_features: int, config: FFN, *, generator: torch.Generator | None = None
    ) -> None:
        """Draw W and b."""
        super().__init__()
        self.in_features = check_size("in_features", in_features)
        self.out_features = config.features or FEATURES_PER_INPUT * self.in_features
        self.wave_features = self.out_features
        self.scale, self.trainable = config.scale, True
        self.initial_spread = self.scale / self.in_features
        self.register_basis(self.out_features, generator)
        self.bias = nn.Parameter(torch.empty(self.out_features))
        nn.init.uniform_(self.bias, -1, 1, generator=generator)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw W and b anew."""
        super().reset_parameters(generator)
        nn.init.uniform_(self.bias, -1, 1, generator=generator)

    def phase(
        self, x: Float[Tensor, "*batch in_features"]
    ) -> Float[Tensor, "*batch {self.out_features}"]:
        """Return π(Wx + b)."""
        check_input(x, self.in_features, axis=-1, owner="the layer", axis_name="in_features")
        return math.pi * (project(x, self.B) + self.bias)

    def forward(
        self, x: Float[Tensor, "*batch in_features"]
    ) -> Float[Tensor, "*batch {self.out_features}"]:
        """Return sin(π(Wx + b))."""
        return self.phase(x).sin()

    def extra_repr(self) -> str:
        """Show the science."""
        features, scale = self.out_features, self.scale
        return f"in={self.in_features}, features={features}, scale={scale:g}, trainable=True"
