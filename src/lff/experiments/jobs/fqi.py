"""Jobs of fitted Q-iteration: Figure 13 on Grid16smoothobs, Figure 16b on lava mazes.

All seeds train as one batched computation.  The update is compiled where there is a C++ compiler,
which changes the last bits of its numbers and not what they say.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import torch

from lff.core.checks import Config, Size
from lff.experiments.jobs.resuming import Resumable
from lff.launch.job import JobRow, Report
from lff.tabular import FQI, FQIConfig, Instruments, Learner, ObservedMDP, grid16_smooth, lava_grid
from lff.tabular.grid16 import Sampling
from lff.training.compile import compile_update, find_compiler

TaskName = Literal["grid16", "lava"]
RATIOS = ("effective rank", "largest singular value")
"""Of these the table also has the end over the start."""
TRIED = 2
WORTH = 2_000
"""Gradient steps from which on compilation, some ten seconds, pays."""


@dataclass(frozen=True, kw_only=True)
class FQIJob(Config):
    """Fit Q by iteration and watch it; every seed of ``lava`` has a maze of its own.

    Rows: what :class:`~lff.tabular.Instruments` sees, at the start and every ``every`` iterations.
    """

    tag: ClassVar[str] = "fqi"

    fqi: FQIConfig
    """Network, regularizers, T."""
    task: TaskName = "grid16"
    """Which MDP."""
    sampling: Sampling = "as the MDP"
    """How Grid16's transitions are drawn."""
    size: Size = 64
    """Cells along each side of a maze."""
    iterations: Size = 300
    """How many."""
    every: Size = 5
    """Iterations between two looks."""
    seeds: Size = 5
    """Networks, and mazes."""

    def run(self, folder: Path, report: Report) -> Iterable[JobRow]:
        """Iterate to the end, from the newest checkpoint if there is one."""
        torch.set_num_threads(1)
        fqi = self._start()
        instruments = Instruments(fqi)
        kept = Resumable(folder, fqi)
        if not kept.rows:
            kept.rows += self._look(instruments)
        while kept.step < self.iterations:
            fqi.iterate()
            if fqi.iteration % self.every == 0 or fqi.iteration == self.iterations:
                kept.rows += self._look(instruments)
            kept.at(fqi.iteration)
            seen = next(row for row in reversed(kept.rows) if row.metric == "mean Q")
            report(kept.step / self.iterations, f"mean Q {seen.value:.3g}")
        return kept.finish() + self._ratios(kept.rows)

    def _start(self) -> FQI:
        fqi = FQI(self._tasks(), self.fqi, seeds=range(self.seeds))
        compile_if_worth(fqi, self.iterations * self.fqi.gradient_steps)
        return fqi

    def _tasks(self) -> ObservedMDP | list[ObservedMDP]:
        if self.task == "grid16":
            return grid16_smooth(sampling=self.sampling)
        return [maze(self.size, seed) for seed in range(self.seeds)]

    def _look(self, instruments: Instruments) -> list[JobRow]:
        found = instruments.look(features=self.task == "grid16")
        step = instruments.fqi.iteration
        return [
            JobRow(seed, step, metric, float(value))
            for metric, values in found.items()
            for seed, value in enumerate(values)
        ]

    def _ratios(self, rows: list[JobRow]) -> list[JobRow]:
        """Return the mean of the last fifth of training over that of the second fifth."""
        found = []
        fifth = self.iterations / 5
        for metric in RATIOS:
            for seed in range(self.seeds):
                own = [(r.step, r.value) for r in rows if r.metric == metric and r.seed == seed]
                early = [value for step, value in own if fifth <= step < 2 * fifth]
                late = [value for step, value in own if step >= 4 * fifth]
                if early and late:
                    ratio = float(np.mean(late) / np.mean(early))
                    found.append(JobRow(seed, self.iterations, f"{metric}, end over start", ratio))
        return found


def compile_if_worth(learner: Learner, steps: int) -> None:
    """Let a learner of so many steps run compiled, if there is a compiler and it pays."""
    if steps >= WORTH and find_compiler() is not None:
        learner.step = compile_update(learner.update)


def maze(size: int, seed: int) -> ObservedMDP:
    """Return a lava maze in which episodes start anywhere, seen by its coordinates."""
    grid = lava_grid(size, seed=seed)
    mdp = grid.mdp(start="anywhere")
    return ObservedMDP(grid, mdp, grid.coordinates(), mdp.P, None)
