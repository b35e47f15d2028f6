"""The log-uniform basis: the paper's ablation of the Gaussian law of B (Fig. 10)."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from lff.core.checks import check_even_size, check_flag, check_scale, check_size, settle
from lff.nn.fourier import TWO_PI, BasisLayer, check_input, project


class LogUniformFourierFeatures(BasisLayer):
    """x -> [sin(2πBx), cos(2πBx), x] with B = (I, cI, c²I, …, c^{k-1}I) at the start.

    Of the asked ``fourier_dim`` it takes k = max(1, fourier_dim // 2d) octaves, so the real number
    of features is 2dk; the attribute ``fourier_dim`` holds it and ``print`` shows it.

    >>> LogUniformFourierFeatures(3, 64, ratio=0.5)
    LogUniformFourierFeatures(in=3, F=60, ratio=0.5, octaves=10, trainable=True, concat_input=True)
    """

    random_law = False

    def __init__(
        self,
        in_features: int,
        fourier_dim: int,
        *,
        ratio: float = 0.5,
        trainable: bool = True,
        concat_input: bool = True,
    ) -> None:
        """Build B = (I, cI, …); ``ratio`` is c, the step from one frequency to the next."""
        super().__init__()
        self.in_features = check_size("in_features", in_features)
        asked = check_even_size("fourier_dim", fourier_dim)
        self.octaves = max(1, asked // (2 * self.in_features))
        self.fourier_dim = 2 * self.in_features * self.octaves
        self.ratio = check_scale("ratio", ratio, remedy="use 0.5, 0.7 or 0.9")
        self.trainable = check_flag("trainable", trainable)
        self.concat_input = check_flag("concat_input", concat_input)
        self.wave_features = self.fourier_dim
        self.out_features = self.fourier_dim + self.in_features * self.concat_input
        self._own(self.draw())

    def draw(self, generator: torch.Generator | None = None) -> Tensor:  # noqa: ARG002
        """Return B = (I, cI, …); nothing is random here."""
        scales = self.ratio ** torch.arange(self.octaves, dtype=torch.get_default_dtype())
        return torch.kron(scales[:, None], torch.eye(self.in_features))

    @property
    def initial_spread(self) -> float:
        """Root mean square of B's entries, most of which are zero."""
        squares = sum(self.ratio ** (2 * j) for j in range(self.octaves))
        return math.sqrt(squares / (self.octaves * self.in_features))

    def phase(
        self, x: Float[Tensor, "*batch in_features"]
    ) -> Float[Tensor, "*batch {self.fourier_dim//2}"]:
        """Return 2πBx."""
        check_input(x, self.in_features, axis=-1, owner="the layer", axis_name="in_features")
        return project(TWO_PI * x, self.B)

    def forward(
        self, x: Float[Tensor, "*batch in_features"]
    ) -> Float[Tensor, "*batch {self.out_features}"]:
        """Return sin(2πBx) ‖ cos(2πBx) ‖ x."""
        phase = self.phase(x)
        waves = (phase.sin(), phase.cos())
        return torch.cat((*waves, x) if self.concat_input else waves, dim=-1)

    def extra_repr(self) -> str:
        """Show the science."""
        return (
            f"in={self.in_features}, F={self.fourier_dim}, ratio={self.ratio:g}, "
            f"octaves={self.octaves}, trainable={self.trainable}, concat_input={self.concat_input}"
        )


@dataclass(frozen=True, kw_only=True)
class LogUniformFourier:
    """Front of :class:`LogUniformFourierFeatures`."""

    fourier_dim: int
    """Number of features asked for; the real one is 2d·max(1, F // 2d)."""
    ratio: float = 0.5
    """c, the step from one frequency to the next (the paper tuned it and does not say)."""
    trainable: bool = True
    """Train B."""
    concat_input: bool = True
    """Append x."""

    def __post_init__(self) -> None:
        """Check the sizes before anything is built."""
        settle(self, fourier_dim=check_even_size, ratio=check_scale)
        settle(self, trainable=check_flag, concat_input=check_flag)

    def build(
        self,
        in_features: int,
        *,
        generator: torch.Generator | None = None,  # noqa: ARG002
    ) -> LogUniformFourierFeatures:
        """Return the layer for inputs of this width."""
        return LogUniformFourierFeatures(
            in_features,
            self.fourier_dim,
            ratio=self.ratio,
            trainable=self.trainable,
            concat_input=self.concat_input,
        )
