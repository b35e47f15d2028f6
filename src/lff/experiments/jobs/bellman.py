"""Jobs on the contraction theorem: random MDPs whose state-actions are points of a sphere."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor

from lff.core.checks import Config, Scale, Size
from lff.experiments.jobs.draws import each_draw
from lff.experiments.jobs.kernels import bisect
from lff.launch.job import JobRow, Report
from lff.ntk import contraction, fourier_ntk, sigma_bound

DIMS = (2, 3, 8)
GAMMAS = (0.5, 0.9, 0.99)
STEP = 0.5
"""α K_ii ρ_i: well below the 1 of the first condition."""
BACKUPS = 50


@dataclass(frozen=True, kw_only=True)
class ContractionJob(Config):
    """Kernel Q-learning with Lemma 1's kernel on random MDPs of 5 to 50 states and 2 actions.

    Rows, one MDP a draw, by number of state-actions: ``coupling``, left over right side of the
    second condition; ``norm``, the sup-norm of the update for a random policy; ``growth``, the
    largest factor by which the distance of two value functions changed in 50 updates with the
    maximum over actions; ``bound`` on σ; ``bound over least``, over the least σ that fulfils the
    conditions; ``bound over contracting``, over the least σ with a norm below 1.
    """

    tag: ClassVar[str] = "contraction"

    sigma: Scale | None = None
    """Lemma 1's, without 2π; None takes the theorem's bound for each MDP."""
    draws: Size = 100
    states: tuple[int, int] = (5, 50)
    actions: int = 2

    def run(self, _folder: Path, report: Report) -> Iterable[JobRow]:
        """Draw MDPs."""
        for seed, rng in each_draw(self.draws, report, what="MDP"):
            yield from self._one(seed, rng)

    def _one(self, seed: int, rng: torch.Generator) -> list[JobRow]:
        low, high = self.states
        states = int(torch.randint(low, high + 1, (), generator=rng))
        gamma = GAMMAS[seed % len(GAMMAS)]
        x = _points(states * self.actions, DIMS[seed // len(GAMMAS) % len(DIMS)], rng)
        nearest = (x @ x.mT - 3 * torch.eye(len(x), dtype=x.dtype)).max().item()
        bound = sigma_bound(len(x), gamma=gamma, delta=1 - nearest)
        sigma = bound if self.sigma is None else self.sigma
        following = torch.rand(len(x), states, generator=rng, dtype=x.dtype) ** 4
        following /= following.sum(dim=1, keepdim=True)
        policy = torch.rand(states, self.actions, generator=rng, dtype=x.dtype)
        policy /= policy.sum(dim=1, keepdim=True)
        pairs = (following[:, :, None] * policy).flatten(start_dim=1)
        lr = STEP * len(x) / 2  # K_ii = 2 and ρ uniform

        def coupling(at: float) -> float:
            kernel = fourier_ntk(x, x, at)
            found = contraction.conditions(kernel, gamma=gamma, lr=lr)
            return float(found.coupling.max())

        def norm(at: float) -> float:
            kernel = fourier_ntk(x, x, at)
            update = contraction.bellman_operator(kernel, pairs, gamma=gamma, lr=lr)
            return update.abs().sum(dim=1).max().item()

        values = {"coupling": coupling(sigma), "norm": norm(sigma)}
        values["growth"] = _growth(fourier_ntk(x, x, sigma), following, gamma, lr, rng)
        if self.sigma is None:
            least = bisect(lambda s: coupling(s) <= 1, bound / 100, bound)
            contracting = bisect(lambda s: norm(s) < 1, bound / 100, bound)
            values |= {
                "bound": bound,
                "bound over least": bound / least,
                "bound over contracting": bound / contracting,
            }
        return [JobRow(seed, len(x), name, value) for name, value in values.items()]


def _points(count: int, dim: int, rng: torch.Generator) -> Tensor:
    """Return random points of a sphere."""
    x = torch.randn(count, dim, generator=rng, dtype=torch.float64)
    x /= x.norm(dim=1, keepdim=True)
    return x


def _growth(
    kernel: Tensor, following: Tensor, gamma: float, lr: float, rng: torch.Generator
) -> float:
    """Return the largest factor of ‖Q₁ - Q₂‖∞ in one update with the maximum over actions.

    Rewards cancel in the difference and are left out.
    """
    points, states = following.shape
    first, second = (torch.randn(points, generator=rng, dtype=kernel.dtype) for _ in range(2))
    factors = []
    for _ in range(BACKUPS):
        before = (first - second).abs().max()
        moved = []
        for q in (first, second):
            value = q.view(states, -1).amax(dim=1)
            moved.append(q + lr / points * kernel @ (gamma * following @ value - q))
        first, second = moved
        factors.append(((first - second).abs().max() / before).item())
        size = max(first.abs().max().item(), 1e-200)
        first, second = first / size, second / size  # the update without rewards scales with Q
    return max(factors)
