"""Jobs on the kernel of two-layer Fourier networks: Lemma 1, Lemma 3, Figure 3, §4.3.

In all of them σ is Lemma 1's, without 2π: the layer's is σ/2π.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from lff.core.checks import Config, Scale, Size, Sizes
from lff.launch.job import JobRow, Report
from lff.nn import LearnedFourierFeatures
from lff.ntk import circle, circle_spectrum, deep_ntk, empirical_ntk, fourier_ntk

TWO_PI = 2 * math.pi
ROUNDING = 1e-15  # eigenvalues below this, over n, are given as this: the rest of them is rounding


def rows_of(seed: int, metric: str, steps: Iterable[int], values: Iterable[float]) -> list[JobRow]:
    """Return the rows of one curve."""
    return [
        JobRow(seed, int(step), metric, float(value))
        for step, value in zip(steps, values, strict=True)
    ]


class DrawsJob(Config):
    """A job of independent draws: a seed is a draw, and has randomness of its own."""

    @property
    def draws(self) -> int:
        """How many; a field of most jobs."""
        raise NotImplementedError

    def draw(self, seed: int, rng: torch.Generator) -> Iterable[JobRow]:
        """Return the rows of one draw."""
        raise NotImplementedError

    def run(self, _folder: Path, report: Report) -> Iterable[JobRow]:
        """Make every draw, on one thread."""
        torch.set_num_threads(1)
        for seed in range(self.draws):
            report(seed / self.draws, f"draw {seed}")
            yield from self.draw(seed, torch.Generator().manual_seed(seed))


@dataclass(frozen=True, kw_only=True)
class MonteCarloJob(DrawsJob):
    """The kernel of two-layer networks of finite width against Lemma 1.

    Rows: ``largest error`` and ``ratio`` against the width on random points of a sphere; and, if
    there are ``angles``, the ``kernel`` on the circle at the largest width, by degree.
    """

    tag: ClassVar[str] = "monte-carlo"

    sigma: Scale
    dim: int = 2
    rows: Literal["m/2", "m"] = "m/2"
    """Rows of B: as in the proof, or as in the text."""
    widths: Sizes = (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
    """m."""
    draws: int = 20
    points: int = 24
    angles: int = 0
    """Step in degrees of the angles; none if 0."""
    group: int = 10
    """Networks whose mean and standard deviation make one band."""

    def draw(self, seed: int, rng: torch.Generator) -> list[JobRow]:
        if self.angles:
            return self._angles(seed, rng)
        x = unit_points(self.points, self.dim, rng)
        limit = fourier_ntk(x, x, self.sigma)
        errors, ratios = [], []
        for width in self.widths:
            kernel = two_layer_kernel(x, width, self.sigma, rng, double=self.rows == "m")
            errors.append((kernel - limit).abs().max().item())
            ratios.append(((kernel * limit).sum() / limit.square().sum()).item())
        largest = rows_of(seed, "largest error", self.widths, errors)
        return largest + rows_of(seed, "ratio", self.widths, ratios)

    def _angles(self, seed: int, rng: torch.Generator) -> list[JobRow]:
        degrees, x = half_circle(self.angles)
        drawn = torch.stack(
            [two_layer_kernel(x, self.widths[-1], self.sigma, rng)[0] for _ in range(self.group)]
        )
        limit = fourier_ntk(x, x, self.sigma)[0]
        spread = drawn.std(dim=0)
        inside = ((drawn.mean(dim=0) - limit).abs() <= 2 * spread).double().mean()
        return [
            *rows_of(seed, "kernel", degrees, drawn[0].tolist()),
            JobRow(seed, self.widths[-1], "angles inside", inside.item()),
        ]


@dataclass(frozen=True, kw_only=True)
class CircleKernelJob(DrawsJob):
    """Lemma 1's kernel and its spectrum on circles of several numbers of points.

    Each number of points is a draw: nothing here is random.  Rows: ``kernel`` by degree,
    ``eigenvalue`` (over n) by frequency for the last number, ``highest eigenvalue`` (over n) by
    number of points.
    """

    tag: ClassVar[str] = "circle-kernel"

    sigma: Scale
    sizes: Sizes = (64, 128, 256, 512, 1000)
    degree: int = 3

    @property
    def draws(self) -> int:
        return len(self.sizes)

    def draw(self, seed: int, _rng: torch.Generator) -> Iterable[JobRow]:
        degrees, turned = half_circle(self.degree)
        yield from rows_of(seed, "kernel", degrees, fourier_ntk(turned, turned[:1], self.sigma))
        size = self.sizes[seed]
        x = circle(size)
        values = circle_spectrum(fourier_ntk(x, x, self.sigma)).eigenvalues / size
        values = values.clamp_min(ROUNDING)
        if size == self.sizes[-1]:
            kept = log_spaced(size // 2)
            yield from rows_of(seed, "eigenvalue", kept, values[kept])
        for name, k in (("eigenvalue 1", 1), ("eigenvalue 8", 8), ("highest eigenvalue", -1)):
            yield JobRow(seed, size, name, values[k].item())


@dataclass(frozen=True, kw_only=True)
class HighestFrequencyJob(DrawsJob):
    """The σ that it takes to have the highest frequency of n points in the spectrum.

    Row: ``sigma for the highest``, by n: the least σ with λ_{n/2} at a share of the mean
    eigenvalue.  Each share is a draw: nothing here is random.
    """

    tag: ClassVar[str] = "highest-frequency"

    shares: tuple[float, ...] = (0.01, 0.03, 0.1, 0.3, 0.5)
    sizes: Sizes = (64, 128, 256, 512, 1000)

    @property
    def draws(self) -> int:
        return len(self.shares)

    def draw(self, seed: int, _rng: torch.Generator) -> list[JobRow]:
        values = [sigma_for_the_highest(size, self.shares[seed]) for size in self.sizes]
        return rows_of(seed, "sigma for the highest", self.sizes, values)


def sigma_for_the_highest(size: int, share: float) -> float:
    """Return the least σ with λ_{n/2} at this share of the mean eigenvalue, which is k(x, x)."""
    x = circle(size)

    def enough(sigma: float) -> bool:
        row = fourier_ntk(x, x[:1], sigma)[:, 0]  # on the circle one column determines the spectrum
        return bool(torch.fft.rfft(row).real[-1] >= share * row[0])

    return bisect(enough, 0.1, 1e4)


def bisect(holds: Callable[[float], bool], low: float, high: float, *, rounds: int = 40) -> float:
    """Return the smallest number between two where it holds, by halving on a log scale."""
    for _ in range(rounds):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


@dataclass(frozen=True, kw_only=True)
class CirculantJob(DrawsJob):
    """How far the Fourier basis is from the eigenvectors of a kernel (Lemma 3).

    Row: ``residual``, max |K u_k - λ_k u_k| over max |λ|, by number of points.
    """

    tag: ClassVar[str] = "circulant"

    kernel: Literal["random row", "Lemma 1", "ReLU"]
    points: Literal["circle", "uneven circle", "sphere"] = "circle"
    sizes: Sizes = (8, 16, 32, 64)
    draws: int = 10

    def draw(self, seed: int, rng: torch.Generator) -> list[JobRow]:
        values = [dft_residual(self._matrix(size, rng)) for size in self.sizes]
        return rows_of(seed, "residual", self.sizes, values)

    def _matrix(self, size: int, rng: torch.Generator) -> Tensor:
        sigma = 0.5 + 3 * torch.rand((), generator=rng).item()
        if self.kernel == "random row":
            row = torch.randn(size, generator=rng, dtype=torch.float64)
            index = torch.arange(size)
            return row[(index[None] - index[:, None]) % size]
        x = circle(size)
        if self.points == "uneven circle":
            angle = TWO_PI * torch.rand(size, generator=rng, dtype=torch.float64)
            x = at_angles(angle.sort().values)
        elif self.points == "sphere":
            x = sphere(size)
        if self.kernel == "ReLU":
            return deep_ntk(x, hidden_layers=3).ntk
        return fourier_ntk(x, x, sigma)


def dft_residual(matrix: Tensor) -> float:
    """Return max |K u_k - λ_k u_k| / max |λ| over all k, with λ_k = u_k* K u_k / n."""
    n = len(matrix)
    index = torch.arange(n, dtype=torch.float64)
    u = torch.exp(1j * TWO_PI * index[:, None] * index / n)
    moved = matrix.to(u.dtype) @ u
    values = (u.conj() * moved).sum(dim=0) / n
    return ((moved - values * u).abs().max() / values.abs().max()).item()


def at_angles(angle: Tensor) -> Tensor:
    """Return the points of the unit circle at these angles."""
    return torch.stack((angle.cos(), angle.sin()), dim=1)


def half_circle(degree: int) -> tuple[list[int], Tensor]:
    """Return angles of 0 to 180 degrees, so many degrees apart, and their points."""
    degrees = list(range(0, 181, degree))
    return degrees, at_angles(torch.tensor(degrees, dtype=torch.float64).deg2rad())


def unit_points(count: int, dim: int, rng: torch.Generator) -> Tensor:
    """Return random points of a sphere."""
    x = torch.randn(count, dim, generator=rng, dtype=torch.float64)
    return nn.functional.normalize(x, dim=1)


def sphere(points: int) -> Tensor:
    """Return points spread evenly over the sphere S², along a golden spiral."""
    index = torch.arange(points, dtype=torch.float64)
    height = 1 - (2 * index + 1) / points
    angle = index * math.pi * (3 - math.sqrt(5))
    radius = (1 - height.square()).sqrt()
    return torch.stack((radius * angle.cos(), radius * angle.sin(), height), dim=1)


@dataclass(frozen=True, kw_only=True)
class ConcatShareJob(DrawsJob):
    """What share of the features' first frequency is the concatenated x (§4.3).

    ``sigma`` is the layer's, with 2π.  Row: ``share of x`` in λ₁ of φ(x)·φ(x') on the circle, by F.
    """

    tag: ClassVar[str] = "concat-share"

    sigma: Scale
    fourier_dims: Sizes = (16, 32, 64, 128, 256, 512, 1024)
    draws: int = 10
    points: Size = 64

    @torch.no_grad()
    def draw(self, seed: int, rng: torch.Generator) -> list[JobRow]:
        x = circle(self.points)
        shares = []
        for size in self.fourier_dims:
            layer = LearnedFourierFeatures(2, size, sigma=self.sigma, generator=rng).double()
            features = layer(x)
            gram = features @ features.mT
            own, whole = (circle_spectrum(k).eigenvalues[1] for k in (x @ x.mT, gram))
            shares.append((own / whole).item())
        return rows_of(seed, "share of x", self.fourier_dims, shares)


def two_layer_kernel(
    x: Tensor, width: int, sigma: float, rng: torch.Generator, *, double: bool = False
) -> Tensor:
    """Return the exact tangent kernel of one network f = √(2/m) Σ w sin(b·x) + v cos(b·x).

    m is the width; B has m/2 rows, m if ``double``.  The layer of :mod:`lff.nn` has sin(2πBx): its
    B is b/2π, and its gradient (2π)² larger.
    """
    features = width * (2 if double else 1)
    layer = LearnedFourierFeatures(
        x.shape[1], features, sigma=sigma / TWO_PI, concat_input=False, generator=rng
    )
    output = nn.Linear(features, 1, bias=False)
    with torch.no_grad():
        output.weight.normal_(generator=rng)
    kernels = empirical_ntk(nn.Sequential(layer, output).double(), x)
    return (kernels.rest + kernels.basis / TWO_PI**2) * 2 / width


def log_spaced(largest: int) -> list[int]:
    """Return whole numbers from 1, about two for each doubling, up to the largest.

    >>> log_spaced(12)
    [1, 2, 3, 4, 6, 8, 11, 12]
    """
    steps = (round(2 ** (i / 2)) for i in range(64))
    return sorted({step for step in steps if step <= largest} | {largest})
