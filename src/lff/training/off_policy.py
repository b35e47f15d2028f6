"""The training loop of off-policy agents: time, files and signals live here, nothing else does.

Resume is bit for bit: a checkpoint holds the agent, the random streams, the environment's state,
the counters and the position in the metrics file; replay is stored as append-only segments.  An
environment that cannot save its state is checkpointed at the start of an episode.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lff.algos import SAC
from lff.core.seeding import env_seed, stream_seed
from lff.data import Batch, FrameReplay, Replay
from lff.envs.base import Env, Obs
from lff.store import Checkpoint, RunDir, SegmentRef
from lff.training.arrays import part
from lff.training.compiling import compile_update
from lff.training.config import TrainConfig
from lff.training.contact_sheet import SHEET_AT, keep_sheet
from lff.training.diagnostics import BATCH_SIZE, IMAGES, DivergenceWatch, network_metrics
from lff.training.evaluate import MakeEnv
from lff.training.loop import Loop, Watch
from lff.training.setting_up import new_replay

LOSSES = ("train/critic_loss", "train/actor_loss")
ACTOR_METRICS = ("train/actor_loss", "train/entropy")
STREAMS = ("exploration", "replay", "update")


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


class OffPolicyRun(Loop):
    """One run of an agent that learns from a replay."""

    agent: SAC
    at: Counters
    config: TrainConfig

    def __init__(
        self, config: TrainConfig, run: RunDir, make_env: MakeEnv, *, watch: Watch | None = None
    ) -> None:
        """Build environment, agent and replay; nothing is written yet."""
        super().__init__(run, make_env, watch=watch)
        self.config = self.schedule = config
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
        self._metrics: dict[str, Tensor] = {}
        self._update = self.agent.update
        if config.compile:
            self._update = compile_update(self.agent.update)
        self._obs: Obs = np.empty(0, np.float32)

    def _begin(self) -> None:
        """Begin the first episode."""
        self._begin_episode()

    def _step(self) -> bool:
        """Act once and learn from it; return whether a checkpoint can be written here."""
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
        return self.env.can_save_state

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

    def _state(self) -> tuple[dict[str, Tensor | np.ndarray], dict[str, Any]]:
        """Store what is new in the replay; return the rest of a checkpoint."""
        new = self.replay.since(self.at.stored)
        if len(new["reward"]):
            self.at.segments.append(self.run.segments.append(new).to_json())
            self.at.stored = self.replay.rows
        self._forget_old_segments()
        tensors: dict[str, Tensor | np.ndarray] = {"obs": self._obs}
        if self.env.can_save_state:
            tensors |= {f"env/{name}": value for name, value in self.env.get_state().items()}
        return tensors, {"divergence": self.divergence.state()}

    def _saved(self) -> None:
        """Drop segments that no checkpoint refers to any more."""
        if self.at.segments:  # what the checkpoint before refers to stays until it goes
            self.run.drop_replay_before(SegmentRef.from_json(self.at.segments[0]))

    def _forget_old_segments(self) -> None:
        """Let go of segments whose every row the ring has overwritten."""
        segments = self.at.segments
        spare = sum(ref["count"] for ref in segments) - self.replay.kept_rows
        while segments and spare >= segments[0]["count"]:
            spare -= segments.pop(0)["count"]

    def _restore(self, checkpoint: Checkpoint) -> None:
        """Go to where a checkpoint was written."""
        self._restore_common(checkpoint)
        arrays, meta = checkpoint.arrays, checkpoint.meta
        self.at = Counters(**meta["counters"])
        self.divergence.load_state(meta["divergence"])
        refs = [SegmentRef.from_json(ref) for ref in self.at.segments]
        stored = sum(ref.count for ref in refs)
        self.replay.restore_parts(self.run.segments.each(refs), stored=stored, total=self.at.stored)
        if self.env.can_save_state:
            self._begin_episode_quietly()
            self.env.set_state(part(arrays, "env/"))
            self._obs = arrays["obs"].copy()
        else:
            self._begin_episode()

    def _begin_episode_quietly(self) -> None:
        """Bring the simulator up before its state is set; counters stay as they were."""
        self.env.reset(seed=env_seed(self.config.seed, f"train/{self.at.episode}"))
