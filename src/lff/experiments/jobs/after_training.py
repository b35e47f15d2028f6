"""Jobs that train an agent and then ask it something."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
import torch
from gymnasium.wrappers import TransformObservation

from lff.core.checks import Config, Interval, Scale, Size
from lff.core.errors import CorruptError
from lff.core.seeding import stream_seed
from lff.envs import make
from lff.experiments.jobs.training import TrainJob
from lff.launch.job import JobRow, Report, has_diverged
from lff.runs.load import load, replay_sample
from lff.runs.spectra import HEAD, first_critic, look, untrained
from lff.training.evaluate import evaluate


def noisy(env: Any, std: float, seed: int) -> Any:
    """Return the task with Gaussian noise on its observations, from a stream of its own."""
    rng = np.random.default_rng(stream_seed(seed, f"noise test/{std:g}"))

    def add_noise(obs: np.ndarray) -> Any:
        return obs + std * rng.standard_normal(obs.shape, dtype=np.float32)

    return TransformObservation(env, add_noise, env.observation_space)


@dataclass(frozen=True)
class AfterTraining(Config):
    """Train to the end, then measure; an agent that left the finite numbers is not measured."""

    train: TrainJob

    def run(self, folder: Path, report: Report) -> Iterable[JobRow]:
        """Return the rows of training and what was measured."""
        rows = list(self.train.run(folder, report))
        return rows if has_diverged(rows) else [*rows, *self.measure(folder / "run")]

    def measure(self, path: Path) -> Iterable[JobRow]:
        """Return what the agent of a run directory gives."""
        raise NotImplementedError


@dataclass(frozen=True)
class NoiseTestJob(AfterTraining):
    """Train, then play with Gaussian noise on the observations, of several standard deviations."""

    tag: ClassVar[str] = "noise-test"

    noises: tuple[Scale, ...] = (0.0, 0.03, 0.1, 0.3)
    """Standard deviations, in the units of the observations."""
    episodes: Size = 5
    """Episodes at each."""

    def measure(self, path: Path) -> Iterable[JobRow]:
        """Play."""
        config, agent = self.train.config, load(path).agent
        for noise in self.noises:
            env = make(config.env, seed=config.seed, action_repeat=config.action_repeat)
            seeds: Any = {"seed": config.seed, "env_step": config.steps}
            task = noisy(env, noise, config.seed)
            played = evaluate(agent, task, episodes=self.episodes, **seeds)
            value = played.metrics()["eval/return"]
            yield JobRow(config.seed, config.steps, f"return at noise {noise:g}", value)
            env.close()


@dataclass(frozen=True)
class ReplayKernelJob(AfterTraining):
    """Train, then look at the critic's empirical kernel on replayed points, at start and end.

    ``tail``: the share of the kernel's trace beyond its first 16 eigenvalues.  ``frequency``: the
    mean frequency of its eigenvectors on these points, in cycles per unit of the input, weighted by
    eigenvalue.  Both say how much of fine detail the network would learn, and how fast.
    """

    tag: ClassVar[str] = "replay-kernel"

    points: Annotated[int, Interval(f"[{HEAD + 1}, inf)", "use 256")] = 256
    """Points of the replay."""

    def measure(self, path: Path) -> Iterable[JobRow]:
        """Compute both kernels on the same points."""
        config, policy = self.train.config, load(path)
        sample = replay_sample(policy, self.points)
        if sample is None:
            raise CorruptError(f"{path} has lost its replay; remove the folder")
        x = torch.cat(sample, dim=-1).double()
        start = untrained(policy.agent, config.seed)
        for step, agent in ((0, start), (config.steps, policy.agent)):
            seen = look(step, first_critic(agent), x)
            yield JobRow(config.seed, step, "kernel/tail", seen.tail)
            yield JobRow(config.seed, step, "kernel/frequency", seen.frequency)
