"""Jobs that train an agent and then ask it something."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, cast

import numpy as np
import torch
from gymnasium.wrappers import TransformObservation

from lff.algos.sac import SAC
from lff.core.checks import Config, Interval, Scale, Size
from lff.core.errors import CorruptError, NonFiniteError
from lff.core.seeding import stream_seed
from lff.envs import make
from lff.experiments.jobs.training import TrainJob
from lff.launch.job import JobRow, Report, has_diverged
from lff.ntk.contraction import self_excitation
from lff.runs.load import last_transitions, load, replay_sample
from lff.runs.spectra import HEAD, first_critic, look, untrained
from lff.training import train
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


@dataclass(frozen=True)
class SelfExcitationJob(Config):
    """The self-excite eigenvalue measure of the first critic after some numbers of updates.

    For each number a run of the same config trains from the start to there, so that ``train``,
    whose numbers these are too, need not stop.  The transitions are drawn from the whole replay, π
    is the mean action.  A run that left the finite numbers has no row.
    """

    tag: ClassVar[str] = "self-excitation"

    train: TrainJob
    updates: tuple[Size, ...] = (1_000, 2_000)
    """Numbers of updates."""
    points: Size = 256
    """Transitions of the replay."""

    def run(self, folder: Path, report: Report) -> Iterable[JobRow]:
        config, rows = self.train.config, []
        algo: Any = config.algo
        for i, updates in enumerate(self.updates):
            report(i / len(self.updates), f"{updates} updates")
            actions = -(-updates // algo.updates_per_step)
            steps = algo.warmup_steps + actions * config.action_repeat
            schedule = replace(config.schedule, eval_every=steps, eval_episodes=1)
            path = folder / f"run-{updates}"
            try:
                train(replace(config, steps=steps, schedule=schedule), directory=path)
            except NonFiniteError:
                continue
            rows.append(JobRow(config.seed, steps, "kernel/self_excitation", self._measure(path)))
        return rows

    def _measure(self, path: Path) -> float:
        policy = load(path)
        batch, agent = last_transitions(policy, policy.config.steps), cast(SAC, policy.agent)
        if batch is None:
            raise CorruptError(f"{path} has lost its replay; remove the folder")
        stream = torch.Generator().manual_seed(stream_seed(policy.config.seed, "self-excitation"))
        rows = torch.randint(len(batch.reward), (self.points,), generator=stream)
        obs, action, _, next_obs, terminated = (column[rows] for column in batch)
        here, there = (
            torch.cat((agent.features(s), a), dim=-1).double()
            for s, a in ((obs, action), (next_obs, agent.act(next_obs)))
        )
        discounts = agent.config.gamma * ~terminated
        return self_excitation(first_critic(agent), here, there, discounts)
