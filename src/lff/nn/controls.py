"""Controls for the question *why* Fourier features work: the layer without its waves.

At the paper's σ the phases 2πBx are small, so sin(2πBx) ≈ 2πBx and cos(2πBx) ≈ 1: the layer is
close to a linear one.  The two fronts here are those limits, exactly:

- :class:`LinearControl`: [2πBx, 1, x], the first-order limit, B still trained;
- :class:`ConstantControl`: [1, x], the limit σ -> 0 with B held there.

If an agent learns as well with a control as with the real layer, the waves were not the reason.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lff.core.checks import EvenSize, Scale, check_size
from lff.nn.fourier import BasisLayer, check_input
from lff.nn.parts import Front


@dataclass(frozen=True, kw_only=True)
class LinearControl(Front):
    """Front of :class:`LinearFeatures`."""

    tag: ClassVar[str] = "linear-control"
    trainable: ClassVar[bool] = True
    fourier_dim: EvenSize
    """F of the Fourier front that it replaces."""
    sigma: Scale
    """Standard deviation of B at the start."""

    def build(
        self, in_features: int, *, generator: torch.Generator | None = None
    ) -> "LinearFeatures":
        """Return the layer for inputs of this width."""
        return LinearFeatures(in_features, self, generator=generator)


@dataclass(frozen=True, kw_only=True)
class ConstantControl(Front):
    """Front of :class:`ConstantFeatures`."""

    tag: ClassVar[str] = "constant-control"
    fourier_dim: EvenSize
    """F of the Fourier front that it replaces: half of it becomes ones."""

    def build(
        self,
        in_features: int,
        *,
        generator: torch.Generator | None = None,  # noqa: ARG002
    ) -> "ConstantFeatures":
        """Return the layer for inputs of this width."""
        return ConstantFeatures(in_features, self)


class LinearFeatures(BasisLayer):
    """x -> [2πBx, 1, x]: the sines replaced by their argument, the cosines by 1.

    >>> LinearControl(fourier_dim=64, sigma=0.01).build(3)(torch.zeros(5, 3)).shape
    torch.Size([5, 67])
    """

    def __init__(
        self, in_features: int, config: LinearControl, *, generator: torch.Generator | None = None
    ) -> None:
        """Draw B ~ N(0, σ²) of shape ``(fourier_dim // 2, in_features)``, as the real layer."""
        super().__init__()
        self.in_features = check_size("in_features", in_features)
        self.fourier_dim = self.wave_features = config.fourier_dim
        self.sigma = self.initial_spread = config.sigma
        self.trainable = True
        self.out_features = self.fourier_dim + self.in_features
        self.register_basis(self.fourier_dim // 2, generator)

    def forward(
        self, x: Float[Tensor, "*batch in_features"]
    ) -> Float[Tensor, "*batch {self.out_features}"]:
        """Return 2πBx ‖ 1 ‖ x."""
        phase = self.phase(x)
        return torch.cat((phase, torch.ones_like(phase), x), dim=-1)

    def extra_repr(self) -> str:
        """Show the science."""
        return f"in={self.in_features}, F={self.fourier_dim}, sigma={self.sigma:g}, trainable=True"


class ConstantFeatures(nn.Module):
    """x -> [1, x] with ``fourier_dim // 2`` ones: the cosines of a B that is zero.

    >>> ConstantControl(fourier_dim=64).build(3)(torch.zeros(5, 3)).shape
    torch.Size([5, 35])
    """

    def __init__(self, in_features: int, config: ConstantControl) -> None:
        """Set the sizes; nothing is learned here."""
        super().__init__()
        self.in_features = check_size("in_features", in_features)
        self.fourier_dim = config.fourier_dim
        self.out_features = self.fourier_dim // 2 + self.in_features

    def forward(
        self, x: Float[Tensor, "*batch in_features"]
    ) -> Float[Tensor, "*batch {self.out_features}"]:
        """Return 1 ‖ x."""
        check_input(x, self.in_features, axis=-1, owner="the layer", axis_name="in_features")
        return torch.cat((x.new_ones(*x.shape[:-1], self.fourier_dim // 2), x), dim=-1)

    def extra_repr(self) -> str:
        """Show the science."""
        return f"in={self.in_features}, ones={self.fourier_dim // 2}"
