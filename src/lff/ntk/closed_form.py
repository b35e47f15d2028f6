"""Lemma 1: the neural tangent kernel of a two-layer network of Fourier features.

    f(x) = √(2/m) Σ_i w_i sin(b_i·x) + v_i cos(b_i·x),   i = 1 … m/2,
    w_i, v_i ~ N(0, 1),  b_i ~ N(0, σ² I)

    k_W(x, x') = exp(-σ²‖x - x'‖² / 2)            gradients by w and v
    k_B(x, x') = x·x' exp(-σ²‖x - x'‖² / 2)       gradients by B
    NTK        = k_W + k_B

For m → ∞; on the unit sphere this is (1 + cos θ) exp(σ²(cos θ - 1)).  There are m/2 rows in B: with
m of them, as the text of the paper has it, the kernel would be twice as large.  The layer of
``lff.nn`` takes sin(2πBx): give ``frequency_scale=2π`` for it (then b is 2πB, and the gradient by B
brings another (2π)² to k_B).
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from lff.core.checks import check_positive, check_scale, check_size
from lff.core.errors import BadInputError, BadTypeError


@dataclass(frozen=True)
class SplitKernel:
    """A tangent kernel, split by parameter group, each ``(points of x1, points of x2)``."""

    basis: Tensor
    """The share of every trained B."""
    rest: Tensor
    """The share of all other parameters."""

    @property
    def ntk(self) -> Tensor:
        """Their sum."""
        return self.basis + self.rest


def fourier_kernels(
    x1: Tensor, x2: Tensor | None, sigma: float, *, frequency_scale: float = 1.0
) -> SplitKernel:
    """Return both parts of the kernel in float64; ``x2=None`` stands for x1."""
    first, second = as_pair(x1, x2)
    check_scale("sigma", sigma)
    scale = check_positive("frequency_scale", frequency_scale)
    distance = torch.cdist(first, second, compute_mode="donot_use_mm_for_euclid_dist")
    weights = torch.exp(-0.5 * (sigma * scale * distance).square())
    return SplitKernel(rest=weights, basis=scale**2 * (first @ second.mT) * weights)


def fourier_ntk(
    x1: Tensor, x2: Tensor | None, sigma: float, *, frequency_scale: float = 1.0
) -> Tensor:
    """Return the kernel of Lemma 1 between two sets of points of any norm, in float64.

    >>> x = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> fourier_ntk(x, x, 0.0)  # a kernel without frequencies is linear
    tensor([[2., 1.],
            [1., 2.]], dtype=torch.float64)
    """
    return fourier_kernels(x1, x2, sigma, frequency_scale=frequency_scale).ntk


def as_points(name: str, x: object) -> Tensor:
    """Return points as a float64 matrix ``(points, dim)``; a vector is refused as ambiguous."""
    try:
        points = torch.as_tensor(x)
    except (TypeError, ValueError, RuntimeError):
        raise BadTypeError(name, x, "a tensor or array", "pass points x dimensions") from None
    if points.ndim != 2:
        shape = tuple(points.shape)
        raise BadInputError(name, shape, "of shape (points, dim)", "use x[:, None] for one column")
    points = points.detach().double()
    if not bool(points.isfinite().all()):
        bad = int((~points.isfinite()).any(dim=1).nonzero()[0])
        raise BadInputError(f"{name}[{bad}]", points[bad].tolist(), "finite", "drop such points")
    return points


def as_pair(x1: object, x2: object | None) -> tuple[Tensor, Tensor]:
    """Return two checked sets of points of one width; the second is the first if None."""
    first = as_points("x1", x1)
    second = first if x2 is None else as_points("x2", x2)
    if first.shape[1] != second.shape[1]:
        widths = (first.shape[1], second.shape[1])
        raise BadInputError("widths of x1 and x2", widths, "equal", "pass points of one space")
    return first, second


def circle(points: int, *, radius: float = 1.0) -> Tensor:
    """Return evenly spaced points on a circle, the only sphere where a kernel is circulant."""
    angle = 2 * math.pi * torch.arange(check_size("points", points), dtype=torch.float64) / points
    return radius * torch.stack((angle.cos(), angle.sin()), dim=1)
