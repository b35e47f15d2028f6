"""The training loop of off-policy agents: time, files and signals live here, nothing else does.

Resume is bit for bit: a checkpoint holds the agent, the random streams, the environment's state,
the counters and the position in the metrics file; replay is stored as append-only segments.  An
environment that cannot save its state is checkpointed at the start of an episode.
"""

import math
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lff.algos import SAC
from lff.core.errors import InterruptedRunError, NonFiniteError
from lff.core.seeding import env_seed, stream_seed
from lff.data import Replay
from lff.envs.base import Env, Obs
from lff.store import Checkpoint, RunDir, SegmentRef
from lff.training.config import TrainConfig
from lff.training.diagnostics import DivergenceWatch, basis_metrics, first_bad_tensor
from lff.training.evaluate import MakeEnv, evaluate

STREAMS = ("exploration", "replay", "update")
Watch = Callable[["OffPolicyRun", str], None]


@dataclass
class Counters:
    """Where a run stands."""

    env_step: int = 0
    agent_step: int = 0
    updates: int = 0
    episode: int = 0
    episode_return: float = 0.0
    episode_length: int = 0
    q_max: float = 0.0
    """Largest |Q| since the last row of metrics."""
    segments: list[dict[str, Any]] = field(default_factory=list)
    """References to the stored parts of the replay."""
    stored: int = 0
    """Transitions that those parts cover."""


class OffPolicyRun:
    """One run in one directory; ``watch(run, event)`` is told of "step", "eval", "warning"."""

    def __init__(
        self, config: TrainConfig, run: RunDir, make_env: MakeEnv, *, watch: Watch | None = None
    ) -> None:
        """Build environment, agent and replay; nothing is written yet."""
        self.config, self.run, self.make_env = config, run, make_env
        self.watch: Watch = watch or (lambda _run, _event: None)
        self.env: Env = make_env(env_seed(config.seed, "train"))
        obs_dim = int(np.prod(self.env.observation_space.shape))
        action_dim = int(np.prod(self.env.action_space.shape))
        weights = torch.Generator().manual_seed(stream_seed(config.seed, "weights"))
        self.agent = SAC(config.algo, obs_dim, action_dim, generator=weights)
        # a repeat cut short by an episode's end plays fewer frames, so steps bounds the transitions
        capacity = min(config.replay_capacity, config.steps)
        self.replay = Replay(capacity, obs_dim=obs_dim, action_dim=action_dim)
        self.streams = {
            name: torch.Generator().manual_seed(stream_seed(config.seed, name)) for name in STREAMS
        }
        self.at = Counters()
        self.divergence = DivergenceWatch(config.algo.gamma)
        self.warning = ""
        self.last: dict[str, float] = {}
        self._metrics: dict[str, Tensor] = {}
        self._update = self.agent.update
        if config.compile:
            self._update = torch.compile(self.agent.update, fullgraph=True, dynamic=False)
        self._obs: Obs = np.empty(0, np.float32)
        self._interrupted = False
        self._due = False
        self.last_return: float | None = None

    def train(self) -> None:
        """Run to the end, from the newest checkpoint if there is one."""
        checkpoint = self.run.resume()
        if checkpoint is None:
            self._begin_episode()
        else:
            self._restore(checkpoint)
        start, steps = time.perf_counter(), self.at.env_step
        with self._signals():
            while self.at.env_step < self.config.steps:
                before = self.at.env_step
                ended = self._step()
                self._housekeeping(before, ended=ended)
                self.watch(self, "step")
        seconds = time.perf_counter() - start
        rate = (self.at.env_step - steps) / max(seconds, 1e-9)
        if checkpoint is None or checkpoint.path.name != "final":
            self.run.timing.append({"env_step": self.at.env_step, "steps_per_second": rate})
            self._save(final=True)

    def _step(self) -> bool:
        """Act once and learn from it; return whether an episode ended."""
        self.agent.observe(torch.from_numpy(self._obs))
        action = self._choose()
        next_obs, reward, terminated, truncated, info = self.env.step(action)
        self._check_finite("observation", next_obs)
        self._check_finite("reward", reward)
        self.replay.add(self._obs, action, reward, next_obs, terminated=terminated)
        self.divergence.reward(reward)
        at = self.at
        at.env_step += info["frames"]
        at.agent_step += 1
        at.episode_return += reward
        at.episode_length += 1
        self._obs = next_obs
        if at.env_step > self.config.warmup_steps:
            for _ in range(self.config.updates_per_step):
                self._learn()
        if terminated or truncated:
            self.last["train/episode_return"] = at.episode_return
            self.last["train/episode_length"] = at.episode_length
            at.episode += 1
            self._begin_episode()
            return True
        return False

    def _choose(self) -> np.ndarray:
        stream, size = self.streams["exploration"], self.agent.action_dim
        if self.at.env_step < self.config.warmup_steps:
            return (2 * torch.rand(size, generator=stream) - 1).numpy()
        noise = torch.randn(size, generator=stream)
        masks = self.agent.draw_acting_masks(stream)
        action = self.agent.act(torch.from_numpy(self._obs), noise, masks=masks).numpy()
        if not np.isfinite(action).all():
            raise self._broken()
        return action

    def _learn(self) -> None:
        batch = self.replay.sample(self.config.algo.batch_size, self.streams["replay"])
        noise = self.agent.draw_noise(self.streams["update"])
        self._metrics = self._update(batch, noise)
        self.at.updates += 1
        loss = (self._metrics["train/critic_loss"] + self._metrics["train/actor_loss"]).item()
        if not math.isfinite(loss):
            raise self._broken()
        self.at.q_max = max(self.at.q_max, self._metrics["train/q_max"].item())

    def _begin_episode(self) -> None:
        """Reset with a seed of the episode's own, so that it does not matter what came before."""
        self._obs, _ = self.env.reset(seed=env_seed(self.config.seed, f"train/{self.at.episode}"))
        self._check_finite("observation", self._obs)
        self.at.episode_return, self.at.episode_length = 0.0, 0

    def _housekeeping(self, before: int, *, ended: bool) -> None:
        now, config = self.at.env_step, self.config
        if _crossed(before, now, config.log_every):
            self._log()
        if _crossed(before, now, config.eval_every) or now >= config.steps:
            self._evaluate()
        due = _crossed(before, now, config.checkpoint_every) or self._interrupted
        self._due = self._due or due
        if self._due and (ended or self.env.can_save_state) and now < config.steps:
            self._save()
            self._due = False
        if self._interrupted:
            raise InterruptedRunError(
                f"stopped at step {now:,} of {config.steps:,}; run the same command to go on"
            )

    def _log(self) -> None:
        row = {name: value.item() for name, value in self._metrics.items()}
        row |= self.last | basis_metrics(self.agent)
        if self._metrics:
            row["train/q_max"] = self.at.q_max
            warning = self.divergence.look(self.at.q_max, self.at.env_step)
            if warning:
                self.warning = warning
                self.watch(self, "warning")
        self.at.q_max = 0.0
        counts = {"updates": self.at.updates, "episode": self.at.episode}
        self.run.metrics.append({"env_step": self.at.env_step, **counts, **row})

    def _evaluate(self) -> None:
        result = evaluate(
            self.agent,
            self.make_env,
            episodes=self.config.eval_episodes,
            seed=self.config.seed,
            env_step=self.at.env_step,
        )
        self.last_return = result.metrics()["eval/return"]
        self.run.metrics.append({"env_step": self.at.env_step, **result.metrics()})
        self.watch(self, "eval")

    def _save(self, *, final: bool = False) -> None:
        new = self.replay.since(self.at.stored)
        if len(new["reward"]):
            self.at.segments.append(self.run.segments.append(new).to_json())
            self.at.stored = self.replay.total
        tensors: dict[str, Tensor | np.ndarray] = {
            f"agent/{name}": value for name, value in self.agent.state().items()
        }
        tensors |= {f"stream/{name}": g.get_state() for name, g in self.streams.items()}
        tensors["obs"] = self._obs
        if self.env.can_save_state:
            tensors |= {f"env/{name}": value for name, value in self.env.get_state().items()}
        meta = {
            "counters": dict(vars(self.at)),
            "last": self.last,
            "divergence": self.divergence.state(),
        }
        self.run.save(self.at.env_step, tensors, meta, final=final)

    def _restore(self, checkpoint: Checkpoint) -> None:
        tensors, meta = checkpoint.tensors, checkpoint.meta
        self.agent.load_state(_part(tensors, "agent"))
        for name, state in _part(tensors, "stream").items():
            self.streams[name].set_state(state)
        self.at = Counters(**meta["counters"])
        self.last = dict(meta["last"])
        self.divergence.load_state(meta["divergence"])
        refs = [SegmentRef.from_json(ref) for ref in self.at.segments]
        self.replay.restore(self.run.segments.read(refs), total=self.at.stored)
        if self.env.can_save_state:
            self._begin_episode_quietly()
            self.env.set_state({n: v.numpy() for n, v in _part(tensors, "env").items()})
            self._obs = tensors["obs"].numpy().copy()
        else:
            self._begin_episode()

    def _begin_episode_quietly(self) -> None:
        """Bring the simulator up before its state is set; counters stay as they were."""
        self.env.reset(seed=env_seed(self.config.seed, f"train/{self.at.episode}"))

    def _broken(self) -> NonFiniteError:
        name = first_bad_tensor(self.agent) or "the loss"
        return NonFiniteError(
            f"non-finite numbers at step {self.at.env_step:,}, first in {name}; the last good "
            f"checkpoint is kept in {self.run.path}; lower the learning rate or look at |Q|"
        )

    def _check_finite(self, what: str, value: Any) -> None:
        if not np.isfinite(value).all():
            raise NonFiniteError(
                f"the environment gave a non-finite {what} at step {self.at.env_step:,}; the last "
                f"good checkpoint is kept in {self.run.path}; mend the environment"
            )

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """On SIGINT and SIGTERM finish the step, write a checkpoint, then stop."""

        def stop(*_: object) -> None:
            self._interrupted = True

        try:
            old = {s: signal.signal(s, stop) for s in (signal.SIGINT, signal.SIGTERM)}
        except ValueError:  # not the main thread: somebody else handles signals
            yield
            return
        try:
            yield
        finally:
            for number, handler in old.items():
                signal.signal(number, handler)


def _crossed(before: int, now: int, every: int) -> bool:
    return before // every < now // every


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """Return the tensors under a prefix, without it."""
    start = f"{prefix}/"
    return {n.removeprefix(start): v for n, v in tensors.items() if n.startswith(start)}
