"""Supervised fits, all seeds at once: the loop, and the surfaces of Figure 2.

Every seed has its own noise, weights and batches; a killed job continues from its checkpoint
and gives the same rows.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from lff.core.checks import Config, Scale, Size, validate
from lff.core.seeding import stream_seed
from lff.experiments.jobs.resuming import Resumable
from lff.launch.job import JobRow, Report
from lff.nn import NetConfig
from lff.regularizers import RegularizerConfig, check_combination
from lff.stats.fields import FIELDS, field, write_fields
from lff.tabular import lava_grid, solve
from lff.tabular.learner import Learner

LR = 1e-3
TRIED = 10
Surface = Literal["ridge", "maze"]
RIDGE_NOISE = 0.25
"""Standard deviation of the noise on the ridge, whose values go from 0 to 0.5."""
Look = Callable[[int], list[JobRow]]


def fit(
    kept: Resumable,
    learner: Learner,
    inputs: Float[Tensor, "point in"],
    targets: Float[Tensor, "seed point out"],
    *,
    steps: int,
    batch: int,
    every: int,
    look: Look,
    report: Report,
) -> None:
    """Train by minibatches up to ``steps``, looking at the start and every ``every`` steps.

    Batches between two looks are drawn together, and only there a checkpoint is written.
    """
    own = torch.arange(len(learner.seeds))[:, None]
    if not kept.rows:
        kept.rows += look(0)
    while kept.step < steps:
        count = min(every, steps - kept.step)
        for picks in learner.draw_indices(len(inputs), steps=count, batch=batch):
            learner.step(inputs[picks], (targets[own, picks],), learner.draw_masks(batch))
        kept.rows += look(kept.step + count)
        kept.at(kept.step + count)
        report(kept.step / steps, f"{kept.rows[-1].metric} {kept.rows[-1].value:.3g}")


def by_seed(step: int, measured: dict[str, Float[Tensor, "seed"]]) -> list[JobRow]:
    """Return one row for each metric and seed."""
    return [
        JobRow(seed, step, metric, value)
        for metric, values in measured.items()
        for seed, value in enumerate(values.tolist())
    ]


@dataclass(frozen=True, kw_only=True)
class SurfaceJob(Config):
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

    net: NetConfig
    """The network."""
    surface: Surface = "ridge"
    """Which Q-function."""
    noise: Scale = 4.5
    """Cells at which the noise's correlation has fallen to 1/e; 0 for white noise."""
    regularizers: tuple[RegularizerConfig, ...] = ()
    """What holds the network back."""
    seeds: Size = 5
    """Draws of noise, weights and batches."""
    size: Size = 64
    """Cells along each side."""
    steps: Size = 600
    """Gradient steps."""
    batch: Size = 512
    """Points in each."""
    every: Size = 25
    """Gradient steps between two looks."""

    def __post_init__(self) -> None:
        """Check the values."""
        validate(self)
        check_combination(self.regularizers)

    def run(self, folder: Path, report: Report) -> Iterable[JobRow]:
        """Train to the end, from the newest checkpoint if there is one."""
        torch.set_num_threads(1)
        inputs, truth = surface(self.surface, self.size)
        targets = truth + RIDGE_NOISE * smooth_noise(
            range(self.seeds), truth.shape[-1], self.size, length=self.noise
        )
        learner = self._learner(inputs, truth)
        kept = Resumable(folder, learner)

        def look(step: int) -> list[JobRow]:
            with torch.no_grad():
                output = learner(inputs)
            wanted = (("error to truth", truth), ("error to targets", targets))
            errors = {name: (output - q).square().mean(dim=(1, 2)) for name, q in wanted}
            return by_seed(step, errors)

        fit(
            kept,
            learner,
            inputs,
            targets,
            steps=self.steps,
            batch=self.batch,
            every=self.every,
            look=look,
            report=report,
        )
        with torch.no_grad():
            fitted = learner(inputs)[0]
        shown = {"true Q": truth, "noisy targets": targets[0], "": fitted}
        write_fields(
            folder / FIELDS,
            [
                field("surface", values.amax(dim=-1).reshape(self.size, self.size), name=name)
                for name, values in shown.items()
            ],
        )
        return kept.finish()

    def _learner(self, inputs: Tensor, truth: Tensor) -> Learner:
        return Learner(
            self.net,
            in_features=inputs.shape[-1],
            out_features=truth.shape[-1],
            seeds=range(self.seeds),
            lr=LR,
            regularizers=self.regularizers,
        )


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
    drawn = np.stack(
        [
            np.random.default_rng(stream_seed(seed, "surface noise")).standard_normal(
                (fields, size, size)
            )
            for seed in seeds
        ]
    )
    noise = np.fft.ifft2(np.fft.fft2(drawn) * kernel).real
    noise /= noise.std(axis=(2, 3), keepdims=True)
    flat = noise.reshape(len(seeds), fields, size * size).transpose(0, 2, 1)
    return torch.from_numpy(np.ascontiguousarray(flat)).float()
