"""Jobs of the stress report that train SAC with the critic under test, or time its update."""

import math
import shutil
import statistics
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, cast

import torch
from torch import Tensor, nn

from lff.algos.base import Spaces
from lff.algos.off_policy import NoTarget, OffPolicyAgent, PolyakTarget
from lff.algos.sac import LearnedAlpha, SACConfig
from lff.core.checks import Count, Scale, Size
from lff.core.errors import NonFiniteError
from lff.core.seeding import stream_seed
from lff.data import Batch, Replay
from lff.experiments.jobs.stress_fits import StressJob, own_randomness
from lff.experiments.jobs.training import report_to
from lff.launch.job import JobRow, Report
from lff.nn import MLPTrunk, NetConfig, activations, dormant_share, effective_rank
from lff.nn.net import evaluating
from lff.ntk import empirical_ntk, spectrum
from lff.ntk.spectrum import frequency
from lff.regularizers import Regularizer
from lff.runs.spectra import first_critic, untrained
from lff.training import Loop, RunConfig, Schedule, train
from lff.training.off_policy import OffPolicyLoop

TASK = "gym/Pendulum-v1"
SPACES = Spaces((3,), 1)
ACTOR = NetConfig(trunk=MLPTrunk(hidden=(64, 64)))
"""The policy's network, the same for every critic."""
ACTOR_LR, GAMMA, BATCH, UPDATES = 3e-4, 0.98, 64, 2
WORST = -3_255.0
"""The lowest return of an episode: 200 steps of at least -16.27 each."""
NEVER = 10**9
POINTS, BANDS = 128, 8
"""Points of the replay that kernels are computed on, and bands of their frequencies."""
SMALLEST = 1e-12
"""Eigenvalues below this share of the largest are rounding."""


def sac_config(
    net: NetConfig, regularizers: tuple[Regularizer, ...], lr: float, **fields: Any
) -> SACConfig:
    """Return SAC with this critic; everything else is fixed."""
    return SACConfig(
        actor=ACTOR,
        critic=net,
        regularizers=tuple(replace(one, where="critic") for one in regularizers),
        critic_lr=lr,
        actor_lr=ACTOR_LR,
        alpha=LearnedAlpha(lr=ACTOR_LR),
        gamma=GAMMA,
        batch_size=BATCH,
        updates_per_step=UPDATES,
        **fields,
    )


@dataclass(frozen=True, kw_only=True)
class StressSACJob(StressJob):
    """Train SAC on Pendulum with this critic, one seed, without or with a target network.

    Rows at the evaluations: ``|Q| over limit``, the largest |Q| of any update so far over what
    rewards and entropy allow (:meth:`lff.algos.sac.SAC.value_limit`), and ``return``.  Once the
    numbers of a run are not finite it has an infinite |Q| and the lowest return there can be.

    Rows at the end, of the first critic on points of the replay's random start: ``rank`` and
    ``dormant``, the effective rank of its features and the share of dormant units, at step 0 for
    the untrained network; ``input rank``; ``learning time[i]``, of eigenvectors of the untrained
    network's tangent kernel in band i of their frequencies, lowest first, over that of the first.
    """

    tag: ClassVar[str] = "stress-sac"

    lr: float = 3e-4
    """Learning rate of the critics."""
    seed: Count = 0
    steps: Size = 2_400
    warmup: Size = 400
    """Steps of the random policy at the start."""
    evaluations: Size = 6
    episodes: Size = 4
    """Episodes of each evaluation."""
    target: bool = False
    """Whether there is a target network."""
    noise: Scale = 0.0
    """Standard deviation of the noise on the targets."""

    def run(self, folder: Path, report: Report) -> Iterable[JobRow]:
        """Train from the start, then measure the critic."""
        path = folder / "run"
        shutil.rmtree(path, ignore_errors=True)
        watcher = _Watcher(report_to(self.steps, report))
        with own_randomness("stress sac", self.seed):
            with suppress(NonFiniteError):
                train(self.config(), directory=path, watch=watcher)
            rows = [*watcher.rows(self), *self._measure(watcher.loop)]
        shutil.rmtree(path, ignore_errors=True)
        return rows

    def config(self) -> RunConfig:
        """Return the run."""
        algo: Any = sac_config(
            self.net,
            self.regularizers,
            self.lr,
            target=PolyakTarget(period=1) if self.target else NoTarget(),
            target_noise=self.noise,
            warmup_steps=self.warmup,
            replay_capacity=self.steps,
        )
        every = -(-self.steps // self.evaluations)
        schedule = Schedule(
            log_every=NEVER, eval_every=every, eval_episodes=self.episodes, checkpoint_every=NEVER
        )
        return RunConfig(env=TASK, algo=algo, steps=self.steps, seed=self.seed, schedule=schedule)

    def _measure(self, loop: OffPolicyLoop) -> Iterator[JobRow]:
        batch = cast(Replay, loop.memory).at(
            torch.arange(min(self.warmup, loop.progress.agent_step))
        )
        x = torch.cat((batch.obs, batch.action), dim=-1)
        picks = torch.linspace(0, len(x) - 1, min(POINTS, len(x))).long()
        start = first_critic(untrained(loop.agent, self.seed))
        yield JobRow(self.seed, 0, "input rank", float(effective_rank(x)))
        for step, critic in ((0, start), (self.steps, first_critic(loop.agent))):
            for name, value in features(critic, x.double()).items():
                yield JobRow(self.seed, step, name, value)
        for band, value in enumerate(learning_times(start, x[picks].double())):
            yield JobRow(self.seed, 0, f"learning time[{band}]", value)


class _Watcher:
    """What happens in a run: the largest |Q| over its limit, and the returns."""

    def __init__(self, report: Any) -> None:
        self._report = report
        self.loop: OffPolicyLoop
        self.largest = 0.0
        self.looks: list[tuple[int, float, float]] = []

    def __call__(self, loop: Loop, event: str) -> None:
        self.loop = cast(OffPolicyLoop, loop)
        limit = loop.agent.value_limit(self.loop.divergence.largest_reward)
        self.largest = max(self.largest, loop.progress.value_max / limit)
        if event == "eval":
            assert loop.last_return is not None
            self.looks.append((loop.progress.env_step, self.largest, loop.last_return))
        self._report(loop, event)

    def rows(self, job: StressSACJob) -> Iterator[JobRow]:
        """Yield the looks, and for those that a run which broke off lacks the worst numbers."""
        every = job.config().schedule.eval_every
        found = {step: (largest, reached) for step, largest, reached in self.looks}
        for i in range(job.evaluations):
            step = min((i + 1) * every, job.steps)
            largest, reached = found.get(step, (math.inf, WORST))
            yield JobRow(job.seed, step, "|Q| over limit", largest)
            yield JobRow(job.seed, step, "return", reached)


def features(critic: nn.Module, x: Tensor) -> dict[str, float]:
    """Return the effective rank of a network's features, and the share of its dormant units.

    Features are the input of the last Linear layer.  A network without one has the rank of its
    parameters' gradients instead.  Units are the outputs of nonlinearities that are modules; where
    a network has none, the inputs of its Linear layers but the first.  Numbers that are not finite
    have rank 0, and all units are dormant.
    """
    with evaluating(critic):
        seen = activations(critic, x)
    if not all(bool(one.isfinite().all()) for one in critic.parameters()):
        return {"rank": 0.0, "dormant": 1.0}
    if seen is None:
        values = spectrum(empirical_ntk(critic, x[:POINTS]).ntk).eigenvalues.clamp_min(0)
        return {"rank": float(effective_rank(values.sqrt().diag())), "dormant": 0.0}
    if not bool(seen.features.isfinite().all()):
        return {"rank": 0.0, "dormant": 1.0}
    return {
        "rank": float(effective_rank(seen.features)),
        "dormant": dormant_share(seen.hidden or (seen.features,)),
    }


def learning_times(critic: nn.Module, x: Tensor) -> list[float]:
    """Return the time that each band of frequencies takes over that of the lowest band.

    The tangent kernel's eigenvectors are ordered by their frequency on the points; in each eighth
    of them the time is the inverse of the mean eigenvalue (Lemma 2).
    """
    found = spectrum(empirical_ntk(critic, x).ntk)
    values = found.eigenvalues.clamp_min(SMALLEST * found.eigenvalues.max().clamp_min(1e-300))
    order = frequency(x, found.eigenvectors).argsort()
    means = torch.stack([band.mean() for band in values[order].chunk(BANDS)])
    return [float(time) for time in means[0] / means]


@dataclass(frozen=True, kw_only=True)
class StressCostJob(StressJob):
    """Time an update of SAC with this critic against one with ``other``, in turns.

    Rows, one for each round instead of a seed: ``cost``, the median of the ratios of CPU time over
    some turns.  One thread; the batch is that of the other stresses.
    """

    tag: ClassVar[str] = "stress-cost"

    other: NetConfig
    """The network that the time is compared with."""
    rounds: Size = 5
    turns: Size = 5
    """Turns of a round."""
    updates: Size = 10
    """Updates of each network in a turn."""

    def run(self, _folder: Path, report: Report) -> Iterable[JobRow]:
        """Time both."""
        torch.set_num_threads(1)
        rows = []
        with own_randomness("stress cost"):
            agents = [
                self._agent(self.net, self.regularizers),
                self._agent(self.other, ()),
            ]
            for agent in agents:
                self._time(agent)
            for i in range(self.rounds):
                ratios = []
                for _ in range(self.turns):
                    ours, theirs = (self._time(agent) for agent in agents)
                    ratios.append(ours / theirs)
                rows.append(JobRow(i, 0, "cost", statistics.median(ratios)))
                report((i + 1) / self.rounds, f"cost {rows[-1].value:.3g}")
        return rows

    def _agent(self, net: NetConfig, regularizers: tuple[Regularizer, ...]) -> OffPolicyAgent:
        algo = sac_config(net, regularizers, 3e-4)
        stream = torch.Generator().manual_seed(stream_seed(0, "weights"))
        return algo.build(SPACES, generator=stream)

    def _time(self, agent: OffPolicyAgent) -> float:
        stream = torch.Generator().manual_seed(0)
        obs, next_obs = torch.randn(2, BATCH, *SPACES.obs, generator=stream)
        action, reward = torch.zeros(BATCH, SPACES.action), torch.zeros(BATCH)
        batch = Batch(obs, action, reward, next_obs, torch.zeros(BATCH, dtype=torch.bool))
        start = time.thread_time()
        for _ in range(self.updates):
            agent.update(batch, agent.draw(stream, BATCH))
        return max(time.thread_time() - start, 1e-9)
