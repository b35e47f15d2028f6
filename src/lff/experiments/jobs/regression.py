"""Supervised fits, all seeds at once: the loop, the points of Figure 1, the surfaces of Figure 2.

Every seed has its own noise, weights and batches; a killed job continues from its checkpoint
and gives the same rows.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from lff.core.checks import Config, Scale, Size, validate
from lff.core.seeding import stream_seed
from lff.experiments.jobs.resuming import Resumable
from lff.launch.job import JobRow, Report
from lff.nn import Ensemble, NetConfig
from lff.regularizers import RegularizerConfig, check_combination
from lff.stats.fields import FIELDS, field, write_fields
from lff.tabular import lava_grid, solve
from lff.tabular.learner import Learner

POINTS, DENSE = 16, 401  # of Figure 1: points, and points of the drawn curve
LR = 1e-3
Surface = Literal["ridge", "maze"]
RIDGE_NOISE = 0.25  # standard deviation of the noise on the ridge, whose values go from 0 to 0.5


@dataclass(frozen=True, kw_only=True)
class MinibatchJob(Config):
    """A fit by minibatches, Adam at 1e-3, of one network for each seed."""

    net: NetConfig
    seeds: Size = 5
    """Networks, each with weights, batches and noise of its own."""
    steps: Size
    """Gradient steps."""
    batch: Size = 512
    every: Size
    """Gradient steps between two looks."""

    def learner(self, inputs: Tensor, targets: Tensor, **options: Any) -> Learner:
        """Return the networks, for the last axes of inputs and targets."""
        sizes: dict[str, Any] = {"in_features": inputs.shape[-1], "out_features": targets.shape[-1]}
        return Learner(self.net, **sizes, seeds=range(self.seeds), lr=LR, **options)

    def fit(
        self,
        folder: Path,
        learner: Learner,
        inputs: Float[Tensor, "point in"],
        targets: Float[Tensor, "seed point out"],
        measure: Callable[[], dict[str, Float[Tensor, "seed"]]],
        report: Report,
    ) -> list[JobRow]:
        """Train to the end, from the newest checkpoint if there is one; measure on the way.

        Batches between two looks are drawn together, and only there a checkpoint is written.
        """
        kept = Resumable(folder, learner)
        own = torch.arange(self.seeds)[:, None]

        def look(step: int) -> None:
            with torch.no_grad():
                kept.rows += by_seed(step, measure())

        if not kept.rows:
            look(0)
        while kept.step < self.steps:
            count = min(self.every, self.steps - kept.step)
            for picks in learner.draw_indices(len(inputs), steps=count, batch=self.batch):
                learner.step(inputs[picks], (targets[own, picks],), learner.draw_masks(self.batch))
            look(kept.step + count)
            kept.at(kept.step + count)
            report(kept.step / self.steps, f"{kept.rows[-1].metric} {kept.rows[-1].value:.3g}")
        return kept.finish()


def by_seed(step: int, measured: Mapping[str, Tensor | np.ndarray]) -> list[JobRow]:
    """Return one row for each metric and seed."""
    return [
        JobRow(seed, step, metric, value)
        for metric, values in measured.items()
        for seed, value in enumerate(values.tolist())
    ]


@dataclass(frozen=True, kw_only=True)
class FitJob(Config):
    """Fit sixteen noisy points of a slow wave on [-1, 1], one network for each draw of the noise.

    All seeds train as one ensemble: members share no weights, and Adam works entry by entry.
    """

    tag: ClassVar[str] = "fit"

    net: NetConfig
    noise: Scale = 0.3
    """Standard deviation of the noise on the points."""
    seeds: Size = 20
    """Draws of the noise and of the weights."""
    steps: Size = 2_000
    every: Size = 100
    """Gradient steps between two looks."""

    def run(self, _folder: Path, report: Report) -> Iterable[JobRow]:
        torch.set_num_threads(1)
        rows: list[JobRow] = []
        x = torch.linspace(-1, 1, POINTS)[:, None]
        dense = torch.linspace(-1, 1, DENSE)[:, None]
        truth = (torch.pi * dense).sin()
        targets, nets = self.draw(x)
        optimizer = torch.optim.Adam(nets.parameters(), lr=LR, fused=True)
        for step in range(self.steps + 1):
            if step % self.every == 0 or step == self.steps:
                with torch.no_grad():
                    curves = nets(dense)
                    measured = {
                        "total variation": curves[..., 0].diff(dim=1).abs().sum(dim=1),
                        "error to truth": (curves - truth).square().mean(dim=(1, 2)),
                        "train error": (nets(x) - targets).square().mean(dim=(1, 2)),
                    }
                rows += by_seed(step, measured)
                report(step / self.steps, f"error {rows[-1].value:.3g}")
            loss = (nets(x) - targets).square().mean(dim=(1, 2)).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        for part, values in (("curve", curves), ("points", targets)):  # the figure's, of one draw
            heights = enumerate(values[0, :, 0].tolist())
            rows[:0] = [JobRow(0, self.steps, f"fit[{part} {i}]", v) for i, v in heights]
        return rows

    def draw(self, x: Float[Tensor, "point 1"]) -> tuple[Float[Tensor, "seed point 1"], Ensemble]:
        """Return noisy targets and networks, both by seed and each from a stream of its own."""

        def stream(seed: int, name: str) -> torch.Generator:
            return torch.Generator().manual_seed(stream_seed(seed, name))

        seeds = range(self.seeds)
        noise = [torch.randn(x.shape, generator=stream(seed, "target noise")) for seed in seeds]
        nets = [self.net.build(1, 1, generator=stream(seed, "network")) for seed in seeds]
        return (torch.pi * x).sin() + self.noise * torch.stack(noise), Ensemble(nets)


@dataclass(frozen=True, kw_only=True)
class SurfaceJob(MinibatchJob):
    """Fit a Q-function that is seen through noise, and compare with the Q-function.

    ``ridge``: Q over 64 states and 64 actions, a parabola of height 0.5; the network sees both, in
    [-1, 1], and gives one value.  ``maze``: Q* of the lava gridworld (lava that burns, not absorbs:
    where it absorbs, Q* is as rough as white noise); the network sees row and column in [-1, 1] and
    gives a value for each action.  Q* is divided so that its standard deviation is the ridge's;
    then noise of 0.25 is as much of it.

    Rows: ``error to truth`` and ``error to targets``, mean squares over all states and actions.
    Fields of the first seed: the truth, the targets, the fit; of a maze their largest over actions.
    """

    tag: ClassVar[str] = "surface"

    surface: Surface = "ridge"
    noise: Scale = 4.5
    """Cells at which the noise's correlation has fallen to 1/e; 0 for white noise."""
    regularizers: tuple[RegularizerConfig, ...] = ()
    """What holds the network back."""
    size: Size = 64
    """Cells along each side."""
    steps: Size = 600
    every: Size = 25

    def __post_init__(self) -> None:
        validate(self)
        check_combination(self.regularizers)

    def run(self, folder: Path, report: Report) -> Iterable[JobRow]:
        torch.set_num_threads(1)
        inputs, truth = surface(self.surface, self.size)
        targets = truth + RIDGE_NOISE * smooth_noise(
            range(self.seeds), truth.shape[-1], self.size, length=self.noise
        )
        learner = self.learner(inputs, truth, regularizers=self.regularizers)

        def measure() -> dict[str, Tensor]:
            output = learner(inputs)
            wanted = {"error to truth": truth, "error to targets": targets}
            return {name: (output - q).square().mean(dim=(1, 2)) for name, q in wanted.items()}

        rows = self.fit(folder, learner, inputs, targets, measure, report)
        with torch.no_grad():
            shown = {"true Q": truth, "noisy targets": targets[0], "": learner(inputs)[0]}
        write_squares(folder, "surface", {n: values.amax(dim=-1) for n, values in shown.items()})
        return rows


def write_squares(folder: Path, title: str, shown: Mapping[str, Any]) -> None:
    """Write named values of all cells, row by row, as the square fields of a job."""
    fields = [
        field(title, values.reshape(math.isqrt(len(values)), -1), name=name)
        for name, values in shown.items()
    ]
    write_fields(folder / FIELDS, fields)


def surface(
    name: Surface, size: int
) -> tuple[Float[Tensor, "point 2"], Float[Tensor, "point out"]]:
    """Return inputs in [-1, 1] and the true Q there."""
    x, y = torch.meshgrid(*[torch.linspace(-1, 1, size)] * 2, indexing="ij")
    ridge = 0.5 * torch.exp(-(((y - 0.6 + 1.2 * x**2) / 0.35) ** 2))
    if name == "ridge":
        return torch.stack((x, y), dim=-1).reshape(-1, 2), ridge.reshape(-1, 1)
    grid = lava_grid(size, seed=0)
    Q = torch.from_numpy(solve(grid.mdp(lava="burns"))).float()
    return torch.from_numpy(grid.coordinates()), Q * (ridge.std() / Q.std())


def smooth_noise(
    seeds: Sequence[int], fields: int, size: int, *, length: float
) -> Float[Tensor, "seed point field"]:
    """Return noise of unit standard deviation on a grid, each field and seed its own.

    White noise smoothed by a Gaussian of ``length / 2`` cells is correlated to 1/e at ``length``.
    """
    frequency = np.fft.fftfreq(size)
    squared = frequency[:, None] ** 2 + frequency**2
    kernel = np.exp(-2 * (length / 2 * math.pi) ** 2 * squared)
    streams = [np.random.default_rng(stream_seed(seed, "surface noise")) for seed in seeds]
    drawn = np.stack([rng.standard_normal((fields, size, size)) for rng in streams])
    noise = np.fft.ifft2(np.fft.fft2(drawn) * kernel).real
    noise /= noise.std(axis=(2, 3), keepdims=True)
    flat = noise.reshape(len(seeds), fields, size * size).transpose(0, 2, 1)
    return torch.from_numpy(np.ascontiguousarray(flat)).float()
