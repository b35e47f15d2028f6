"""Conditions under which the Bellman update is a contraction, from the paper's appendix.

With K the tangent kernel of Q, ρ the replay distribution, α the learning rate and γ the discount,
the update of a finite MDP contracts in the sup-norm if for every transition i::

    (1)  α K_ii ρ_i < 1
    (2)  (1 + γ) Σ_{j≠i} |K_ij| ρ_j ≤ (1 - γ) K_ii ρ_i

(Achiam et al., 2019).  For Lemma 1's kernel on N + 1 points of the unit sphere, x_i·x_j ≤ 1 - δ,
and uniform ρ, (2) holds if σ² ≥ log[N (1 + γ)(2 - δ) / (2 (1 - γ))] / δ.  The theorem as printed
asks for a small learning rate alone; it needs this bound as well, and practice is far from it.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from lff.core.checks import Interval, check_number, check_positive, check_size
from lff.core.errors import BadInputError
from lff.ntk.closed_form import as_points
from lff.ntk.empirical import empirical_ntk
from lff.ntk.spectrum import as_kernel


@dataclass(frozen=True)
class Contraction:
    """Both conditions, transition by transition."""

    step: Tensor
    """α K_ii ρ_i; condition (1) asks for less than 1."""
    coupling: Tensor
    """Left over right side of condition (2), which asks for at most 1."""

    @property
    def small_steps(self) -> bool:
        """Whether (1) holds everywhere."""
        return bool((self.step < 1).all())

    @property
    def weak_coupling(self) -> bool:
        """Whether (2) holds everywhere."""
        return bool((self.coupling <= 1).all())

    @property
    def contracts(self) -> bool:
        """Whether the theorem promises a contraction; if not, it says nothing."""
        return self.small_steps and self.weak_coupling

    def __str__(self) -> str:
        verdict = "contracts" if self.contracts else "no promise"
        return (
            f"{verdict}: largest α K ρ {self.step.max().item():.3g} (below 1 asked), "
            f"largest coupling {self.coupling.max().item():.3g} (at most 1 asked)"
        )


def conditions(
    kernel: Tensor, *, gamma: float, lr: float, distribution: Tensor | None = None
) -> Contraction:
    """Return both conditions for a kernel and a replay distribution, uniform if None."""
    matrix = as_kernel(kernel)
    gamma = _discount(gamma)
    check_positive("lr", lr)
    density = _density(distribution, len(matrix))
    own = matrix.diagonal() * density
    others = matrix.abs() @ density - matrix.diagonal().abs() * density
    coupling = (1 + gamma) * others.clamp_min(0) / ((1 - gamma) * own).clamp_min(1e-300)
    return Contraction(step=lr * own, coupling=coupling)


def sigma_bound(points: int, *, gamma: float, delta: float) -> float:
    """Return the σ (of Lemma 1, without 2π) from which on the theorem holds on the unit sphere.

    There are N + 1 ``points``; ``delta`` is 1 minus the largest inner product of two of them.

    >>> round(sigma_bound(32, gamma=0.99, delta=1 - math.cos(2 * math.pi / 32)), 1)
    21.3
    """
    check_size("points", points)
    gamma = _discount(gamma)
    unit = Interval("(0, 2]", "it is 1 - max x_i·x_j of unit vectors")
    unit("delta", check_number("delta", delta))
    inside = (points - 1) * (1 + gamma) * (2 - delta) / (2 * (1 - gamma))
    return math.sqrt(max(0.0, math.log(inside)) / delta) if inside > 0 else 0.0


def bellman_operator(
    kernel: Tensor,
    following: Tensor,
    *,
    gamma: float,
    lr: float,
    distribution: Tensor | None = None,
) -> Tensor:
    """Return M of one step of kernel Q-learning, Q - Q* -> M (Q - Q*), for policy evaluation.

    Q ← Q + α K D_ρ (r + γ P Q - Q), with P = ``following`` the transition matrix between
    state-actions; M = I - α K D_ρ (I - γ P).  Its sup-norm is the largest sum of
    absolute values in a row.
    """
    matrix = as_kernel(kernel)
    step = as_points("following", following)
    density = _density(distribution, len(matrix))
    unit = torch.eye(len(matrix), dtype=torch.float64)
    return unit - lr * (matrix * density) @ (unit - _discount(gamma) * step)


def check(
    q_module: nn.Module,
    x: Tensor,
    x_next: Tensor,
    gamma: float,
    lr: float,
    *,
    distribution: Tensor | None = None,
) -> "QCheck":
    """Judge a real Q-network on real replay data.

    The module maps ``(points, obs + action)`` to one value each; ``x`` are state-actions of the
    replay, ``x_next`` those that the bootstrap looks at, ``distribution`` is ρ, uniform if None.
    ``lr`` is of gradient descent on ½ Σ ρ (Q - y)²; Adam's rate is something else.

    Beside the theorem's conditions it returns the exact spectral radius of the linearised update
    δ -> (I - α (K(x,x) - γ K(x_next,x)) D_ρ) δ on the temporal-difference errors of these
    transitions: below 1 they die out to first order, above 1 they grow.
    """
    kernel = empirical_ntk(q_module, x).ntk.double()
    cross = empirical_ntk(q_module, x_next, x).ntk.double()
    if len(cross) != len(kernel):
        sizes = (len(kernel), len(cross))
        raise BadInputError(
            "x and x_next", sizes, "of equal length", "one next pair per transition"
        )
    density = _density(distribution, len(kernel))
    moved = lr * (kernel - _discount(gamma) * cross) * density
    unit = torch.eye(len(kernel), dtype=torch.float64)
    radius = torch.linalg.eigvals(unit - moved).abs().max().item()
    found = conditions(kernel, gamma=gamma, lr=lr, distribution=distribution)
    return QCheck(conditions=found, spectral_radius=radius)


@dataclass(frozen=True)
class QCheck:
    """Result of :func:`check`."""

    conditions: Contraction
    spectral_radius: float
    """Above 1 the temporal-difference errors of these transitions grow, to first order."""

    def __str__(self) -> str:
        verb = "grow" if self.spectral_radius > 1 else "do not grow"
        return f"{self.conditions}; errors {verb} (spectral radius {self.spectral_radius:.6g})"


def _discount(gamma: float) -> float:
    return Interval("[0, 1)", "use 0.99")("gamma", check_number("gamma", gamma))


def _density(distribution: Tensor | None, size: int) -> Tensor:
    if distribution is None:
        return torch.full((size,), 1 / size, dtype=torch.float64)
    density = torch.as_tensor(distribution, dtype=torch.float64)
    if density.shape != (size,) or bool((density < 0).any()):
        shape = tuple(density.shape)
        raise BadInputError("distribution", shape, f"{size} numbers >= 0", "one per transition")
    return density / density.sum()


def self_excitation(
    module: nn.Module, points: Tensor, next_points: Tensor, discounts: Tensor
) -> float:
    """Return the largest real part of the eigenvalues of A = γK(X*, X) - K(X, X), over that of K.

    X are transitions' (s, a), X* their (s', π(s')); ``discounts`` is γ, and 0 where an episode
    ended.  With a small learning rate TD errors u change by Au, so that they grow where the number
    is positive (the self-excite eigenvalue measure, SEEM, of Yue et al., 2023).  Dividing by K's
    largest eigenvalue keeps the sign and lets networks with kernels of other sizes be compared.

    >>> double = nn.Linear(1, 1, bias=False)  # Q(s') = 2 Q(s): w -> 2w of Tsitsiklis and Van Roy
    >>> x, gamma = torch.ones(1, 1), torch.tensor([0.9])
    >>> round(self_excitation(double, x, 2 * x, gamma), 6)
    0.8
    """
    here = empirical_ntk(module, points).ntk
    there = empirical_ntk(module, next_points, points).ntk
    rates = torch.linalg.eigvals(discounts.to(here)[:, None] * there - here)
    return float(rates.real.max() / torch.linalg.eigvalsh(here).max())
