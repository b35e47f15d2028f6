"""Log-uniform basis: the paper's ablation of the Gaussian law of B (Fig. 10)."""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from lff.core.checks import EvenSize, NonNegative, check_size
from lff.nn.fourier import BasisLayer, sin_cos
from lff.nn.parts import Front


@dataclass(frozen=True, kw_only=True)
class LogUniformFourier(Front):
    """Front of :class:`LogUniformFourierFeatures`.

    >>> LogUniformFourier(fourier_dim=64).build(3)
    LogUniformFourierFeatures(in=3, F=60, ratio=0.5, octaves=10, trainable=True, concat_input=True)
    """

    tag: ClassVar[str] = "log-uniform-fourier"
    fourier_dim: EvenSize
    """Number of features asked for; the real one is 2d·max(1, F // 2d)."""
    ratio: Annotated[float, NonNegative("use 0.5, 0.7 or 0.9")] = 0.5
    """c, the step from one frequency to the next (the paper tuned it and does not say)."""
    trainable: bool = True
    """Train B."""
    concat_input: bool = True
    """Append x."""

    def build(
        self,
        in_features: int,
        *,
        generator: torch.Generator | None = None,  # noqa: ARG002
    ) -> "LogUniformFourierFeatures":
        """Return the layer for inputs of this width."""
        return LogUniformFourierFeatures(in_features, self)


class LogUniformFourierFeatures(BasisLayer):
    """x -> [sin(2πBx), cos(2πBx), x] with B = (I, cI, c²I, …, c^{k-1}I) at the start.

    Of the asked ``fourier_dim`` it takes k = max(1, fourier_dim // 2d) octaves, so the real number
    of features is 2dk; the attribute ``fourier_dim`` holds it and ``print`` shows it.
    """

    random_law = False

    def __init__(self, in_features: int, config: LogUniformFourier) -> None:
        """Build B = (I, cI, …)."""
        super().__init__()
        self.in_features = check_size("in_features", in_features)
        self.ratio = config.ratio
        self.octaves = max(1, config.fourier_dim // (2 * self.in_features))
        self.fourier_dim = self.wave_features = 2 * self.in_features * self.octaves
        self.trainable, self.concat_input = config.trainable, config.concat_input
        self.out_features = self.fourier_dim + self.in_features * self.concat_input
        squares = sum(self.ratio ** (2 * j) for j in range(self.octaves))
        self.initial_spread = math.sqrt(squares / (self.octaves * self.in_features))
        self.register_basis(self.fourier_dim // 2)

    def draw(self, generator: torch.Generator | None = None) -> Tensor:  # noqa: ARG002
        """Return B = (I, cI, …), which is not random."""
        scales = self.ratio ** torch.arange(self.octaves, dtype=torch.get_default_dtype())
        return torch.kron(scales[:, None], torch.eye(self.in_features))

    def forward(
        self, x: Float[Tensor, "*batch in_features"]
    ) -> Float[Tensor, "*batch {self.out_features}"]:
        """Return sin(2πBx) ‖ cos(2πBx) ‖ x."""
        return sin_cos(self.phase(x), x if self.concat_input else None)

    def extra_repr(self) -> str:
        """Show the science."""
        return (
            f"in={self.in_features}, F={self.fourier_dim}, ratio={self.ratio:g}, "
            f"octaves={self.octaves}, trainable={self.trainable}, concat_input={self.concat_input}"
        )
