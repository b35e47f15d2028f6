"""What the training loops have in common: when to log, evaluate, save and stop, and the errors.

A loop takes steps; how it learns from them is its own affair.  Resume is bit for bit: a checkpoint
holds all that the next step depends on.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from lff.algos import PPO, SAC
from lff.core.errors import InterruptedRunError, NonFiniteError
from lff.store import Checkpoint, RunDir
from lff.training.any_config import AnyTrainConfig
from lff.training.arrays import to_arrays, to_tensors
from lff.training.diagnostics import first_bad_tensor
from lff.training.evaluate import MakeEnv, evaluate
from lff.training.reference import keep_reference
from lff.training.signals import catch_signals

LARGEST = float(np.finfo(np.float32).max)
"""What passes it is an infinity in float32."""
Watch = Callable[["Loop", str], None]


class Place(Protocol):
    """Where a run stands."""

    env_step: int
    agent_step: int
    q_max: float
    """Largest value that the critics gave since the last row of metrics."""


class Loop(ABC):
    """One run in one directory; ``watch(run, event)`` is told of step, eval, warning, saved."""

    schedule: AnyTrainConfig
    agent: SAC | PPO
    at: Place
    streams: dict[str, torch.Generator]

    def __init__(self, run: RunDir, make_env: MakeEnv, *, watch: Watch | None) -> None:
        """Hold the directory; nothing is written yet."""
        self.run, self.make_env = run, make_env
        self.watch: Watch = watch or (lambda _run, _event: None)
        self.warning = ""
        self.last: dict[str, float] = {}
        self.last_return: float | None = None
        self._interrupted = self._told = self._due = False

    def train(self, *, reference_episodes: int = 0) -> None:
        """Run to the end, from the newest checkpoint if there is one."""
        with catch_signals(self._interrupt, lambda: self.at.env_step):
            if reference_episodes:
                count, seed = reference_episodes, self.schedule.seed
                keep_reference(self.run, self.make_env, episodes=count, seed=seed)
            checkpoint = self.run.resume()
            if checkpoint is None:
                self._begin()
            else:
                self._restore(checkpoint)
            start, steps = time.perf_counter(), self.at.env_step
            while self.at.env_step < self.schedule.steps:
                before = self.at.env_step
                may_save = self._step()
                self._housekeeping(before, may_save=may_save)
                self.watch(self, "step")
            seconds = time.perf_counter() - start
            rate = (self.at.env_step - steps) / max(seconds, 1e-9)
            if checkpoint is None or checkpoint.path.name != "final":
                self.run.timing.append({"env_step": self.at.env_step, "steps_per_second": rate})
                self._save(final=True)

    @abstractmethod
    def _begin(self) -> None:
        """Begin the first episode."""

    @abstractmethod
    def _restore(self, checkpoint: Checkpoint) -> None:
        """Go to where a checkpoint was written."""

    @abstractmethod
    def _step(self) -> bool:
        """Act and learn from it; return whether a checkpoint can be written here."""

    @abstractmethod
    def _log(self) -> None:
        """Write one row of metrics."""

    @abstractmethod
    def _state(self) -> tuple[dict[str, Tensor | np.ndarray], dict[str, Any]]:
        """Return the tensors and the rest of a checkpoint, but the agent and the streams."""

    @abstractmethod
    def _saved(self) -> None:
        """Tidy up after a checkpoint."""

    def _interrupt(self) -> None:
        self._interrupted = True

    def _housekeeping(self, before: int, *, may_save: bool) -> None:
        now, schedule = self.at.env_step, self.schedule
        if crossed(before, now, schedule.log_every):
            self._log()
        if crossed(before, now, schedule.eval_every) or now >= schedule.steps:
            self._evaluate()
        due = crossed(before, now, schedule.checkpoint_every) or self._interrupted
        self._due = self._due or due
        if now >= schedule.steps:
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
                f"stopped at step {self.at.env_step:,} of {self.schedule.steps:,}; run the same "
                "command to go on"
            )
        if not self._told:
            self._told = True
            self._warn(
                "this environment cannot save its state: going on to the end of the episode, to "
                "write a checkpoint there; a second signal stops at once"
            )

    def _warn(self, text: str) -> None:
        self.warning = text
        self.watch(self, "warning")

    def _evaluate(self) -> None:
        self._check_agent()
        result = evaluate(
            self.agent,
            self.make_env,
            episodes=self.schedule.eval_episodes,
            seed=self.schedule.seed,
            env_step=self.at.env_step,
        )
        self.last_return = result.metrics()["eval/return"]
        self.run.write_evaluation(self.at.env_step, asdict(result))
        self.run.metrics.append({"env_step": self.at.env_step, **result.metrics()})
        self.watch(self, "eval")

    def _save(self, *, final: bool = False) -> None:
        self._check_agent()
        tensors, meta = self._state()
        tensors |= {f"agent/{name}": value for name, value in self.agent.state().items()}
        tensors |= {f"stream/{name}": g.get_state() for name, g in self.streams.items()}
        counters = {"counters": dict(vars(self.at)), "last": self.last}
        self.run.save(self.at.env_step, to_arrays(tensors), counters | meta, final=final)
        self._saved()
        self.watch(self, "saved")

    def _restore_common(self, checkpoint: Checkpoint) -> None:
        """Restore what every loop saves: the agent, the random streams, the last metrics."""
        self.agent.load_state(to_tensors(checkpoint.arrays, "agent/"))
        for name, state in to_tensors(checkpoint.arrays, "stream/").items():
            self.streams[name].set_state(state)
        self.last = dict(checkpoint.meta["last"])

    def _check_agent(self) -> None:
        """A bad gradient leaves this update's loss finite: look before anything is kept of it."""
        if first_bad_tensor(self.agent) is not None:
            raise self._broken()

    def _broken(self) -> NonFiniteError:
        name = first_bad_tensor(self.agent) or "the loss"
        return NonFiniteError(
            f"non-finite numbers at step {self.at.env_step:,}, first in {name}; the last good "
            f"checkpoint is kept in {self.run.path}; lower the learning rate or look at |Q|"
        )

    def _check_finite(self, what: str, value: Any) -> None:
        if not (np.abs(value) <= LARGEST).all():  # a NaN compares as False
            raise NonFiniteError(
                f"the environment gave a non-finite {what} at step {self.at.env_step:,}; the last "
                f"good checkpoint is kept in {self.run.path}; mend the environment"
            )


def crossed(before: int, now: int, every: int) -> bool:
    """Tell whether a multiple of ``every`` lies above ``before`` and not above ``now``."""
    return before // every < now // every
