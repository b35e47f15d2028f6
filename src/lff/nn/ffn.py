"""The rival's front: one learned sine layer, sin(π(Wx + b)), of Yang, Ajay and Agrawal (2022).

They read the same gain the other way round (a critic that *under*fits high frequencies), with no
cosine, no concatenation and a bias: W_ij ~ N(0, (scale/d)²), b ~ U(-1, 1), 40·d features.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lff.core.checks import check_scale, check_size, settle
from lff.nn.fourier import BasisLayer, check_input, gaussian_basis, project

FEATURES_PER_INPUT = 40


class FFNFeatures(BasisLayer):
    """x -> sin(π(Bx + b)); their W is ``B`` here, so that every tool finds it by one name.

    >>> FFNFeatures(3, scale=0.001)
    FFNFeatures(in=3, features=120, scale=0.001, trainable=True)
    """

    bias: Tensor

    def __init__(
        self,
        in_features: int,
        features: int | None = None,
        *,
        scale: float,
        generator: torch.Generator | None = None,
    ) -> None:
        """Draw W and b; ``features`` is 40·d unless given."""
        super().__init__()
        self.in_features = check_size("in_features", in_features)
        default = FEATURES_PER_INPUT * self.in_features
        self.out_features = default if features is None else check_size("features", features)
        self.wave_features = self.out_features
        self.scale = check_scale("scale", scale, remedy="use 0.001 to start")
        self.trainable = True
        self._own(self.draw(generator))
        self.bias = nn.Parameter(torch.empty(self.out_features))
        self._draw_bias(generator)

    def _draw_bias(self, generator: torch.Generator | None) -> None:
        with torch.no_grad():
            self.bias.uniform_(-1, 1, generator=generator)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw W and b anew."""
        super().reset_parameters(generator)
        self._draw_bias(generator)

    def draw(self, generator: torch.Generator | None = None) -> Tensor:
        """Return a fresh W ~ N(0, (scale/d)²)."""
        rows, columns = self.out_features, self.in_features
        return gaussian_basis(rows, columns, sigma=self.initial_spread, generator=generator)

    @property
    def initial_spread(self) -> float:
        """Scale / d."""
        return self.scale / self.in_features

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
        return (
            f"in={self.in_features}, features={self.out_features}, scale={self.scale:g}, "
            f"trainable={self.trainable}"
        )


@dataclass(frozen=True, kw_only=True)
class FFN:
    """Front of :class:`FFNFeatures`."""

    scale: float = 0.001
    """W ~ N(0, (scale/d)²); the authors tuned 1e-4 to 3e-3 per task."""
    features: int | None = None
    """Number of sines; 40 per input if None."""

    def __post_init__(self) -> None:
        """Check the sizes before anything is built."""
        settle(self, scale=check_scale)
        if self.features is not None:
            settle(self, features=check_size)

    def build(self, in_features: int, *, generator: torch.Generator | None = None) -> FFNFeatures:
        """Return the layer for inputs of this width."""
        return FFNFeatures(in_features, self.features, scale=self.scale, generator=generator)
