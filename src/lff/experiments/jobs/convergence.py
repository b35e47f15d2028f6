"""Jobs on convergence: gradient descent against the linear theory, and the contraction theorem."""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from lff.core.checks import Scale, Size, Sizes
from lff.experiments.jobs.kernels import DrawsJob, bisect, unit_points
from lff.launch.job import JobRow
from lff.ntk import circle, contraction, fourier_ntk, predict, sigma_bound

FALL = 0.1  # training ends where this share of the loss is left by Lemma 2
FREQUENCIES = (1, 2, 4)
DIMS = (2, 3, 8)
GAMMAS = (0.5, 0.9, 0.99)
STEP = 0.5  # α K_ii ρ_i: well below the 1 of the first condition
BACKUPS = 50


@dataclass(frozen=True, kw_only=True)
class LazyJob(DrawsJob):
    """Gradient descent on f = √(2/m) Σ w sin(b·x) + v cos(b·x) against r_t = exp(-ηKt) r_0.

    Rows, by width m, until Lemma 2 has 10 % of the loss left: ``error`` is the largest distance of
    the residual from the prediction by Lemma 1's kernel, over the residual at the start; ``error by
    own kernel`` the same for the network's kernel at the start; ``drift`` the largest change of the
    network's kernel; ``output at the start`` the root mean square of f.
    """

    tag: ClassVar[str] = "lazy"

    sigma: Scale = 2.0
    """Lemma 1's, without 2π."""
    widths: Sizes = (64, 128, 256, 512, 1024, 2048, 4096)
    draws: int = 10
    points: int = 16
    steps: Size = 800
    """Gradient steps: the more, the nearer to the flow that Lemma 2 is of."""
    looks: int = 10

    def draw(self, seed: int, rng: torch.Generator) -> list[JobRow]:
        return [row for width in self.widths for row in self._one(seed, width, rng)]

    def _one(self, seed: int, width: int, rng: torch.Generator) -> list[JobRow]:
        x = circle(self.points)
        angle = 2 * math.pi * torch.arange(self.points, dtype=torch.float64) / self.points
        shift = 2 * math.pi * torch.rand(len(FREQUENCIES), generator=rng, dtype=torch.float64)
        target = sum((k * angle + s).sin() for k, s in zip(FREQUENCIES, shift, strict=True))
        assert isinstance(target, Tensor)
        net = TwoLayer(x, width, self.sigma, rng)
        limit, own = fourier_ntk(x, x, self.sigma), net.kernel()
        residual = target - net.outputs()
        at_start = net.outputs().square().mean().sqrt().item()
        lr = time_until(limit, residual, FALL) / self.steps
        every = max(1, self.steps // self.looks)
        looks = torch.arange(every, self.steps + 1, every)
        size = residual.norm()
        predicted = [predict(k, residual, looks * lr).residuals for k in (limit, own)]
        values = {"error": 0.0, "error by own kernel": 0.0, "drift": 0.0}
        for by_limit, by_own in zip(*predicted, strict=True):
            net.descend(target, lr, every)
            left = target - net.outputs()
            found = (
                (left - by_limit).norm() / size,
                (left - by_own).norm() / size,
                (net.kernel() - own).norm() / own.norm(),
            )
            values = {n: max(v, f.item()) for (n, v), f in zip(values.items(), found, strict=True)}
        values["output at the start"] = at_start
        return [JobRow(seed, width, name, value) for name, value in values.items()]


def time_until(kernel: Tensor, residual: Tensor, share: float) -> float:
    """Return the time at which gradient flow has this share of the squared residual left."""
    values, vectors = torch.linalg.eigh(kernel)
    parts = (vectors.mT @ residual).square()
    low, high = 0.0, 1.0
    while ((-2 * high * values).exp() * parts).sum() > share * parts.sum():
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        more = ((-2 * middle * values).exp() * parts).sum() > share * parts.sum()
        low, high = (middle, high) if more else (low, middle)
    return high


class TwoLayer:
    """The network of Lemma 1 on fixed points, with its gradients written out."""

    def __init__(self, x: Tensor, width: int, sigma: float, rng: torch.Generator) -> None:
        """Draw w, v of N(0, 1) and b of N(0, σ²), m/2 of each."""
        half = width // 2
        self.x, self.scale = x, math.sqrt(2 / width)
        self.w, self.v = (torch.randn(half, generator=rng, dtype=x.dtype) for _ in range(2))
        self.b = sigma * torch.randn(half, x.shape[1], generator=rng, dtype=x.dtype)

    def outputs(self) -> Tensor:
        """Return f at the points."""
        phase = self.x @ self.b.mT
        return self.scale * (phase.sin() @ self.w + phase.cos() @ self.v)

    def gradients(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return ∂f/∂w, ∂f/∂v and ∂f/∂(b·x), a row for each point."""
        phase = self.x @ self.b.mT
        sin, cos = phase.sin(), phase.cos()
        return self.scale * sin, self.scale * cos, self.scale * (self.w * cos - self.v * sin)

    def kernel(self) -> Tensor:
        """Return the tangent kernel."""
        by_w, by_v, by_phase = self.gradients()
        weights = by_w @ by_w.mT + by_v @ by_v.mT
        return weights + (self.x @ self.x.mT) * (by_phase @ by_phase.mT)

    def descend(self, target: Tensor, lr: float, steps: int) -> None:
        """Take gradient steps on ½ Σ (f - y)²."""
        for _ in range(steps):
            by_w, by_v, by_phase = self.gradients()
            left = target - self.outputs()
            self.b += lr * (by_phase * left[:, None]).mT @ self.x
            self.w += lr * left @ by_w
            self.v += lr * left @ by_v


@dataclass(frozen=True, kw_only=True)
class ContractionJob(DrawsJob):
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

    def draw(self, seed: int, rng: torch.Generator) -> list[JobRow]:
        low, high = self.states
        states = int(torch.randint(low, high + 1, (), generator=rng))
        gamma = GAMMAS[seed % len(GAMMAS)]
        x = unit_points(states * self.actions, DIMS[seed // len(GAMMAS) % len(DIMS)], rng)
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
            found = contraction.conditions(fourier_ntk(x, x, at), gamma=gamma, lr=lr)
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
            values |= {"bound": bound, "bound over least": bound / least}
            values["bound over contracting"] = bound / contracting
        return [JobRow(seed, len(x), name, value) for name, value in values.items()]


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
