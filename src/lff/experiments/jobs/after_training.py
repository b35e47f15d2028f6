"""Jobs that train an agent and then ask it something."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
import torch
from gymnasium import ObservationWrapper

from lff.core.checks import Config, Interval, Scale, Size
from lff.core.errors import CorruptError
from lff.core.seeding import stream_seed
from lff.envs import Env, make
from lff.experiments.jobs.training import TrainJob
from lff.launch.job import JobRow, Report, has_diverged
from lff.runs.load import load, replay_sample
from lff.runs.spectra import HEAD, first_critic, look, untrained
from lff.training.evaluate import evaluate


class Noisy(ObservationWrapper[Any, Any, Any]):
    """Gaussian noise on the observations, from a stream of its own."""

    def __init__(self, env: Env, std: float, seed: int) -> None:
        super().__init__(env)
        self.std = std
        self.rng = np.random.default_rng(stream_seed(seed, f"noise test/{std:g}"))

    def observation(self, obs: np.ndarray) -> Any:
        """Return the observation with noise."""
        return obs + self.std * self.rng.standard_normal(obs.shape, dtype=np.float32)


@dataclass(frozen=True)
class NoiseTestJob(Config):
    """Train, then play with Gaussian noise on the observations, of several standard deviations."""

    tag: ClassVar[str] = "noise-test"

    train: TrainJob
    """The run."""
    noises: tuple[Scale, ...] = (0.0, 0.03, 0.1, 0.3)
    """Standard deviations, in the units of the observations."""
    episodes: Size = 5
    """Episodes at each."""

    def run(self, folder: Path, report: Report) -> Iterable[JobRow]:
        """Train to the end, then play; an agent that left the finite numbers does not play."""
        rows = list(self.train.run(folder, report))
        if has_diverged(rows):
            return rows
        config, agent = self.train.config, load(folder / "run").agent
        for noise in self.noises:
            env = make(config.env, seed=config.seed, action_repeat=config.action_repeat)
            noisy: Any = Noisy(env, noise, config.seed)
            seeds: Any = {"seed": config.seed, "env_step": config.steps}
            played = evaluate(agent, noisy, episodes=self.episodes, **seeds)
            value = played.metrics()["eval/return"]
            rows.append(JobRow(config.seed, config.steps, f"return at noise {noise:g}", value))
            env.close()
        return rows


@dataclass(frozen=True)
class ReplayKernelJob(Config):
    """Train, then look at the critic's empirical kernel on replayed points, at start and end.

    ``tail``: the share of the kernel's trace beyond its first 16 eigenvalues.  ``frequency``: the
    mean frequency of its eigenvectors on these points, in cycles per unit of the input, weighted by
    eigenvalue.  Both say how much of fine detail the network would learn, and how fast.
    """

    tag: ClassVar[str] = "replay-kernel"

    train: TrainJob
    """The run."""
    points: Annotated[int, Interval(f"[{HEAD + 1}, inf)", "use 256")] = 256
    """Points of the replay."""

    def run(self, folder: Path, report: Report) -> Iterable[JobRow]:
        """Train to the end, then compute both kernels on the same points."""
        rows = list(self.train.run(folder, report))
        if has_diverged(rows):
            return rows
        config = self.train.config
        policy = load(folder / "run")
        sample = replay_sample(policy, self.points)
        if sample is None:
            raise CorruptError(f"{folder / 'run'} has lost its replay; remove the folder")
        x = torch.cat(sample, dim=-1).double()
        start = untrained(policy.agent, config.seed)
        for step, agent in ((0, start), (config.steps, policy.agent)):
            seen = look(step, first_critic(agent), x)
            rows.append(JobRow(config.seed, step, "kernel/tail", seen.tail))
            rows.append(JobRow(config.seed, step, "kernel/frequency", seen.frequency))
        return rows
