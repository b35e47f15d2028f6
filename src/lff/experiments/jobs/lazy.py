"""Jobs that train two-layer Fourier networks and compare with the linear theory: Lemma 2, §4.1."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor

from lff.core.checks import Config, Scale, Size, Sizes, check_positive
from lff.experiments.jobs.draws import start
from lff.launch.job import JobRow, Report
from lff.ntk import circle, fourier_ntk, predict

FALL = 0.1
"""Training ends where this share of the loss is left by Lemma 2."""
FREQUENCIES = (1, 2, 4)


@dataclass(frozen=True, kw_only=True)
class LazyJob(Config):
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

    def run(self, _folder: Path, report: Report) -> Iterable[JobRow]:
        """Train every width with every draw."""
        for seed in range(self.draws):
            rng = start(seed)
            for width in self.widths:
                report(seed / self.draws, f"draw {seed}, width {width}")
                yield from self._one(seed, width, rng)

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
        errors, drift, done = [0.0, 0.0], 0.0, 0
        for look, expected in enumerate(zip(*predicted, strict=True)):
            net.descend(target, lr, int(looks[look]) - done)
            done = int(looks[look])
            left = target - net.outputs()
            gaps = [((left - e).norm() / size).item() for e in expected]
            errors = [max(a, b) for a, b in zip(errors, gaps, strict=True)]
            drift = max(drift, ((net.kernel() - own).norm() / own.norm()).item())
        values = (errors[0], errors[1], drift, at_start)
        names = ("error", "error by own kernel", "drift", "output at the start")
        return [JobRow(seed, width, name, value) for name, value in zip(names, values, strict=True)]


def time_until(kernel: Tensor, residual: Tensor, share: float) -> float:
    """Return the time at which gradient flow has this share of the squared residual left."""
    check_positive("share", share)
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
