"""The training loop of on-policy algorithms: collect a rollout, learn from it, forget it.

Resume is bit for bit, also in the middle of a rollout: a checkpoint holds the agent with its
statistics, the rollout so far, the random streams, the environments and the counters.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import gymnasium
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lff.algos.base import Minibatch, OnPolicyAgent, Spaces
from lff.core.config import within
from lff.core.errors import BadInputError
from lff.core.seeding import env_seed
from lff.data.rollout import Rollout
from lff.envs.processes import Subprocesses
from lff.envs.vector import EnvSlot, FromGymnasium, InProcess, Vector, VectorStep
from lff.native.policy import NativePolicy
from lff.store import Checkpoint
from lff.training.compile import compile_update
from lff.training.diagnostics import BATCH_SIZE, network_metrics
from lff.training.evaluate import MakeEnv
from lff.training.loop import Loop, Progress, Watch, clock, to_tensors

if TYPE_CHECKING:
    from lff.training.run import RunConfig

EnvFunction = Callable[[int], gymnasium.Env[Any, Any]]
VectorFunction = Callable[[int], gymnasium.vector.VectorEnv[Any, Any, Any]]


def make_vector(
    config: "RunConfig",
    make_env: MakeEnv,
    *,
    env_fn: EnvFunction | None = None,
    vector_fn: VectorFunction | None = None,
) -> Vector:
    """Return the environments of a run: in this process, in others, or the user's own vector."""
    seed, count, repeat = config.seed, config.num_envs, config.action_repeat
    if vector_fn is not None:
        vector = FromGymnasium(vector_fn(env_seed(seed, "train")), seed=seed)
        if vector.num_envs != count or repeat != 1:
            vector.close()
            wanted = f"of {count} environments, without action repeat"
            raise BadInputError("the vector", vector.num_envs, wanted, "set num_envs to its number")
        return vector
    if config.compute.envs == "inside":
        return InProcess([EnvSlot(make_env, seed=seed, index=index) for index in range(count)])
    if env_fn is not None:
        remedy = 'name it: env="package.module:function"'
        raise BadInputError("env_fn", env_fn, "left out with processes", remedy)
    return Subprocesses(config.env, seed=seed, num_envs=count, action_repeat=repeat)


@dataclass
class OnPolicyProgress(Progress):
    """Counters of a run that learns from rollouts."""

    rollouts: int = 0
    """Rollouts learned from."""
    filled: int = 0
    """Rows of the next one."""
    returns: list[float] = field(default_factory=list)
    """Of the episode that each environment is in."""
    lengths: list[int] = field(default_factory=list)
    ended_returns: list[float] = field(default_factory=list)
    """Of the episodes that ended since the last row of metrics."""
    ended_lengths: list[int] = field(default_factory=list)


class OnPolicyLoop(Loop):
    """One run of an agent that learns from rollouts of its own policy."""

    agent: OnPolicyAgent
    progress: OnPolicyProgress
    stream_names = ("exploration", "update")

    def __init__(
        self, config: "RunConfig", make_env: MakeEnv, envs: Vector, *, watch: Watch | None = None
    ) -> None:
        super().__init__(config, make_env, watch=watch)
        self.algo = cast(Any, config.algo)
        self.envs, count = envs, config.num_envs
        spaces = Spaces((envs.obs_dim,), envs.action_dim)
        device, weights = config.compute.device, self._stream("weights")
        self.agent = self.algo.build(spaces, num_envs=count, generator=weights, device=device)
        rows = self.algo.rollout_steps // count
        self.rollout = Rollout(rows, envs=count, obs_dim=envs.obs_dim, action_dim=envs.action_dim)
        self.progress = OnPolicyProgress(returns=[0.0] * count, lengths=[0] * count)
        self._update = self.agent.update
        compute = config.compute
        if compute.compile != "off":
            self._update = compile_update(self.agent.update)
        self._policy = None
        if compute.compile == "native":
            self._policy = NativePolicy(self.agent, target=compute.processor)
            self.origin, self._greedy = self._policy.origin, self._policy.act
        self._obs: NDArray[np.float32] = np.empty((count, envs.obs_dim), np.float32)

    @property
    def rollouts(self) -> int:
        """How often the run optimizes: the rest of a rollout at the end is not learned from."""
        return int(self.config.steps // self.config.action_repeat // self.algo.rollout_steps)

    def close(self) -> None:
        super().close()
        self.envs.close()

    def _begin(self) -> None:
        self._obs = self.envs.reset()
        self._check_finite("observation", self._obs)
        self.agent.observe(self._obs)

    def _step(self) -> bool:
        agent, rollout = self.agent, self.rollout
        start = clock()
        obs = agent.normalize(self._obs)
        action = self._choose(obs)
        acted = clock()
        step = self.envs.step(action)
        self.seconds["acting"] += acted - start
        self.seconds["environment"] += clock() - acted
        self._check_finite("observation", step.next_obs)
        self._check_finite("reward", step.reward)
        ended = step.terminated | step.truncated
        rollout.add(
            obs=obs,
            action=action,
            reward=agent.scale_reward(step.reward, ended, step.valid),
            terminated=step.terminated,
            truncated=step.truncated,
            valid=step.valid,
        )
        self._obs = step.obs
        self._count(step, ended)
        full = rollout.full
        if full or step.truncated.any():
            where = np.ones_like(ended) if full else step.truncated
            rollout.add_next_obs(agent.normalize(step.next_obs), where)
        agent.observe(self._obs)
        if full:
            start = clock()
            self._learn()
            self.seconds["update"] += clock() - start
        return True

    def _choose(self, obs: NDArray[np.float32]) -> NDArray[np.float32]:
        agent = self.agent
        exploration = agent.explore(self.streams["exploration"], (len(obs),))
        if self._policy is not None and exploration.noise is not None:
            action = self._policy.sample(obs, exploration.noise)
        else:
            with torch.inference_mode():
                x = torch.from_numpy(obs).to(agent.device)
                action = agent.choose(x, exploration).cpu().numpy()
        if not np.isfinite(action).all():
            raise self._broken()
        return action

    def _count(self, step: VectorStep, ended: NDArray[np.bool_]) -> None:
        progress = self.progress
        progress.env_step += int(step.frames.sum())
        progress.agent_step += int(step.valid.sum())
        for i, reward in enumerate(step.reward.tolist()):
            progress.returns[i] += reward
            progress.lengths[i] += int(step.valid[i])
            if ended[i]:
                progress.ended_returns.append(progress.returns[i])
                progress.ended_lengths.append(progress.lengths[i])
                progress.episode += 1
                progress.returns[i], progress.lengths[i] = 0.0, 0
        progress.filled = self.rollout.at

    def _learn(self) -> None:
        """Go through the rollout some times in random order, then make room for the next."""
        algo, agent, progress = self.algo, self.agent, self.progress
        if algo.lr_decay:
            agent.lr_share.fill_(1 - progress.rollouts / max(self.rollouts, 1))
        sample, of_values = agent.prepare(self.rollout)
        stream = self.streams["update"]
        updates = [
            self._update(Minibatch(sample, rows), agent.draw(stream, len(rows)))
            for _ in range(algo.epochs)
            for rows in self._minibatches(len(sample.obs))
        ]
        progress.updates += len(updates)
        progress.rollouts += 1
        metrics = {name: value.item() for name, value in of_values.items()}
        for name in updates[0]:
            metrics[name] = torch.stack([one[name] for one in updates]).mean().item()
        losses = [value for name, value in metrics.items() if name.endswith("_loss")]
        if not all(math.isfinite(value) for value in losses):
            raise self._broken()
        self.last |= {n: value if math.isfinite(value) else None for n, value in metrics.items()}
        progress.value_max = metrics[agent.value_max]
        self.rollout.clear()
        progress.filled = 0

    def _minibatches(self, count: int) -> list[Tensor]:
        """Return the rows in random order, in parts of one size.

        The last part is filled up from the beginning of the order.
        """
        size = self.algo.batch_size
        order = torch.randperm(count, generator=self.streams["update"])
        parts = -(-count // size)
        rows = torch.cat([order, order[: parts * size - count]]).to(self.agent.device)
        return [*rows.view(parts, size)]

    def _metrics(self) -> dict[str, Any]:
        """Look at rows of the rollout from a stream of its own: it changes nothing."""
        progress, rollout = self.progress, self.rollout
        if progress.ended_returns:
            self.last["train/episode_return"] = float(np.mean(progress.ended_returns))
            self.last["train/episode_length"] = float(np.mean(progress.ended_lengths))
            progress.ended_returns, progress.ended_lengths = [], []
        flat = rollout.obs[: rollout.steps if progress.rollouts else rollout.at].flatten(0, 1)
        stream = self._stream(f"diagnostics/{progress.env_step}")
        index = torch.randint(len(flat), (BATCH_SIZE,), generator=stream)
        obs = flat.index_select(0, index).to(self.agent.device)
        return {**network_metrics(self.agent.inputs(obs))}

    def _state(self) -> tuple[dict[str, Tensor | np.ndarray], dict[str, Any]]:
        tensors: dict[str, Tensor | np.ndarray] = {"obs": self._obs}
        tensors |= {f"rollout/{name}": value for name, value in self.rollout.state().items()}
        tensors |= {f"env/{name}": value for name, value in self.envs.get_state().items()}
        return tensors, {}

    def _restore(self, checkpoint: Checkpoint) -> None:
        arrays = checkpoint.arrays
        stored = to_tensors(arrays, "rollout/")
        for name, value in self.rollout.state().items():
            value.copy_(stored[name])
        self.rollout.at = self.progress.filled
        self.envs.set_state(within(arrays, "env/"))
        if self.envs.can_resume:
            self._obs = arrays["obs"].copy()
            return
        self._warn(
            "Gymnasium's vector environments cannot save their state: new episodes begin, so that "
            "the run does not go on bit for bit as it would have"
        )
        self._obs = self.envs.reset()
        if self.rollout.at:  # the end of the episodes before is not known
            self.rollout.truncated[self.rollout.at - 1] = True
            last = self.agent.normalize(arrays["obs"])
            self.rollout.add_next_obs(last, np.ones(self.envs.num_envs, bool))
        self.progress.returns, self.progress.lengths = [0.0] * len(self._obs), [0] * len(self._obs)
