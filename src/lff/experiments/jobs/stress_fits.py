"""Jobs of the stress report that fit: supervised regression, and fitted Q-iteration.

All seeds train as one stack (``lff.tabular.learner``).  Each job takes seconds and is run from its
start if it was interrupted.
"""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from lff.core.checks import Config, Size
from lff.core.seeding import stream_seed
from lff.experiments.jobs.gridworlds import solvable_grids
from lff.experiments.jobs.regression import LR, RIDGE_NOISE, by_seed, smooth_noise, surface
from lff.launch.job import JobRow, Report
from lff.nn import NetConfig
from lff.nn.net import evaluating
from lff.regularizers import RegularizerConfig
from lff.tabular import FQI, FQIConfig, Learner
from lff.tabular.instruments import magnitude

NOISE_LENGTH = 4.5 / 64
"""Correlation length of the noise over the side of the surface, as in Figure 2."""
SCALED, SHIFTED = 10.0, 5.0
"""The first input in other units, and moved: it is in [-1, 1] otherwise."""


@dataclass(frozen=True, kw_only=True)
class StressJob(Config):
    """A stress of one network."""

    net: NetConfig
    regularizers: tuple[RegularizerConfig, ...] = ()
    """What was asked for with the network: layer norm, dropout, …"""


@dataclass(frozen=True, kw_only=True)
class StressFitJob(StressJob):
    """Fit the ridge of Figure 2 four times from the same weights and by the same batches.

    Once the targets are the true Q; once they carry the noise of Figure 2, of half the ridge's
    height and correlated over 7 % of its side; once the first input is ten times as large; once 5
    is added to it.

    Rows, by gradient step: ``signal error``, mean (f - Q)² of the first fit over the variance of Q;
    ``noise share``, mean (g - f)² over the variance of the noise, g the fit of the noisy targets;
    ``scaled error`` and ``shifted error``, as the first, of the other two fits.
    """

    tag: ClassVar[str] = "stress-fit"

    seeds: Size = 5
    size: Size = 32
    """Points along each side."""
    batch: Size = 128
    steps: Size = 600
    every: Size = 20
    """Gradient steps between two looks."""

    def run(self, _folder: Path, report: Report) -> Iterable[JobRow]:
        """Fit."""
        torch.set_num_threads(1)
        x, truth = surface("ridge", self.size)
        noise = RIDGE_NOISE * smooth_noise(
            range(self.seeds), 1, self.size, length=NOISE_LENGTH * self.size
        )
        clean = truth.expand(self.seeds, *truth.shape)
        unit, zero = torch.tensor([SCALED, 1.0]), torch.tensor([SHIFTED, 0.0])
        fits = {
            "signal": (x, clean),
            "noise": (x, clean + noise),
            "scaled": (x * unit, clean),
            "shifted": (x + zero, clean),
        }
        learners = {name: self._learner() for name in fits}
        rows: list[JobRow] = []
        with own_randomness("stress fit"):
            for step in range(0, self.steps + 1, self.every):
                rows += by_seed(step, self._look(learners, fits, truth, noise))
                report(step / self.steps, f"signal error {rows[0].value:.3g}")
                if step < self.steps:
                    for name, (inputs, targets) in fits.items():
                        self._train(learners[name], inputs, targets)
        return rows

    def _learner(self) -> Learner:
        return Learner(
            self.net,
            in_features=2,
            out_features=1,
            seeds=range(self.seeds),
            lr=LR,
            regularizers=self.regularizers,
        )

    def _train(
        self, learner: Learner, x: Float[Tensor, "point 2"], y: Float[Tensor, "seed point 1"]
    ) -> None:
        own = torch.arange(self.seeds)[:, None]
        for picks in learner.draw_indices(len(x), steps=self.every, batch=self.batch):
            learner.update(x[picks], (y[own, picks],), learner.draw_masks(self.batch))

    @torch.no_grad()
    def _look(
        self,
        learners: dict[str, Learner],
        fits: dict[str, tuple[Tensor, Tensor]],
        truth: Tensor,
        noise: Tensor,
    ) -> dict[str, Tensor]:
        found = {}
        for name, learner in learners.items():
            with evaluating(learner.networks):
                found[name] = learner(fits[name][0])

        def over(values: Tensor, whole: Tensor) -> Tensor:
            return values.square().mean(dim=(1, 2)) / whole

        scale = truth.var(correction=0)
        return {
            "signal error": over(found["signal"] - truth, scale),
            "noise share": over(found["noise"] - found["signal"], noise.square().mean(dim=(1, 2))),
            "scaled error": over(found["scaled"] - truth, scale),
            "shifted error": over(found["shifted"] - truth, scale),
        }


@dataclass(frozen=True, kw_only=True)
class StressFQIJob(StressJob):
    """Fitted Q-iteration of Figure 13 on several gridworlds a seed, for several numbers of steps T.

    Rows, the step being T: ``blow-up``, the share of a seed's gridworlds on which mean |Q| over the
    transitions exceeds twice that of Q* at the end of any iteration.  A Q that is not finite counts
    as one.  Learning rate, batches and exploration are those of Figure 13.
    """

    tag: ClassVar[str] = "stress-fqi"

    seeds: Size = 5
    grids: Size = 2
    """Gridworlds of each seed."""
    gradient_steps: tuple[Size, ...] = (10, 50, 200)
    """The numbers T of gradient steps in an iteration."""
    iterations: Size = 100
    factor: float = 2.0
    """What |Q| may be of |Q*|."""

    def run(self, _folder: Path, report: Report) -> Iterable[JobRow]:
        """Iterate."""
        torch.set_num_threads(1)
        members = self.seeds * self.grids
        tasks = [*islice(solvable_grids("as the MDP"), members)]
        rows: list[JobRow] = []
        total, done = sum(self.gradient_steps) * self.iterations, 0
        for steps in self.gradient_steps:
            config = FQIConfig(net=self.net, regularizers=self.regularizers, gradient_steps=steps)
            fqi = FQI(tasks, config, seeds=range(members))
            largest = np.zeros(members)
            with own_randomness(f"stress fqi/{steps}"):
                for _ in range(self.iterations):
                    fqi.iterate()
                    with evaluating(fqi.networks):
                        ratio = np.power(10.0, magnitude(fqi, fqi.q_table()))
                    largest = np.fmax(largest, np.where(np.isfinite(ratio), ratio, np.inf))
                    done += steps
                    report(done / total, f"T = {steps}, |Q| / |Q*| {largest.max():.3g}")
            share = (largest > self.factor).reshape(self.seeds, self.grids).mean(axis=1)
            rows += by_seed(steps, {"blow-up": share})
        return rows


@contextlib.contextmanager
def own_randomness(name: str, seed: int = 0) -> Iterator[None]:
    """Seed torch's global generator, which a user's dropout draws from; restore it at the end."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(stream_seed(seed, name))
        yield
