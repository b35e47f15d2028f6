"""Spectra of kernels: on the circle by frequency, elsewhere by eigenvectors; and what they predict.

On evenly spaced points of a circle a kernel of the angle alone is circulant (Lemma 3), its
eigenvectors are u_k = (e^{2πijk/n})_j and λ_k = u_k* K u_k / n.  Gradient flow then leaves of a
residual's component at frequency k the share exp(-η λ_k t) (Lemma 2).  On no other sphere, and on
no other set of points, is a kernel circulant.
"""

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from lff.core.checks import check_choice, check_positive, check_size
from lff.core.errors import BadInputError
from lff.ntk.closed_form import as_points

CIRCULANT_TOLERANCE = 1e-6


@dataclass(frozen=True)
class CircleSpectrum:
    """Eigenvalues of a kernel on evenly spaced points of a circle."""

    eigenvalues: Tensor
    """λ_k for frequencies k = 0 … n/2; all but the first, and the last of an even n, come twice."""
    non_circulant: float
    """Share of K's Frobenius norm that is not circulant: what λ_k does not tell."""


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues, largest first, and their eigenvectors in columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


@dataclass(frozen=True)
class Prediction:
    """A residual over training time."""

    residuals: Tensor
    """``(time, points)``."""
    modes: Tensor
    """Sizes of the residual's components, ``(time, modes)``: by frequency on the circle, else by
    eigenvector, largest eigenvalue first."""
    rates: Tensor
    """η λ of each mode; 1/rate is the time in which it falls to 1/e."""


def as_kernel(kernel: object) -> Tensor:
    """Return a symmetric, finite kernel in float64."""
    matrix = as_points("kernel", kernel)
    if matrix.shape[0] != matrix.shape[1]:
        raise BadInputError("kernel", tuple(matrix.shape), "square", "pass k(x, x)")
    gap = (matrix - matrix.mT).abs().max().item() if len(matrix) else 0.0
    if gap > 1e-6 * matrix.abs().max().item():
        raise BadInputError("kernel", f"asymmetric by {gap:.2g}", "symmetric", "pass k(x, x)")
    return (matrix + matrix.mT) / 2


def circle_spectrum(kernel: Tensor, *, strict: bool = False) -> CircleSpectrum:
    """Return λ_k = u_k* K u_k / n of a kernel on ``circle(n)``; ``strict``: it must be circulant.

    >>> from lff.ntk import circle, fourier_ntk
    >>> x = circle(8)
    >>> circle_spectrum(fourier_ntk(x, x, 0.0)).eigenvalues.round(decimals=6) + 0.0
    tensor([8., 4., 0., 0., 0.], dtype=torch.float64)
    """
    matrix = as_kernel(kernel)
    n = len(matrix)
    transformed = torch.fft.ifft(torch.fft.fft(matrix, dim=0), dim=1)  # U* K U / n for all pairs
    eigenvalues = transformed.diagonal().real
    norm = matrix.norm().item()
    rest = math.sqrt(max(0.0, norm**2 - eigenvalues.square().sum().item()))
    share = rest / norm if norm else 0.0
    if strict and share > CIRCULANT_TOLERANCE:
        remedy = "use evenly spaced points of a circle, or spectrum()"
        raise BadInputError("kernel", f"{share:.2g} not circulant", "circulant", remedy)
    return CircleSpectrum(eigenvalues=eigenvalues[: n // 2 + 1].clone(), non_circulant=share)


def spectrum(kernel: Tensor) -> Spectrum:
    """Return the eigendecomposition of a kernel on any points."""
    values, vectors = torch.linalg.eigh(as_kernel(kernel))
    return Spectrum(eigenvalues=values.flip(0), eigenvectors=vectors.flip(1))


def frequency(x: Tensor, values: Tensor, *, neighbours: int = 4) -> Tensor:
    """Return the mean frequency, in cycles per unit of x, of functions known at scattered points.

    For sin(ω·x) on dense points in d dimensions the mean of (Δf/‖Δx‖)² over pairs of neighbours is
    ‖ω‖²/(2d), and its variance is 1/2; hence √(d · mean (Δf/‖Δx‖)² / var f) / 2π, which weighs the
    frequencies of any function by their energy.  ``values`` is ``(points,)`` or has one function a
    column.
    """
    points = as_points("x", x)
    columns = as_points("values", values if values.ndim == 2 else values[:, None])
    if len(points) != len(columns):
        sizes = (len(points), len(columns))
        raise BadInputError("points and values", sizes, "of equal length", "one value per point")
    k = min(check_size("neighbours", neighbours), len(points) - 1)
    distance = torch.cdist(points, points)
    distance.fill_diagonal_(math.inf)
    distance = distance.masked_fill(distance == 0, math.inf)  # a point seen twice
    near, index = distance.topk(k, dim=1, largest=False)
    slope = (columns[index] - columns[:, None]) / near[..., None]
    slope = slope.masked_fill(near.isinf()[..., None], 0.0)
    energy = slope.square().sum(dim=(0, 1)) / near.isfinite().sum()
    variance = columns.var(dim=0, unbiased=False).clamp_min(1e-300)
    result = (points.shape[1] * energy / variance).sqrt() / (2 * math.pi)
    return result if values.ndim == 2 else result[0]


def predict(
    kernel: Tensor,
    y: Tensor,
    times: Tensor,
    *,
    lr: float = 1.0,
    basis: Literal["circle", "eigen"] = "eigen",
) -> Prediction:
    """Return the residual r_t = exp(-η K t) r_0 of gradient flow, and its modes (Lemma 2).

    ``y`` is r_0, targets minus the outputs at the start, which are zero in the paper; ``lr`` is η:
    with the loss ½ Σ (f - y)², t counts gradient steps of this rate.  ``basis="circle"`` gives the
    modes by frequency, for points of ``circle(n)``.
    """
    check_choice("basis", basis, ("circle", "eigen"))
    check_positive("lr", lr)
    found = spectrum(kernel)
    start = as_points("y", y[:, None] if y.ndim == 1 else y)[:, 0]
    if len(start) != len(found.eigenvalues):
        sizes = (len(start), len(found.eigenvalues))
        raise BadInputError("y and kernel", sizes, "of equal length", "one target per point")
    times = torch.as_tensor(times, dtype=torch.float64).flatten()
    decay = torch.exp(-lr * times[:, None] * found.eigenvalues.clamp_min(0))
    parts = decay * (found.eigenvectors.mT @ start)
    residuals = parts @ found.eigenvectors.mT
    if basis == "eigen":
        return Prediction(residuals, parts.abs(), lr * found.eigenvalues)
    rates = lr * circle_spectrum(kernel).eigenvalues
    modes = torch.fft.rfft(residuals, norm="ortho").abs()
    return Prediction(residuals, modes, rates)
