"""The training loop of algorithms with a replay memory.

Resume is bit for bit: a checkpoint holds the agent, the random streams, the environment's state,
the counters and the position in the metrics file; replay is stored as append-only segments.  An
environment that cannot save its state is checkpointed at the start of an episode.
"""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
from torch import Tensor

from lff.algos.base import Spaces
from lff.algos.off_policy import OffPolicyAgent, OffPolicyConfig
from lff.core.config import within
from lff.core.seeding import env_seed
from lff.data import Replay
from lff.envs.base import Env, Obs
from lff.native.sac import NativeSAC, paying_threads
from lff.store import Checkpoint, SegmentRef
from lff.training.compile import compile_update
from lff.training.contact_sheet import SHEET_AT, write_sheet
from lff.training.diagnostics import BATCH_SIZE, IMAGES, DivergenceWatch, network_metrics
from lff.training.evaluate import MakeEnv
from lff.training.loop import Loop, Progress, Watch, clock

if TYPE_CHECKING:
    from lff.training.run import RunConfig


@dataclass
class OffPolicyProgress(Progress):
    """Counters of a run with a replay memory."""

    episode_return: float = 0.0
    episode_length: int = 0
    segments: list[dict[str, Any]] = field(default_factory=list)
    """References to the stored parts of the replay."""
    stored: int = 0
    """Rows of the replay that those parts cover."""


class OffPolicyLoop(Loop):
    """One run of an agent that learns from a replay memory."""

    agent: OffPolicyAgent
    progress: OffPolicyProgress
    stream_names = ("exploration", "replay", "update")
    native: NativeSAC | None = None
    """Update and policy as native code, if the run is computed so."""

    def __init__(
        self, config: "RunConfig", make_env: MakeEnv, *, watch: Watch | None = None
    ) -> None:
        super().__init__(config, make_env, watch=watch)
        self.algo = cast(OffPolicyConfig, config.algo)
        self.env: Env = make_env(env_seed(config.seed, "train"))
        spaces = Spaces.of(self.env)
        # a repeat cut short by an episode's end plays fewer frames, so steps bounds the transitions
        self.memory = self.algo.memory(spaces, min(self.algo.replay_capacity, config.steps))
        device = config.compute.device
        agent = config.algo.build(spaces, generator=self._stream("weights"), device=device)
        self.agent = cast(OffPolicyAgent, agent)
        self.progress = OffPolicyProgress()
        self.divergence = DivergenceWatch(self.agent)
        self._update = self.agent.update
        compute = config.compute
        if compute.compile == "native":
            threads = paying_threads(agent, compute.threads)
            self.native = NativeSAC(agent, threads=threads, target=compute.processor)
            self.origin, self._greedy = self.native.origin, self.native.act
        elif compute.compile == "graph":
            self._update = compile_update(self.agent.update)
        self._obs: Obs = np.empty(0, np.float32)

    def close(self) -> None:
        super().close()
        self.env.close()

    def _step(self) -> bool:
        start = clock()
        self.agent.observe(self._obs)
        action = self._choose()
        acted = clock()
        next_obs, reward, terminated, truncated, info = self.env.step(action)
        stepped = clock()
        self._check_finite("observation", next_obs)
        self._check_finite("reward", reward)
        self.memory.add(self._obs, action, reward, next_obs, terminated=terminated)
        self.divergence.reward(reward)
        progress = self.progress
        progress.env_step += info["frames"]
        progress.agent_step += 1
        progress.episode_return += reward
        progress.episode_length += 1
        self._obs = next_obs
        if progress.agent_step == SHEET_AT:
            rows = self.agent.preview(self.memory, self._stream("contact sheet"))
            if rows:
                write_sheet(self.run.path, rows)
        learning = clock()
        if progress.env_step > self.algo.warmup_steps:
            for _ in range(self.algo.updates_per_step):
                self._learn()
        self.seconds["acting"] += acted - start
        self.seconds["environment"] += stepped - acted
        self.seconds["update"] += clock() - learning
        if terminated or truncated:
            self.last["train/episode_return"] = progress.episode_return
            self.last["train/episode_length"] = progress.episode_length
            progress.episode += 1
            self._begin()
            return True
        return self.env.can_save_state

    def _choose(self) -> np.ndarray:
        stream = self.streams["exploration"]
        if self.progress.env_step < self.algo.warmup_steps:
            return (2 * torch.rand(self.agent.spaces.action, generator=stream) - 1).numpy()
        exploration = self.agent.explore(stream)
        if self.native is not None:
            action = self.native.act(self._obs, exploration.noise)
        else:
            action = self.agent.act(torch.from_numpy(self._obs), exploration).numpy()
        if not np.isfinite(action).all():
            raise self._broken()
        return action

    def _learn(self) -> None:
        algo, progress, native = self.algo, self.progress, self.native
        actor = progress.updates % algo.actor_period == 0
        if native is not None:
            memory = cast(Replay, self.memory)
            index = native.draw_index(len(memory), self.streams["replay"])
            noise = native.draw_noise(self.streams["update"])
            values = native.update(memory.columns, index, noise, actor=actor)
        else:
            batch = self.memory.sample(algo.batch_size, self.streams["replay"])
            noise = self.agent.draw(self.streams["update"], algo.batch_size)
            metrics = self._update(batch, noise, actor=actor)
            values = dict(zip(metrics, torch.stack([*metrics.values()]).tolist(), strict=True))
        progress.updates += 1
        if not all(math.isfinite(value) for value in values.values()):
            raise self._broken()
        self.last |= values
        largest = values[self.agent.value_max]
        progress.value_max = max(progress.value_max, largest)
        if self.divergence.passed(largest, progress.env_step):
            batch = batch if native is None else memory.at(index)
            self._warn(self.divergence.explain(self.agent.values(batch.obs, batch.action)))

    def _begin(self) -> None:
        """Reset with a seed of the episode's own, so that it does not matter what came before."""
        seed = env_seed(self.config.seed, f"train/{self.progress.episode}")
        self._obs, _ = self.env.reset(seed=seed)
        self._check_finite("observation", self._obs)
        self.memory.begin(self._obs)
        self.progress.episode_return, self.progress.episode_length = 0.0, 0

    def _metrics(self) -> dict[str, Any]:
        """Look at a batch from a stream of its own: it changes nothing."""
        progress = self.progress
        size = BATCH_SIZE if len(self.agent.spaces.obs) == 1 else IMAGES
        batch = self.memory.peek(size, self._stream(f"diagnostics/{progress.env_step}"))
        row: dict[str, Any] = {**network_metrics(self.agent.inputs(batch))}
        if progress.updates:
            row[self.agent.value_max] = progress.value_max
        progress.value_max = 0.0
        return row

    def _state(self) -> tuple[dict[str, Tensor | np.ndarray], dict[str, Any]]:
        progress = self.progress
        new = self.memory.since(progress.stored)
        if len(new["reward"]):
            progress.segments.append(self.run.segments.append(new).to_json())
            progress.stored = self.memory.rows
        self._forget_old_segments()
        tensors: dict[str, Tensor | np.ndarray] = {"obs": self._obs}
        if self.env.can_save_state:
            tensors |= {f"env/{name}": value for name, value in self.env.get_state().items()}
        watch = self.divergence
        seen = {"largest_reward": watch.largest_reward, "seen_at": watch.seen_at}
        return tensors, {"divergence": seen}

    def _saved(self) -> None:
        """Drop segments that no checkpoint refers to any more."""
        if self.progress.segments:  # those of the previous checkpoint stay until it goes
            self.run.drop_replay_before(SegmentRef.from_json(self.progress.segments[0]))

    def _forget_old_segments(self) -> None:
        """Forget segments whose every row the ring has overwritten."""
        segments = self.progress.segments
        spare = sum(ref["count"] for ref in segments) - self.memory.kept_rows
        while segments and spare >= segments[0]["count"]:
            spare -= segments.pop(0)["count"]

    def _restore(self, checkpoint: Checkpoint) -> None:
        arrays, progress = checkpoint.arrays, self.progress
        watched = checkpoint.meta["divergence"]
        self.divergence.largest_reward = float(watched["largest_reward"])
        self.divergence.seen_at = watched["seen_at"]
        refs = [SegmentRef.from_json(ref) for ref in progress.segments]
        stored, total = sum(ref.count for ref in refs), progress.stored
        self.memory.restore(self.run.segments.each(refs), stored=stored, total=total)
        if not self.env.can_save_state:
            self._begin()
            return
        # bring the simulator up before its state is set; the counters stay as they were
        self.env.reset(seed=env_seed(self.config.seed, f"train/{progress.episode}"))
        self.env.set_state(within(arrays, "env/"))
        self._obs = arrays["obs"].copy()
