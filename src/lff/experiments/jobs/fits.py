"""Jobs that fit a network to noisy points: Figure 1 (right)."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor

from lff.core.checks import Config, Size
from lff.launch.job import JobRow, Report
from lff.nn import Ensemble, NetConfig

POINTS, NOISE, DENSE, LR = 16, 0.3, 401, 1e-3
TRIED = 20


@dataclass(frozen=True, kw_only=True)
class FitJob(Config):
    """Fit sixteen noisy points of a slow wave on [-1, 1], one network for each draw of the noise.

    All seeds train as one ensemble: members share no weights, and Adam works entry by entry.
    """

    tag: ClassVar[str] = "fit"

    net: NetConfig
    """The network."""
    seeds: Size = 20
    """Draws of the noise and of the weights."""
    steps: Size = 2_000
    """Gradient steps."""
    every: Size = 100
    """Gradient steps between two looks."""

    def run(self, _folder: Path, report: Report) -> Iterable[JobRow]:
        """Train from the start: it takes seconds."""
        torch.set_num_threads(1)
        rows: list[JobRow] = []
        rng = torch.Generator().manual_seed(0)
        x = torch.linspace(-1, 1, POINTS)[:, None]
        dense = torch.linspace(-1, 1, DENSE)[:, None]
        truth = (torch.pi * dense).sin()
        noise = torch.randn(self.seeds, POINTS, 1, generator=rng)
        targets = (torch.pi * x).sin() + NOISE * noise
        rng = torch.Generator().manual_seed(0)
        nets = Ensemble.build(self.net, self.seeds, in_features=1, out_features=1, generator=rng)
        optimizer = torch.optim.Adam(nets.parameters(), lr=LR, fused=True)
        for step in range(self.steps + 1):
            if step % self.every == 0 or step == self.steps:
                with torch.no_grad():
                    fitted, curves = nets(x), nets(dense)
                rows += _look(step, fitted, curves, targets, truth, keep=step == self.steps)
                report(step / self.steps, f"error {rows[-1].value:.3g}")
            loss = (nets(x) - targets).square().mean(dim=(1, 2)).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return rows


def _look(
    step: int, fitted: Tensor, curves: Tensor, targets: Tensor, truth: Tensor, *, keep: bool
) -> list[JobRow]:
    measured = {
        "total variation": curves[..., 0].diff(dim=1).abs().sum(dim=1),
        "error to truth": (curves - truth).square().mean(dim=(1, 2)),
        "train error": (fitted - targets).square().mean(dim=(1, 2)),
    }
    rows = [
        JobRow(seed, step, metric, value)
        for metric, values in measured.items()
        for seed, value in enumerate(values.tolist())
    ]
    if keep:  # the curve and the points of the first draw, for the figure
        for part, values in (("curve", curves), ("points", targets)):
            heights = values[0, :, 0].tolist()
            rows[:0] = [JobRow(0, step, f"fit[{part} {i}]", v) for i, v in enumerate(heights)]
    return rows
