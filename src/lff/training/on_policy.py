"""The training loop of PPO: collect a rollout, learn from it, forget it.

Resume is bit for bit, also in the middle of a rollout: a checkpoint holds the agent with its
statistics, the rollout so far, the random streams, the environments and the counters.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lff.algos import PPO
from lff.algos.ppo import Sample
from lff.core.seeding import stream_seed
from lff.data.rollout import Rollout
from lff.envs.vector import Vector, VectorStep
from lff.store import Checkpoint, RunDir
from lff.training.arrays import part, to_tensors
from lff.training.compiling import compile_update
from lff.training.diagnostics import BATCH_SIZE, look_at
from lff.training.evaluate import MakeEnv
from lff.training.loop import Loop, Watch
from lff.training.ppo_config import PPOTrainConfig

STREAMS = ("exploration", "update")
MakeVector = Callable[[], Vector]


@dataclass
class Counters:
    """Where a run stands."""

    env_step: int = 0
    agent_step: int = 0
    updates: int = 0
    rollouts: int = 0
    """Rollouts learned from."""
    filled: int = 0
    """Rows of the next one."""
    episode: int = 0
    """Episodes that have ended, over all environments."""
    returns: list[float] = field(default_factory=list)
    """Of the episode that each environment is in."""
    lengths: list[int] = field(default_factory=list)
    ended_returns: list[float] = field(default_factory=list)
    """Of the episodes that ended since the last row of metrics."""
    ended_lengths: list[int] = field(default_factory=list)
    q_max: float = 0.0
    """Largest |V| on the last rollout."""
    metrics: dict[str, float | None] = field(default_factory=dict)
    """Of the last rollout and its updates; None for what is no finite number."""


class OnPolicyRun(Loop):
    """One run of an agent that learns from what it has just done."""

    agent: PPO
    at: Counters
    config: PPOTrainConfig

    def __init__(
        self,
        config: PPOTrainConfig,
        run: RunDir,
        make_env: MakeEnv,
        *,
        make_vector: MakeVector,
        watch: Watch | None = None,
    ) -> None:
        """Build environments, agent and rollout; nothing is written yet."""
        super().__init__(run, make_env, watch=watch)
        self.config = self.schedule = config
        self.envs = make_vector()
        sizes = {"obs_dim": self.envs.obs_dim, "action_dim": self.envs.action_dim}
        weights = torch.Generator().manual_seed(stream_seed(config.seed, "weights"))
        self.agent = PPO(
            config.algo,
            **sizes,
            num_envs=config.num_envs,
            generator=weights,
            device=config.device,
        )
        rows = config.algo.rollout_steps // config.num_envs
        self.rollout = Rollout(rows, envs=config.num_envs, **sizes)
        self.streams = {
            name: torch.Generator().manual_seed(stream_seed(config.seed, name)) for name in STREAMS
        }
        count = config.num_envs
        self.at = Counters(returns=[0.0] * count, lengths=[0] * count)
        self._update = self.agent.update
        if config.compile:
            self._update = compile_update(self.agent.update)
        self._obs: NDArray[np.float32] = np.empty((count, self.envs.obs_dim), np.float32)

    def train(self, *, reference_episodes: int = 0) -> None:
        """Run to the end, from the newest checkpoint if there is one; let the environments go."""
        try:
            super().train(reference_episodes=reference_episodes)
        finally:
            self.envs.close()

    def _begin(self) -> None:
        """Begin the first episodes."""
        self._obs = self.envs.reset()
        self._check_finite("observation", self._obs)
        self.agent.observe(self._obs)

    def _step(self) -> bool:
        """Act once in every environment; learn when the rollout is full."""
        agent, rollout = self.agent, self.rollout
        seen = agent.see(self._obs)
        action = self._choose(seen)
        moment = self.envs.step(action)
        self._check_finite("observation", moment.next_obs)
        self._check_finite("reward", moment.reward)
        ended = moment.terminated | moment.truncated
        rollout.add(
            obs=seen,
            action=action,
            reward=agent.scale_reward(moment.reward, ended, moment.valid),
            terminated=moment.terminated,
            truncated=moment.truncated,
            valid=moment.valid,
        )
        self._obs = moment.obs
        self._count(moment, ended)
        full = rollout.full
        if full or moment.truncated.any():
            where = np.ones_like(ended) if full else moment.truncated
            rollout.add_next_obs(agent.see(moment.next_obs), where)
        agent.observe(self._obs)
        if full:
            self._learn()
        return True

    def _choose(self, seen: NDArray[np.float32]) -> NDArray[np.float32]:
        stream, agent = self.streams["exploration"], self.agent
        shape = (len(seen), agent.action_dim)
        with torch.inference_mode():
            noise = torch.randn(shape, generator=stream)
            masks = agent.draw_acting_masks(stream, batch=shape[:1])
            x = torch.from_numpy(seen).to(agent.device)
            action: NDArray[np.float32] = agent.choose(x, noise, masks=masks).cpu().numpy()
        if not np.isfinite(action).all():
            raise self._broken()
        return action

    def _count(self, moment: VectorStep, ended: NDArray[np.bool_]) -> None:
        at = self.at
        at.env_step += int(moment.frames.sum())
        at.agent_step += int(moment.valid.sum())
        for i, reward in enumerate(moment.reward.tolist()):
            at.returns[i] += reward
            at.lengths[i] += int(moment.valid[i])
            if ended[i]:
                at.ended_returns.append(at.returns[i])
                at.ended_lengths.append(at.lengths[i])
                at.episode += 1
                at.returns[i], at.lengths[i] = 0.0, 0
        at.filled = self.rollout.at

    def _learn(self) -> None:
        """Go through the rollout some times in random order, then make room for the next."""
        algo, agent, at = self.config.algo, self.agent, self.at
        if algo.lr_decay:
            agent.lr_share.fill_(1 - at.rollouts / max(self.config.rollouts, 1))
        sample, of_values = agent.prepare(self.rollout)
        found = [
            self._update(sample, rows, agent.draw_masks(self.streams["update"], size=len(rows)))
            for _ in range(algo.epochs)
            for rows in self._minibatches(sample)
        ]
        at.updates += len(found)
        at.rollouts += 1
        metrics = {name: value.item() for name, value in of_values.items()}
        for name in found[0]:
            metrics[name] = torch.stack([one[name] for one in found]).mean().item()
        metrics["train/lr"] = algo.lr * agent.lr_share.item()
        metrics["train/std"] = agent.log_std.exp().mean().item()
        if not math.isfinite(metrics["train/critic_loss"] + metrics["train/actor_loss"]):
            raise self._broken()
        at.metrics = {n: value if math.isfinite(value) else None for n, value in metrics.items()}
        at.q_max = metrics["train/value_max"]
        self.rollout.clear()
        at.filled = 0

    def _minibatches(self, sample: Sample) -> list[Tensor]:
        """Return the rows in random order, in parts of one size.

        The last part is filled up from the beginning of the order.
        """
        size, count = self.config.algo.batch_size, len(sample.obs)
        order = torch.randperm(count, generator=self.streams["update"])
        parts = -(-count // size)
        rows = torch.cat([order, order[: parts * size - count]]).to(self.agent.device)
        return [*rows.view(parts, size)]

    def _log(self) -> None:
        """Write one row of metrics."""
        at = self.at
        if at.ended_returns:
            self.last["train/episode_return"] = float(np.mean(at.ended_returns))
            self.last["train/episode_length"] = float(np.mean(at.ended_lengths))
            at.ended_returns, at.ended_lengths = [], []
        obs = self._look()
        actor, critic = self.agent.actor, self.agent.critic
        networks = look_at({"actor": (actor, (obs,)), "critic": (critic, (obs,))})
        counts = {"updates": at.updates, "episode": at.episode}
        self.run.metrics.append(
            {"env_step": at.env_step, **counts, **at.metrics, **self.last, **networks}
        )

    def _look(self) -> Tensor:
        """Draw rows that the networks have seen, from a stream of its own: it changes nothing."""
        rows = self.rollout.obs if self.at.rollouts else self.rollout.obs[: self.rollout.at]
        flat = rows.flatten(0, 1)
        seed = stream_seed(self.config.seed, f"diagnostics/{self.at.env_step}")
        stream = torch.Generator().manual_seed(seed)
        index = torch.randint(len(flat), (BATCH_SIZE,), generator=stream)
        return flat.index_select(0, index).to(self.agent.device)

    def _state(self) -> tuple[dict[str, Tensor | np.ndarray], dict[str, Any]]:
        """Return rollout, environments and observations."""
        tensors: dict[str, Tensor | np.ndarray] = {"obs": self._obs}
        tensors |= {f"rollout/{name}": value for name, value in self.rollout.state().items()}
        tensors |= {f"env/{name}": value for name, value in self.envs.get_state().items()}
        return tensors, {}

    def _saved(self) -> None:
        """There is nothing to tidy up."""

    def _restore(self, checkpoint: Checkpoint) -> None:
        """Go to where a checkpoint was written."""
        self._restore_common(checkpoint)
        arrays = checkpoint.arrays
        self.at = Counters(**checkpoint.meta["counters"])
        stored = to_tensors(arrays, "rollout/")
        for name, value in self.rollout.state().items():
            value.copy_(stored[name])
        self.rollout.at = self.at.filled
        self.envs.set_state(part(arrays, "env/"))
        if self.envs.can_resume:
            self._obs = arrays["obs"].copy()
            return
        self._warn(
            "Gymnasium's vector environments cannot save their state: new episodes begin, so that "
            "the run does not go on bit for bit as it would have"
        )
        self._obs = self.envs.reset()
        if self.rollout.at:  # what came before has no end that is known
            self.rollout.truncated[self.rollout.at - 1] = True
            seen = self.agent.see(arrays["obs"])
            self.rollout.add_next_obs(seen, np.ones(self.envs.num_envs, bool))
        self.at.returns, self.at.lengths = [0.0] * len(self._obs), [0] * len(self._obs)
