"""Advice on σ for given inputs: the effect of B ~ N(0, σ²) on a batch, in closed form.

A wave sin(2πb·x) distinguishes inputs x, x' by the phase difference 2πb·(x-x'), which for
b ~ N(0, σ²I) is N(0, s²) with the **phase spread** s = 2πσ‖x-x'‖.  So the distance of features is

    E ‖F_B(x) - F_B(x')‖² = F (1 - exp(-s²/2)) + ‖x-x'‖²                                       (1)

For small s the waves give F s²/2, a multiple of what x gives by itself; both are equal at

    σ_floor = 1 / (2π √(F/2)),        0.0070 at F = 1024, 0.020 at F = 128                     (2)

At s = 1 rad the waves bend, at s = π they wrap: typical points no longer inform each other.  On a
circle of radius r = D/√2, whose points are D apart in the root mean square, the eigenfunctions of
the kernel (F/2) exp(-s²/2) + x·x' are the harmonics n, with the modified Bessel function I_n and

    λ_n = (F/2) e^{-z} I_n(z) + (r²/2) [n = 1],        z = (2πσr)²                             (3)

An Adam step moves an entry of B by at most about its learning rate, whatever the gradient: after
σ/lr steps B can have moved as far as it was spread.  ``docs/sigma.md`` has the recommendation that
follows, with the evidence for it.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from lff.core.checks import EvenSize, check_positive, check_scale, checked
from lff.core.errors import BadInputError, BadTypeError
from lff.nn.phases import Quantiles, quantiles

USUAL_SIGMA = 0.01  # the recommended σ, for inputs whose median distance is in ``USUAL_DISTANCES``
USUAL_DISTANCES = (1.0, 50.0)
"""At 50 the phases of σ = 0.01 wrap (π rad); tasks of the committed studies have 3.9 to 24."""
MOST_POINTS = 1024
"""Distances are taken between this many points at the most, evenly spaced in the batch."""
CIRCLE = 4096
"""Points on the circle for equation (3): exact to rounding while σr is below some hundreds."""
CONSTANT = 1e-6  # a dimension whose spread is below this part of its size (or of 1) is constant


@dataclass(frozen=True)
class SigmaAdvice:
    """Statistics of a batch of inputs, and the σ that they suggest."""

    in_features: int
    """Width d of the input."""
    points: int
    """Number of inputs."""
    fourier_dim: int
    """Number of Fourier features F."""
    norms: Quantiles
    """5 %, 50 % and 95 % quantiles of ‖x‖."""
    distances: Quantiles
    """The same of ‖x-x'‖ over pairs of points."""
    neighbour: float
    """Median distance to the nearest other point; 0 if most points have a twin."""
    spreads: tuple[float, ...]
    """Standard deviation of each dimension."""
    constant: tuple[int, ...]
    """Dimensions that do not vary: their columns of B only shift phases."""

    @property
    def usual(self) -> bool:
        """Whether the median distance is in the range for which σ = 0.01 is recommended."""
        low, high = USUAL_DISTANCES
        return low <= self.distances[1] <= high

    @property
    def advised(self) -> float:
        """The σ to take: 0.01, or outside the usual range 0.1/D, which has the same phases."""
        return USUAL_SIGMA if self.usual else float(f"{10 * USUAL_SIGMA / self.distances[1]:.1g}")

    @property
    def floor(self) -> float:
        """σ below which the waves add less distance than x itself, equation (2)."""
        return 1 / (2 * math.pi * math.sqrt(self.fourier_dim / 2))

    @property
    def bend(self) -> float:
        """σ at which typical phases spread by 1 rad: the choice if B is not trained."""
        return 1 / (2 * math.pi * self.distances[1])

    @property
    def wrap(self) -> float:
        """σ at which typical phases spread by π and wrap."""
        return 1 / (2 * self.distances[1])

    @property
    def scatter(self) -> float:
        """σ at which even nearest neighbours are 1 rad apart."""
        return 1 / (2 * math.pi * self.neighbour) if self.neighbour else math.inf

    @property
    def uneven(self) -> float:
        """Largest over smallest spread among the dimensions that vary."""
        varying = [s for i, s in enumerate(self.spreads) if i not in self.constant]
        return max(varying) / min(varying)

    @property
    def effective_dims(self) -> float:
        """(Σv)²/Σv² over the variances v: the effective number of dimensions."""
        variances = [s * s for s in self.spreads]
        return sum(variances) ** 2 / sum(v * v for v in variances)

    def phase_spread(self, sigma: float) -> Quantiles:
        """Return the quantiles of s = 2πσ‖x-x'‖, in radians."""
        scale = 2 * math.pi * check_scale("sigma", sigma)
        low, middle, high = (scale * distance for distance in self.distances)
        return low, middle, high

    def wave_share(self, sigma: float) -> float:
        """Return the share of the waves in equation (1) at the median distance."""
        spread, distance = self.phase_spread(sigma)[1], self.distances[1]
        waves = -self.fourier_dim * math.expm1(-spread * spread / 2)
        return waves / (waves + distance * distance)

    def harmonics(self, sigma: float, *, concat_input: bool = True) -> tuple[float, ...]:
        """Return the shares of harmonics 1, 2, … of the circle, equation (3); they sum to 1."""
        radius = self.distances[1] / math.sqrt(2)
        z = (2 * math.pi * check_positive("sigma", sigma) * radius) ** 2
        angle = 2 * math.pi * torch.arange(CIRCLE, dtype=torch.float64) / CIRCLE
        kernel = self.fourier_dim / 2 * torch.expm1(z * (torch.cos(angle) - 1))
        if concat_input:
            kernel = kernel + radius * radius * torch.cos(angle)
        energy = torch.fft.rfft(kernel).real[1:-1].clamp_min(0)
        shares: list[float] = (energy / energy.sum()).tolist()
        return tuple(shares)

    def updates_to_forget(self, sigma: float, lr: float) -> float:
        """Return σ/lr: after so many Adam steps B can have moved as far as it was spread."""
        return check_scale("sigma", sigma) / check_positive("lr", lr, remedy="use 1e-4")

    def judge(self, sigma: float) -> str:
        """Return one sentence on the effect of a σ on these inputs."""
        spread = self.phase_spread(sigma)[1]
        phases = f"phases of typical inputs differ by {spread:.2g} rad"
        if spread < 1:
            return f"nearly linear: {phases} before training, which widens B"
        if spread <= math.pi:
            return f"waves: {phases}"
        if sigma < self.scatter:
            return f"fast waves: {phases} and wrap: at first only close neighbours look alike"
        return f"very fast waves: {phases}: at first even nearest neighbours look unrelated"


@torch.no_grad()
def advise_sigma(x: Float[Tensor, "point in_features"], *, fourier_dim: int) -> SigmaAdvice:
    """Return advice on σ for a batch of inputs of the layer.

    For a critic the inputs are observations and actions, side by side.

    >>> x = torch.randn(2000, 23, generator=torch.Generator().manual_seed(0))
    >>> advice = advise_sigma(x, fourier_dim=1024)
    >>> advice.advised
    0.01
    >>> advice.judge(0.01)
    'nearly linear: phases of typical inputs differ by 0.42 rad before training, which widens B'
    """
    fourier_dim = checked(EvenSize, "fourier_dim", fourier_dim)
    if not isinstance(x, Tensor) or not x.is_floating_point():
        raise BadTypeError("x", type(x), "a tensor of floats", "use torch.as_tensor(x).float()")
    if x.ndim != 2 or x.shape[0] < 2 or x.shape[1] < 1:
        raise BadInputError("the shape of x", tuple(x.shape), "(2 or more, 1 or more)", "stack x")
    x = x.double()
    if not bool(x.isfinite().all()):
        raise BadInputError("x", "NaN or infinity in it", "finite", "fix the environment")
    sample = x[torch.linspace(0, len(x) - 1, min(len(x), MOST_POINTS)).long()]
    # differences, not the expansion of the square: twins must be at distance 0 exactly
    table = torch.cdist(sample, sample, compute_mode="donot_use_mm_for_euclid_dist")
    upper = table[torch.triu_indices(len(sample), len(sample), 1).unbind()]
    distances = quantiles(upper)
    if distances[1] == 0:
        remedy = "pass states of several steps, as a random policy visits them"
        raise BadInputError("x", "equal points", "a batch of different points", remedy)
    table.fill_diagonal_(math.inf)
    spread = x.std(dim=0, correction=0)
    size = x.abs().amax(dim=0).clamp_min(1.0)
    return SigmaAdvice(
        in_features=x.shape[1],
        points=len(x),
        fourier_dim=fourier_dim,
        norms=quantiles(x.norm(dim=1)),
        distances=distances,
        neighbour=table.amin(dim=1).median().item(),
        spreads=tuple(spread.tolist()),
        constant=tuple((spread <= CONSTANT * size).nonzero().flatten().tolist()),
    )
