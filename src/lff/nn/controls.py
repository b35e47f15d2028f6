"""Controls that ask *why* Fourier features work, by taking the Fourier out.

At the paper's σ the phases 2πBx are small, so sin(2πBx) ≈ 2πBx and cos(2πBx) ≈ 1: the layer is
close to a linear one.  The two fronts here are those limits, exactly:

- :class:`LinearFeatures`: [2πBx, 1, x], the first-order limit, B still trained;
- :class:`ConstantFeatures`: [1, x], the limit σ -> 0 with B held there.

If an agent learns as well with a control as with the real layer, the waves were not the reason.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lff.core.checks import check_even_size, check_scale, check_size, settle
from lff.nn.fourier import TWO_PI, BasisLayer, check_input, gaussian_basis, project


class LinearFeatures(BasisLayer):
    """x -> [2πBx, 1, x]: the sines replaced by their argument, the cosines by 1.

    >>> LinearFeatures(3, 64, sigma=0.01)(torch.zeros(5, 3)).shape
    torch.Size([5, 67])
    """

    def __init__(
        self,
        in_features: int,
        fourier_dim: int,
        *,
        sigma: float,
        generator: torch.Generator | None = None,
    ) -> None:
        """Draw B ~ N(0, σ²) of shape ``(fourier_dim // 2, in_features)``, as the real layer."""
        super().__init__()
        self.in_features = check_size("in_features", in_features)
        self.fourier_dim = check_even_size("fourier_dim", fourier_dim)
        self.sigma = check_scale("sigma", sigma)
        self.trainable = True
        self.wave_features = self.fourier_dim
        self.out_features = self.fourier_dim + self.in_features
        self._own(self.draw(generator))

    def draw(self, generator: torch.Generator | None = None) -> Tensor:
        """Return a fresh B ~ N(0, σ²)."""
        rows, columns = self.fourier_dim // 2, self.in_features
        return gaussian_basis(rows, columns, sigma=self.sigma, generator=generator)

    @property
    def initial_spread(self) -> float:
        """σ."""
        return self.sigma

    def phase(
        self, x: Float[Tensor, "*batch in_features"]
    ) -> Float[Tensor, "*batch {self.fourier_dim//2}"]:
        """Return 2πBx."""
        check_input(x, self.in_features, axis=-1, owner="the layer", axis_name="in_features")
        return project(TWO_PI * x, self.B)

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
    """x -> [1, x] with ``fourier_dim // 2`` ones: what the cosines are when B is zero.

    >>> ConstantFeatures(3, 64)(torch.zeros(5, 3)).shape
    torch.Size([5, 35])
    """

    def __init__(self, in_features: int, fourier_dim: int) -> None:
        """Nothing is learned here; ``fourier_dim`` is that of the layer it stands in for."""
        super().__init__()
        self.in_features = check_size("in_features", in_features)
        self.fourier_dim = check_even_size("fourier_dim", fourier_dim)
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


@dataclass(frozen=True, kw_only=True)
class LinearControl:
    """Front of :class:`LinearFeatures`."""

    fourier_dim: int
    """F of the Fourier front it stands in for."""
    sigma: float
    """Standard deviation of B at the start."""

    def __post_init__(self) -> None:
        """Check the sizes before anything is built."""
        settle(self, fourier_dim=check_even_size, sigma=check_scale)

    def build(
        self, in_features: int, *, generator: torch.Generator | None = None
    ) -> LinearFeatures:
        """Return the layer for inputs of this width."""
        return LinearFeatures(in_features, self.fourier_dim, sigma=self.sigma, generator=generator)


@dataclass(frozen=True, kw_only=True)
class ConstantControl:
    """Front of :class:`ConstantFeatures`."""

    fourier_dim: int
    """F of the Fourier front it stands in for: half of it becomes ones."""

    def __post_init__(self) -> None:
        """Check the sizes before anything is built."""
        settle(self, fourier_dim=check_even_size)

    def build(
        self,
        in_features: int,
        *,
        generator: torch.Generator | None = None,  # noqa: ARG002
    ) -> ConstantFeatures:
        """Return the layer for inputs of this width."""
        return ConstantFeatures(in_features, self.fourier_dim)
