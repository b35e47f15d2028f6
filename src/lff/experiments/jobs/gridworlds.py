"""Jobs on gridworlds: fitted Q-iteration (Figures 13 and 16) and regression of Q* (Figure 16)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count, islice, product
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import torch

from lff.core.checks import Config, Size
from lff.core.config import LATER
from lff.core.errors import BadInputError
from lff.experiments.jobs.regression import MinibatchJob, by_seed, write_squares
from lff.experiments.jobs.resuming import Resumable
from lff.launch.job import JobRow, Report
from lff.native.build import find_compiler
from lff.tabular import (
    FQI,
    FQIConfig,
    Instruments,
    Learner,
    ObservedMDP,
    ReturnScale,
    greedy,
    grid16_smooth,
    lava_grid,
    solve,
)
from lff.tabular.gridworld import GOAL, LAVA, WALL, Sampling
from lff.tabular.instruments import greedy_returns
from lff.training.compile import compile_update

RATIOS = ("effective rank", "largest singular value")
"""Of these the table also has the end over the start."""
WORTH = 2_000  # gradient steps from which on compilation, some ten seconds, pays


@dataclass(frozen=True, kw_only=True)
class FQIJob(Config):
    """Fit Q by iteration and watch it; every seed of ``lava`` has a maze of its own.

    Rows: what :class:`~lff.tabular.Instruments` sees, at the start and every ``every`` iterations.
    """

    tag: ClassVar[str] = "fqi"

    fqi: FQIConfig
    task: Literal["grid16", "lava"] = "grid16"
    sampling: Sampling = "as the MDP"
    """How Grid16's transitions are drawn."""
    size: Size = 64
    """Cells along each side of a maze."""
    iterations: Size = 300
    every: Size = 5
    """Iterations between two looks."""
    seeds: Size = 5
    """Networks, and mazes."""
    own_grids: bool = field(default=False, metadata=LATER)
    """Every seed of ``grid16`` has walls, goal and observations of its own, too."""

    def run(self, folder: Path, report: Report) -> Iterable[JobRow]:
        torch.set_num_threads(1)
        tasks: ObservedMDP | list[ObservedMDP] = grid16_smooth(sampling=self.sampling)
        if self.own_grids:
            tasks = [*islice(solvable_grids(self.sampling), self.seeds)]
        if self.task == "lava":
            tasks = [maze(self.size, seed) for seed in range(self.seeds)]
        fqi = FQI(tasks, self.fqi, seeds=range(self.seeds))
        compile_if_worth(fqi, self.iterations * self.fqi.gradient_steps)
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

    def _look(self, instruments: Instruments) -> list[JobRow]:
        found = instruments.look(features=self.task == "grid16")
        return by_seed(instruments.fqi.iteration, found)

    def _ratios(self, rows: list[JobRow]) -> list[JobRow]:
        """Return the mean of the last fifth of training over that of the second fifth."""
        found = []
        fifth = self.iterations / 5
        for metric, seed in product(RATIOS, range(self.seeds)):
            own = [(r.step, r.value) for r in rows if r.metric == metric and r.seed == seed]
            early = [value for step, value in own if fifth <= step < 2 * fifth]
            late = [value for step, value in own if step >= 4 * fifth]
            if early and late:
                ratio = float(np.mean(late) / np.mean(early))
                found.append(JobRow(seed, self.iterations, f"{metric}, end over start", ratio))
        return found


def solvable_grids(sampling: Sampling) -> Iterator[ObservedMDP]:
    """Yield Grid16smoothobs of seed 0, 1, ..., without those whose goal cannot be reached."""
    for seed in count():
        try:
            grid = grid16_smooth(seed=seed, sampling=sampling)
        except BadInputError:
            continue
        yield grid


@dataclass(frozen=True, kw_only=True)
class MazeFitJob(MinibatchJob):
    """Fit Q*(s, a) of lava mazes, one network for each, from row and column in [-1, 1].

    Rows: ``error to Q*``, the mean square over all cells and actions (Q* is zero in walls), and
    ``return`` of the greedy policy from any free cell, 0 for the uniform policy and 1 for the
    optimal one.  Fields of the first maze: its map, V*, and max_a Q of the network.
    """

    tag: ClassVar[str] = "maze-fit"

    size: Size = 64
    """Cells along each side."""
    steps: Size = 20_000
    every: Size = 500

    def run(self, folder: Path, report: Report) -> Iterable[JobRow]:
        torch.set_num_threads(1)
        tasks = [maze(self.size, seed) for seed in range(self.seeds)]
        q_star = np.stack([solve(task.mdp) for task in tasks])
        targets = torch.from_numpy(q_star).float()
        inputs = torch.from_numpy(tasks[0].obs)
        solved = zip(tasks, q_star, strict=True)
        scales = [ReturnScale.of(task.mdp, greedy(q)) for task, q in solved]
        learner = self.learner(inputs, targets)
        compile_if_worth(learner, self.steps)

        def measure() -> dict[str, torch.Tensor]:
            q = learner(inputs)
            reached = torch.tensor(greedy_returns(scales, q.double().numpy()), dtype=q.dtype)
            return {"error to Q*": (q - targets).square().mean(dim=(1, 2)), "return": reached}

        rows = self.fit(folder, learner, inputs, targets, measure, report)
        with torch.no_grad():
            q = learner(inputs)[0].double().numpy()
        grid = tasks[0].grid
        tiles = 10.0 * (grid.at(GOAL).astype(float) - grid.at(LAVA))
        shown = {"map": tiles, "V*": q_star[0].max(axis=-1), "": q.max(axis=-1)}
        free = np.where(grid.at(WALL), np.nan, 0.0)
        write_squares(folder, "value", {name: values + free for name, values in shown.items()})
        return rows


def compile_if_worth(learner: Learner, steps: int) -> None:
    """Let a learner of so many steps run compiled, if there is a compiler and it pays."""
    if steps >= WORTH and find_compiler() is not None:
        learner.step = compile_update(learner.update)


def maze(size: int, seed: int) -> ObservedMDP:
    """Return a lava maze in which episodes start anywhere, seen by its coordinates."""
    grid = lava_grid(size, seed=seed)
    mdp = grid.mdp(start="anywhere")
    return ObservedMDP(grid, mdp, grid.coordinates(), mdp.P, None)
