"""Jobs that train an agent and then ask it something."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch

from lff.core.checks import check_scale, check_size
from lff.core.errors import BadInputError, CorruptError
from lff.core.seeding import env_seed, stream_seed
from lff.envs import make
from lff.experiments.jobs.training import TrainJob
from lff.launch.job import JobRow, Report, has_diverged
from lff.runs.load import Policy, load, replay_sample
from lff.runs.spectra import HEAD, first_critic, look, untrained


@dataclass(frozen=True)
class NoiseTestJob:
    """Train, then play with Gaussian noise on the observations, of several standard deviations."""

    tag: ClassVar[str] = "noise-test"

    train: TrainJob
    """The run."""
    noises: tuple[float, ...] = (0.0, 0.03, 0.1, 0.3)
    """Standard deviations, in the units of the observations."""
    episodes: int = 5
    """Episodes at each."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        check_size("episodes", self.episodes)
        for noise in self.noises:
            check_scale("noises", noise)

    def run(self, folder: Path, report: Report) -> Iterable[JobRow]:
        """Train to the end, then play; an agent that left the finite numbers does not play."""
        rows = list(self.train.run(folder, report))
        if has_diverged(rows):
            return rows
        config = self.train.config
        policy = load(folder / "run")
        for noise in self.noises:
            returns = [self._play(policy, noise, episode) for episode in range(self.episodes)]
            name = f"return at noise {noise:g}"
            rows.append(JobRow(config.seed, config.steps, name, float(np.mean(returns))))
        return rows

    def _play(self, policy: Policy, noise: float, episode: int) -> float:
        config = self.train.config
        seed = env_seed(config.seed, f"noise test/{episode}")
        env = make(config.env, seed=seed, action_repeat=config.action_repeat)
        rng = np.random.default_rng(stream_seed(config.seed, f"noise test/{noise:g}/{episode}"))
        obs, _ = env.reset(seed=seed)
        total, ended = 0.0, False
        while not ended:
            seen = obs + noise * rng.standard_normal(obs.shape).astype(np.float32)
            with torch.inference_mode():
                action = policy.agent.act(torch.from_numpy(seen)).numpy()
            obs, reward, terminated, truncated, _ = env.step(action)
            total += reward
            ended = terminated or truncated
        env.close()
        return total


@dataclass(frozen=True)
class ReplayKernelJob:
    """Train, then look at the critic's empirical kernel on replayed points, at start and end.

    ``tail``: the share of the kernel's trace beyond its first 16 eigenvalues.  ``frequency``: the
    mean frequency of its eigenvectors on these points, in cycles per unit of the input, weighted by
    eigenvalue.  Both say how much of fine detail the network would learn, and how fast.
    """

    tag: ClassVar[str] = "replay-kernel"

    train: TrainJob
    """The run."""
    points: int = 256
    """Points of the replay."""

    def __post_init__(self) -> None:
        """Check the number."""
        if check_size("points", self.points) <= HEAD:
            remedy = "use 256"
            raise BadInputError("points", self.points, f"more than {HEAD}", remedy)

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
