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
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lff.algos import SAC
from lff.core.errors import InterruptedRunError, NonFiniteError
from lff.core.seeding import env_seed, stream_seed
from lff.data import Batch, FrameReplay, Replay
from lff.envs.base import Env, Obs
from lff.store import Checkpoint, RunDir, SegmentRef
from lff.training.compiling import compile_update
from lff.training.config import TrainConfig
from lff.training.contact_sheet import SHEET_AT, keep_sheet
from lff.training.diagnostics import (
    BATCH_SIZE,
    IMAGES,
    DivergenceWatch,
    first_bad_tensor,
    network_metrics,
)
from lff.training.evaluate import MakeEnv, evaluate
from lff.training.reference import keep_reference
from lff.training.setting_up import new_replay

LOSSES = ("train/critic_loss", "train/actor_loss")
ACTOR_METRICS = ("train/actor_loss", "train/entropy")
STREAMS = ("exploration", "replay", "update")
LARGEST = float(np.finfo(np.float32).max)
"""What passes it is an infinity in the replay."""
PATIENCE = 1.0
"""Seconds in which a second signal is taken for the first one's echo."""
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
    """Rows of the replay that those parts cover."""


class OffPolicyRun:
    """One run in one directory; ``watch(run, event)`` is told of step, eval, warning, saved."""

    def __init__(
        self, config: TrainConfig, run: RunDir, make_env: MakeEnv, *, watch: Watch | None = None
    ) -> None:
        """Build environment, agent and replay; nothing is written yet."""
        self.config, self.run, self.make_env = config, run, make_env
        self.watch: Watch = watch or (lambda _run, _event: None)
        self.env: Env = make_env(env_seed(config.seed, "train"))
        shape = tuple(self.env.observation_space.shape)
        action_dim = int(np.prod(self.env.action_space.shape))
        weights = torch.Generator().manual_seed(stream_seed(config.seed, "weights"))
        self.agent = SAC(config.algo, shape, action_dim, generator=weights, device=config.device)
        self.replay: Replay | FrameReplay = new_replay(config, shape, action_dim)
        self.streams = {
            name: torch.Generator().manual_seed(stream_seed(config.seed, name)) for name in STREAMS
        }
        self.at = Counters()
        self.divergence = DivergenceWatch(config.algo.gamma, action_dim=action_dim)
        self.warning = ""
        self.last: dict[str, float] = {}
        self._metrics: dict[str, Tensor] = {}
        self._update = self.agent.update
        if config.compile:
            self._update = compile_update(self.agent.update)
        self._obs: Obs = np.empty(0, np.float32)
        self._interrupted = self._told = False
        self._due = False
        self.last_return: float | None = None

    def train(self, *, reference_episodes: int = 0) -> None:
        """Run to the end, from the newest checkpoint if there is one."""
        with self._signals():
            if reference_episodes:
                count, seed = reference_episodes, self.config.seed
                keep_reference(self.run, self.make_env, episodes=count, seed=seed)
            checkpoint = self.run.resume()
            if checkpoint is None:
                self._begin_episode()
            else:
                self._restore(checkpoint)
            start, steps = time.perf_counter(), self.at.env_step
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
        if at.agent_step == SHEET_AT and isinstance(self.replay, FrameReplay):
            keep_sheet(self.run.path, self.agent, self.replay, seed=self.config.seed)
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
        algo = self.config.algo
        batch = self._draw(algo.batch_size, self.streams["replay"])
        noise = self.agent.draw_noise(self.streams["update"])
        actor = self.at.updates % algo.actor_period == 0
        self._metrics = self._update(batch, noise, actor=actor)
        self.at.updates += 1
        losses = [self._metrics[name] for name in LOSSES if name in self._metrics]
        if not math.isfinite(torch.stack(losses).sum().item()):
            raise self._broken()
        if actor and algo.actor_period > 1:  # until the next one
            self.last |= {name: self._metrics[name].item() for name in ACTOR_METRICS}
        q_max, alpha = (self._metrics[f"train/{name}"].item() for name in ("q_max", "alpha"))
        self.at.q_max = max(self.at.q_max, q_max)
        if self.divergence.passed(q_max, alpha, self.at.env_step):
            self._warn(self.divergence.explain(self.agent.values(batch.obs, batch.action), alpha))

    def _draw(self, size: int, stream: torch.Generator) -> Batch:
        if isinstance(self.replay, FrameReplay):
            return self.replay.sample(size, stream, self.config.algo.augmentation)
        return self.replay.sample(size, stream)

    def _begin_episode(self) -> None:
        """Reset with a seed of the episode's own, so that it does not matter what came before."""
        self._obs, _ = self.env.reset(seed=env_seed(self.config.seed, f"train/{self.at.episode}"))
        self._check_finite("observation", self._obs)
        self.replay.begin(self._obs)
        self.at.episode_return, self.at.episode_length = 0.0, 0

    def _housekeeping(self, before: int, *, ended: bool) -> None:
        now, config = self.at.env_step, self.config
        if _crossed(before, now, config.log_every):
            self._log()
        if _crossed(before, now, config.eval_every) or now >= config.steps:
            self._evaluate()
        due = _crossed(before, now, config.checkpoint_every) or self._interrupted
        self._due = self._due or due
        if now >= config.steps:
            return  # the final checkpoint comes next, signal or not
        if self._due and (ended or self.env.can_save_state):
            self._save()
            self._due = False
        if self._interrupted:
            self._stop()

    def _stop(self) -> None:
        """Stop if the checkpoint is written; if it must wait for the episode's end, say so."""
        if not self._due:
            raise InterruptedRunError(
                f"stopped at step {self.at.env_step:,} of {self.config.steps:,}; run the same "
                "command to go on"
            )
        if not self._told:
            self._told = True
            self._warn(
                "this environment cannot save its state: going on to the end of the episode, to "
                "write a checkpoint there; a second signal stops at once"
            )

    def _log(self) -> None:
        row: dict[str, Any] = {name: value.item() for name, value in self._metrics.items()}
        row |= self.last | network_metrics(self.agent, self._look())
        if self._metrics:
            row["train/q_max"] = self.at.q_max
        self.at.q_max = 0.0
        counts = {"updates": self.at.updates, "episode": self.at.episode}
        self.run.metrics.append({"env_step": self.at.env_step, **counts, **row})

    def _look(self) -> Batch:
        """Draw a batch from a stream of its own, so that looking changes nothing."""
        seed = stream_seed(self.config.seed, f"diagnostics/{self.at.env_step}")
        size = BATCH_SIZE if self.config.algo.encoder is None else IMAGES
        return self.replay.sample(size, torch.Generator().manual_seed(seed))

    def _warn(self, text: str) -> None:
        self.warning = text
        self.watch(self, "warning")

    def _evaluate(self) -> None:
        self._check_agent()
        result = evaluate(
            self.agent,
            self.make_env,
            episodes=self.config.eval_episodes,
            seed=self.config.seed,
            env_step=self.at.env_step,
        )
        self.last_return = result.metrics()["eval/return"]
        self.run.write_evaluation(self.at.env_step, asdict(result))
        self.run.metrics.append({"env_step": self.at.env_step, **result.metrics()})
        self.watch(self, "eval")

    def _save(self, *, final: bool = False) -> None:
        self._check_agent()
        new = self.replay.since(self.at.stored)
        if len(new["reward"]):
            self.at.segments.append(self.run.segments.append(new).to_json())
            self.at.stored = self.replay.rows
        self._forget_old_segments()
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
        if self.at.segments:  # what the checkpoint before refers to stays until it goes
            self.run.drop_replay_before(SegmentRef.from_json(self.at.segments[0]))
        self.watch(self, "saved")

    def _forget_old_segments(self) -> None:
        """Let go of segments whose every row the ring has overwritten."""
        segments = self.at.segments
        spare = sum(ref["count"] for ref in segments) - self.replay.kept_rows
        while segments and spare >= segments[0]["count"]:
            spare -= segments.pop(0)["count"]

    def _restore(self, checkpoint: Checkpoint) -> None:
        tensors, meta = checkpoint.tensors, checkpoint.meta
        self.agent.load_state(_part(tensors, "agent"))
        for name, state in _part(tensors, "stream").items():
            self.streams[name].set_state(state)
        self.at = Counters(**meta["counters"])
        self.last = dict(meta["last"])
        self.divergence.load_state(meta["divergence"])
        refs = [SegmentRef.from_json(ref) for ref in self.at.segments]
        stored = sum(ref.count for ref in refs)
        self.replay.restore_parts(self.run.segments.each(refs), stored=stored, total=self.at.stored)
        if self.env.can_save_state:
            self._begin_episode_quietly()
            self.env.set_state({n: v.numpy() for n, v in _part(tensors, "env").items()})
            self._obs = tensors["obs"].numpy().copy()
        else:
            self._begin_episode()

    def _begin_episode_quietly(self) -> None:
        """Bring the simulator up before its state is set; counters stay as they were."""
        self.env.reset(seed=env_seed(self.config.seed, f"train/{self.at.episode}"))

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

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """On SIGINT and SIGTERM write a checkpoint as soon as there can be one, then stop.

        A second signal, a while after the first, stops at once: what came after the last
        checkpoint will be done again.
        """
        first = math.inf
        at_once = False

        def stop(*_: object) -> None:
            nonlocal first, at_once
            first = min(first, time.monotonic())
            self._interrupted = True
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
                    f"stopped at once at step {self.at.env_step:,}, without a checkpoint; run the "
                    "same command to go on from the last one"
                ) from error
            raise
        finally:
            for number, handler in old.items():
                signal.signal(number, handler)


def _crossed(before: int, now: int, every: int) -> bool:
    return before // every < now // every


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """Return the tensors under a prefix, without it."""
    start = f"{prefix}/"
    return {n.removeprefix(start): v for n, v in tensors.items() if n.startswith(start)}
