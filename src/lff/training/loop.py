"""The frame of every training loop: when to log, evaluate, save and stop, and the errors.

A loop takes steps; a subclass says how it learns from them.  Resume is bit for bit: a
checkpoint holds everything that the next step depends on.
"""

import math
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from lff.algos.base import Agent
from lff.core.config import within
from lff.core.errors import CorruptError, InterruptedRunError, NonFiniteError
from lff.core.seeding import env_seed, stream_seed
from lff.envs.base import Env, Reusable
from lff.native.build import Origin
from lff.store import Checkpoint, RunDir
from lff.store.atomic import understood
from lff.training.diagnostics import first_bad_tensor
from lff.training.evaluate import Act, MakeEnv, evaluate, write_reference

if TYPE_CHECKING:
    from lff.training.run import RunConfig


LARGEST = float(np.finfo(np.float32).max)
"""Anything above is an infinity in float32."""
Watch = Callable[["Loop", str], None]
clock = time.perf_counter


@dataclass
class Progress:
    """Counters of a run that every loop has."""

    env_step: int = 0
    agent_step: int = 0
    updates: int = 0
    episode: int = 0
    """Episodes that have ended, over all environments."""
    value_max: float = 0.0
    """Largest |Q| (or |V|) since the last row of metrics."""


class Loop(ABC):
    """One run; ``watch(loop, event)`` is called on step, eval, warning, saved."""

    agent: Agent
    progress: Progress
    run: RunDir
    origin: Origin | None = None
    """What the native code was made by, if the run is computed by it."""
    _greedy: Act | None = None
    """The mean action of one observation by native code."""
    stream_names: ClassVar[tuple[str, ...]]
    """Random streams whose states a checkpoint holds."""

    def __init__(
        self, config: "RunConfig", make_env: MakeEnv, *, watch: Watch | None = None
    ) -> None:
        self.config, self.make_env = config, make_env
        self.watch: Watch = watch or (lambda _loop, _event: None)
        self.streams = {name: self._stream(name) for name in self.stream_names}
        self.warning = ""
        self.last: dict[str, float | None] = {}
        """The last value of each training metric."""
        self.last_return: float | None = None
        self._interrupted = self._announced = self._due = False
        self._evaluations: Reusable | None = None
        self.seconds = dict.fromkeys(("environment", "acting", "update", "evaluation"), 0.0)
        """Where the time of this start went."""

    def _stream(self, name: str) -> torch.Generator:
        return torch.Generator().manual_seed(stream_seed(self.config.seed, name))

    def eval_env(self) -> Env:
        """Return the environment of evaluations and reference policies, as if newly made."""
        seed = env_seed(self.config.seed, "evaluation")
        if self._evaluations is None:
            self._evaluations = Reusable(self.make_env, seed=seed)
            return self._evaluations.env
        return self._evaluations.fresh(seed)

    def train(self, run: RunDir, *, reference_episodes: int = 0) -> None:
        """Run to the end in a started directory, from the newest checkpoint if there is one."""
        self.run = run
        with catch_signals(self._interrupt, lambda: self.progress.env_step):
            checkpoint = run.resume()
            if reference_episodes:
                count, seed = reference_episodes, self.config.seed
                write_reference(run, self.eval_env(), episodes=count, seed=seed)
            if checkpoint is None:
                self._begin()
            else:
                with understood(checkpoint.path):
                    self._restore_common(checkpoint)
                    self._restore(checkpoint)
                computed = run.info.get("computed")
                key = computed.get("key") if isinstance(computed, dict) else None
                if self.origin is not None and key != self.origin.key:
                    self._warn(
                        "the native code is not that of the first start (another compiler, "
                        "processor or version of lff): bits will differ"
                    )
            start, steps = clock(), self.progress.env_step
            while self.progress.env_step < self.config.steps:
                before = self.progress.env_step
                may_save = self._step()
                self._housekeeping(before, may_save=may_save)
                self.watch(self, "step")
            seconds = max(clock() - start, 1e-9)
            rate = (self.progress.env_step - steps) / seconds
            if checkpoint is None or checkpoint.path.name != "final":
                shares = {f"share/{name}": t / seconds for name, t in self.seconds.items()}
                timing = {"env_step": self.progress.env_step, "steps_per_second": rate}
                run.timing.append(timing | shares)
                self._save(final=True)

    def close(self) -> None:
        """Close the environments."""
        if self._evaluations is not None:
            self._evaluations.close()

    @abstractmethod
    def _begin(self) -> None:
        """Begin the first episode."""

    @abstractmethod
    def _restore(self, checkpoint: Checkpoint) -> None:
        """Restore what :meth:`_state` saved."""

    @abstractmethod
    def _step(self) -> bool:
        """Act and learn from it; return whether a checkpoint can be written here."""

    @abstractmethod
    def _metrics(self) -> Mapping[str, Any]:
        """Return metrics of the networks for a row, and bring :attr:`last` up to date."""

    @abstractmethod
    def _state(self) -> tuple[dict[str, Tensor | np.ndarray], dict[str, Any]]:
        """Return the tensors and the rest of a checkpoint, without the agent and the streams."""

    def _saved(self) -> None:  # noqa: B027  a hook
        """Tidy up after a checkpoint."""

    def _interrupt(self) -> None:
        self._interrupted = True

    def _log(self) -> None:
        """Write one row of metrics."""
        progress, networks = self.progress, self._metrics()
        counts = {"updates": progress.updates, "episode": progress.episode}
        row = {"env_step": progress.env_step, **counts, **self.last, **networks}
        self.run.metrics.append(row)

    def _housekeeping(self, before: int, *, may_save: bool) -> None:
        now, schedule = self.progress.env_step, self.config.schedule
        if crossed(before, now, schedule.log_every):
            self._log()
        if crossed(before, now, schedule.eval_every) or now >= self.config.steps:
            self._evaluate()
        due = crossed(before, now, schedule.checkpoint_every) or self._interrupted
        self._due = self._due or due
        if now >= self.config.steps:
            return  # the final checkpoint comes next, signal or not
        if self._due and may_save:
            self._save()
            self._due = False
        if self._interrupted:
            self._stop()

    def _stop(self) -> None:
        """Stop if the checkpoint is written; if it must wait for the episode's end, say so."""
        if not self._due:
            raise InterruptedRunError(
                f"stopped at step {self.progress.env_step:,} of {self.config.steps:,}; run the "
                "same command to continue"
            )
        if not self._announced:
            self._announced = True
            self._warn(
                "this environment cannot save its state: going on to the end of the episode, to "
                "write a checkpoint there; a second signal stops at once"
            )

    def _warn(self, text: str) -> None:
        self.warning = text
        self.watch(self, "warning")

    def _evaluate(self) -> None:
        self._check_agent()
        step, start = self.progress.env_step, clock()
        result = evaluate(
            self.agent,
            self.eval_env(),
            episodes=self.config.schedule.eval_episodes,
            seed=self.config.seed,
            env_step=step,
            act=self._greedy,
        )
        self.seconds["evaluation"] += clock() - start
        metrics = result.metrics()
        self.last_return = metrics["eval/return"]
        self.run.write_evaluation(step, asdict(result))
        self.run.metrics.append({"env_step": step, **metrics})
        self.watch(self, "eval")

    def _save(self, *, final: bool = False) -> None:
        self._check_agent()
        tensors, meta = self._state()
        tensors |= {f"agent/{name}": value for name, value in self.agent.state().items()}
        tensors |= {f"stream/{name}": g.get_state() for name, g in self.streams.items()}
        counters = {"counters": dict(vars(self.progress)), "last": self.last}
        spaces = {"spaces": {"obs": [*self.agent.spaces.obs], "action": self.agent.spaces.action}}
        arrays = to_arrays(tensors)
        self.run.save(self.progress.env_step, arrays, spaces | counters | meta, final=final)
        self._saved()
        self.watch(self, "saved")

    def _restore_common(self, checkpoint: Checkpoint) -> None:
        """Restore what every loop saves: the agent, the random streams, the last metrics."""
        self.agent.load_state(to_tensors(checkpoint.arrays, "agent/"))
        for name, state in to_tensors(checkpoint.arrays, "stream/").items():
            self.streams[name].set_state(state)
        counters = checkpoint.meta["counters"]
        if counters["env_step"] != checkpoint.step:
            raise CorruptError(f"{checkpoint.path} has counters of another step; remove it")
        self.progress = type(self.progress)(**counters)
        self.last = dict(checkpoint.meta["last"])

    def _check_agent(self) -> None:
        """A bad gradient leaves this update's loss finite: look before anything is stored."""
        if first_bad_tensor(self.agent) is not None:
            raise self._broken()

    def _broken(self) -> NonFiniteError:
        name = first_bad_tensor(self.agent) or "the loss"
        return NonFiniteError(
            f"non-finite numbers at step {self.progress.env_step:,}, first in {name}; the last "
            f"good checkpoint is kept in {self.run.path}; lower the learning rate or look at |Q|"
        )

    def _check_finite(self, what: str, value: Any) -> None:
        if not (np.abs(value) <= LARGEST).all():  # a NaN compares as False
            raise NonFiniteError(
                f"the environment gave a non-finite {what} at step {self.progress.env_step:,}; the "
                f"last good checkpoint is kept in {self.run.path}; fix the environment"
            )


def crossed(before: int, now: int, every: int) -> bool:
    """Return whether a multiple of ``every`` lies above ``before`` and not above ``now``."""
    return before // every < now // every


PATIENCE = 1.0
"""Seconds in which a second signal is taken for the first one's echo."""


@contextmanager
def catch_signals(interrupt: Callable[[], None], step: Callable[[], int]) -> Iterator[None]:
    """Call ``interrupt`` on SIGINT and SIGTERM; ``step`` says where the run stands.

    A second signal, a while after the first, stops at once: what came after the last checkpoint
    will be done again.
    """
    first = math.inf
    at_once = False

    def stop(*_: object) -> None:
        nonlocal first, at_once
        first = min(first, time.monotonic())
        interrupt()
        if time.monotonic() - first > PATIENCE:
            at_once = True
            raise KeyboardInterrupt

    try:
        old = {s: signal.signal(s, stop) for s in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not the main thread: somebody else handles signals
        yield
        return
    try:
        yield
    except BaseException as error:
        if at_once:  # whatever became of the KeyboardInterrupt on its way
            raise InterruptedRunError(
                f"stopped at once at step {step():,}, without a checkpoint; run the same command "
                "to continue from the last one"
            ) from error
        raise
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def to_arrays(values: Mapping[str, Tensor | np.ndarray]) -> dict[str, np.ndarray]:
    """Return tensors as arrays, from any device; arrays stay as they are."""
    return {n: x.numpy(force=True) if isinstance(x, Tensor) else x for n, x in values.items()}


def to_tensors(arrays: Mapping[str, np.ndarray], prefix: str = "") -> dict[str, Tensor]:
    """Return the arrays whose names begin with ``prefix`` as tensors, without it."""
    return {name: torch.from_numpy(array) for name, array in within(arrays, prefix).items()}
