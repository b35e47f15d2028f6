"""The job of Figure 16: fit the exact Q* of lava mazes by supervised learning."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Float

from lff.core.checks import Config, Size
from lff.experiments.jobs.fqi import compile_if_worth, maze
from lff.experiments.jobs.regression import LR, by_seed, fit
from lff.experiments.jobs.resuming import Resumable
from lff.launch.job import JobRow, Report
from lff.nn import NetConfig
from lff.stats.fields import FIELDS, field, write_fields
from lff.tabular import Learner, ObservedMDP, ReturnScale, greedy, solve
from lff.tabular.gridworld import GOAL, LAVA, WALL
from lff.tabular.instruments import TOLERANCE


@dataclass(frozen=True, kw_only=True)
class MazeFitJob(Config):
    """Fit Q*(s, a) of lava mazes, one network for each, from row and column in [-1, 1].

    Rows: ``error to Q*``, the mean square over all cells and actions (Q* is zero in walls), and
    ``return`` of the greedy policy from any free cell, 0 for the uniform policy and 1 for the
    optimal one.  Fields of the first maze: its map, V*, and max_a Q of the network.
    """

    tag: ClassVar[str] = "maze-fit"

    net: NetConfig
    """The network, a Q-value for each action."""
    seeds: Size = 5
    """Mazes, and networks."""
    size: Size = 64
    """Cells along each side."""
    steps: Size = 20_000
    """Gradient steps of Adam at 1e-3."""
    batch: Size = 512
    """Cells in each."""
    every: Size = 500
    """Gradient steps between two looks."""

    def run(self, folder: Path, report: Report) -> Iterable[JobRow]:
        """Train to the end, from the newest checkpoint if there is one."""
        torch.set_num_threads(1)
        tasks = [maze(self.size, seed) for seed in range(self.seeds)]
        q_star = np.stack([solve(task.mdp) for task in tasks])
        targets = torch.from_numpy(q_star).float()
        inputs = torch.from_numpy(tasks[0].obs)
        scales = [
            ReturnScale.of(task.mdp, greedy(q)) for task, q in zip(tasks, q_star, strict=True)
        ]
        learner = self._learner(inputs)
        kept = Resumable(folder, learner)

        def q_table() -> Float[torch.Tensor, "seed state action"]:
            with torch.no_grad():
                return learner(inputs)

        def look(step: int) -> list[JobRow]:
            q = q_table()
            reached = [
                float(scale.measure(greedy(table), tolerance=TOLERANCE))
                for scale, table in zip(scales, q.double().numpy(), strict=True)
            ]
            error = (q - targets).square().mean(dim=(1, 2))
            return by_seed(step, {"error to Q*": error, "return": torch.tensor(reached)})

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
        self._draw(folder, tasks[0], q_star[0], q_table()[0].double().numpy())
        return kept.finish()

    def _learner(self, inputs: Float[torch.Tensor, "state in"]) -> Learner:
        learner = Learner(
            self.net, in_features=inputs.shape[1], out_features=5, seeds=range(self.seeds), lr=LR
        )
        compile_if_worth(learner, self.steps)
        return learner

    def _draw(
        self,
        folder: Path,
        task: ObservedMDP,
        q_star: Float[np.ndarray, "state action"],
        q: Float[np.ndarray, "state action"],
    ) -> None:
        grid, shape = task.grid, (self.size, self.size)
        wall = grid.at(WALL)
        tiles = 10.0 * (grid.at(GOAL).astype(float) - grid.at(LAVA))
        shown = {"map": tiles, "V*": q_star.max(axis=-1), "": q.max(axis=-1)}
        fields = [
            field("value", np.where(wall, np.nan, values).reshape(shape), name=name)
            for name, values in shown.items()
        ]
        write_fields(folder / FIELDS, fields)
