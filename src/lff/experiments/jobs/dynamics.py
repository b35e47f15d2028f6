"""A job that learns a simulator's next observation: the paper's conclusion, tried.

The data are real transitions under random actions; a network maps (obs, action) to the change of
the observation.  A model is judged by its one-step error on held-out episodes and by roll-outs,
where it is fed its own predictions and the recorded actions.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from lff.core.checks import Size, Sizes, validate
from lff.core.errors import BadInputError
from lff.core.seeding import env_seed, stream_seed
from lff.envs import make
from lff.experiments.jobs.regression import MinibatchJob
from lff.launch.job import JobRow, Report
from lff.tabular.learner import Learner

CONSTANT = 1e-6  # a coordinate that varies less than this does not vary
STARTS = 400  # roll-outs that are begun, spread over the held-out episodes
GATHERING = 0.2  # the share of gathering data in a job's reported progress


@dataclass(frozen=True)
class Episodes:
    """Recorded episodes of equal length."""

    obs: Float[Tensor, "episode time+1 obs"]
    action: Float[Tensor, "episode time action"]

    def __getitem__(self, which: slice) -> "Episodes":
        return Episodes(self.obs[which], self.action[which])

    def pairs(self) -> tuple[Float[Tensor, "step in"], Float[Tensor, "step obs"]]:
        """Return (obs, action) of every step, and the change that followed."""
        x = torch.cat((self.obs[:, :-1], self.action), dim=-1).flatten(0, 1)
        return x, self.obs.diff(dim=1).flatten(0, 1)


@dataclass(frozen=True)
class Units:
    """Means and standard deviations of the training set: what networks see and say."""

    mean: Float[Tensor, "in"]
    std: Float[Tensor, "in"]
    change_mean: Float[Tensor, "obs"]
    change_std: Float[Tensor, "obs"]
    """0 for a coordinate that never changed, which a model then leaves as it is."""

    @classmethod
    def of(cls, episodes: Episodes) -> "Units":
        """Measure them."""
        x, change = episodes.pairs()
        std, spread = x.std(dim=0), change.std(dim=0)
        std = torch.where(std > CONSTANT, std, 1.0)
        spread = torch.where(spread > CONSTANT, spread, 0.0)
        return cls(x.mean(dim=0), std, change.mean(dim=0), spread)

    def inputs(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch in"]:
        """Return what the network is shown."""
        return (x - self.mean) / self.std

    def targets(self, change: Float[Tensor, "*batch obs"]) -> Float[Tensor, "*batch obs"]:
        """Return what it is asked for: 0 for what never changed."""
        moved = self.change_std > 0
        return (change - self.change_mean) * moved / torch.where(moved, self.change_std, 1.0)

    def change(self, output: Float[Tensor, "*batch obs"]) -> Float[Tensor, "*batch obs"]:
        """Return the change that an output means."""
        return output * self.change_std + self.change_mean


@dataclass(frozen=True, kw_only=True)
class DynamicsJob(MinibatchJob):
    """Fit the change of the observation in one step, and roll the fits out.

    Rows: ``one-step error``, the mean square on held-out steps in standard deviations of the
    change (1: no better than its mean); ``error after k``, the root mean square over coordinates,
    in standard deviations of the observation, k steps after the start of a roll-out, mean over
    roll-outs; ``train error``, as the first, on as many steps of the training set.
    """

    tag: ClassVar[str] = "dynamics"

    env: str
    episodes: Size = 250
    """Episodes to learn from."""
    held_out: Size = 50
    """Episodes to judge by."""
    length: Size = 200
    """Steps of an episode."""
    hold: Size = 5
    """Steps for which an action, uniform in [-1, 1], is held."""
    horizons: Sizes = (1, 5, 20)
    """Steps of roll-outs."""
    steps: Size = 3_000
    batch: Size = 256
    every: Size = 250

    def __post_init__(self) -> None:
        validate(self)
        if max(self.horizons) > self.length:
            remedy = "use longer episodes"
            raise BadInputError("horizons", self.horizons, f"{self.length} at most", remedy)

    def run(self, folder: Path, report: Report) -> Iterable[JobRow]:
        """Gather the data, the same every time and for every seed, then train."""
        torch.set_num_threads(1)
        total = self.episodes + self.held_out

        def gathered(done: int) -> None:
            report(GATHERING * done / total, f"{done * self.length:,} transitions")

        whole = record(self.env, total, length=self.length, hold=self.hold, report=gathered)
        seen, new = whole[: self.episodes], whole[self.episodes :]
        units = Units.of(seen)
        x, change = seen.pairs()
        inputs, targets = units.inputs(x), units.targets(change)
        learner = self.learner(inputs, targets)
        return self.fit(
            folder,
            learner,
            inputs,
            targets.expand(self.seeds, -1, -1),
            lambda: self._measured(learner, units, seen, new),
            lambda share, text: report(GATHERING + (1 - GATHERING) * share, text),
        )

    def _measured(
        self, learner: Learner, units: Units, seen: Episodes, new: Episodes
    ) -> dict[str, Tensor]:
        errors = rollout_errors(learner, units, new, horizon=max(self.horizons))
        measured = {f"error after {k}": errors[:, k - 1] for k in self.horizons}
        measured["train error"] = one_step_error(learner, units, *seen[: self.held_out].pairs())
        measured["one-step error"] = one_step_error(learner, units, *new.pairs())
        return measured


def record(
    task: str,
    episodes: int,
    *,
    length: int,
    hold: int,
    report: Callable[[int], None] = lambda _: None,
) -> Episodes:
    """Play a task with random actions, each held for some steps, from a stream of its own."""
    env = make(task, seed=env_seed(0, "dynamics"))
    rng = np.random.default_rng(stream_seed(0, f"dynamics/{task}"))
    observed, acted = [], []
    for episode in range(episodes):
        obs, _ = env.reset(seed=env_seed(episode, "dynamics"))
        drawn = rng.uniform(-1, 1, (-(-length // hold), *(env.action_space.shape or ())))
        actions = np.repeat(drawn, hold, axis=0)[:length].astype(np.float32)
        path = [obs]
        for action in actions:
            obs, _, terminated, truncated, _ = env.step(action)
            path.append(obs)
            if (terminated or truncated) and len(path) <= length:
                remedy = f"use length {len(path) - 1}"
                raise BadInputError("length", length, "within an episode", remedy)
        observed.append(np.stack(path))
        acted.append(actions)
        report(episode + 1)
    env.close()
    return Episodes(torch.from_numpy(np.stack(observed)), torch.from_numpy(np.stack(acted)))


def one_step_error(
    learner: Learner, units: Units, x: Float[Tensor, "step in"], change: Float[Tensor, "step obs"]
) -> Float[Tensor, "seed"]:
    """Return the mean square error of each seed, in standard deviations of the change."""
    output = learner(units.inputs(x))
    return (output - units.targets(change)).square().mean(dim=(1, 2))


def rollout_errors(
    learner: Learner, units: Units, episodes: Episodes, *, horizon: int
) -> Float[Tensor, "seed {horizon}"]:
    """Return the error after 1, 2, … steps of open-loop prediction with the recorded actions.

    Starts are spread evenly over the episodes; the error is the root mean square over coordinates,
    in standard deviations of the observation, mean over the starts.
    """
    count, length = episodes.action.shape[:2]
    each = min(length - horizon + 1, -(-STARTS // count))
    begins = torch.linspace(0, length - horizon, each).long()
    spread = units.std[: episodes.obs.shape[-1]]
    obs = episodes.obs[:, begins].flatten(0, 1).expand(len(learner.seeds), -1, -1)
    found = []
    for step in range(horizon):
        action = episodes.action[:, begins + step].flatten(0, 1)
        x = torch.cat((obs, action.expand(len(obs), -1, -1)), dim=-1)
        obs = obs + units.change(learner.outputs(learner.parameters, units.inputs(x)))
        truth = episodes.obs[:, begins + step + 1].flatten(0, 1)
        found.append(((obs - truth) / spread).square().mean(dim=-1).sqrt().mean(dim=-1))
    return torch.stack(found, dim=1)
