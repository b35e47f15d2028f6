"""What a checkpoint of PPO holds: the agent, and the rollout that it has learned from last."""

from collections.abc import Mapping

import torch
from torch import Tensor

from lff.algos import PPO
from lff.core.errors import CorruptError
from lff.core.seeding import stream_seed
from lff.store import Checkpoint
from lff.training.arrays import to_tensors
from lff.training.ppo_config import PPOTrainConfig


def ppo_agent(config: PPOTrainConfig, checkpoint: Checkpoint, tensors: Mapping[str, Tensor]) -> PPO:
    """Return the agent that has these tensors; the stored rollout tells its sizes."""
    obs, action = (checkpoint.arrays.get(f"rollout/{name}") for name in ("obs", "action"))
    if obs is None or action is None:
        raise CorruptError(f"{checkpoint.path} holds no rollout; it is not ours")
    weights = torch.Generator().manual_seed(stream_seed(config.seed, "weights"))
    agent = PPO(
        config.algo,
        obs.shape[-1],
        action.shape[-1],
        num_envs=config.num_envs,
        generator=weights,
    )
    found = {name: value.shape for name, value in agent.state().items()}
    if found != {name: value.shape for name, value in tensors.items()}:
        raise CorruptError(
            f"{checkpoint.path} holds an agent of another config than {config.env}'s; "
            "was it written by another version?"
        )
    agent.load_state(tensors)
    return agent


def last_rollout(checkpoint: Checkpoint, rows: int) -> tuple[Tensor, Tensor] | None:
    """Return observations, as the networks saw them, and actions; None before there were any."""
    counters = checkpoint.meta["counters"]
    stored = to_tensors(checkpoint.arrays, "rollout/")
    obs, action = stored["obs"], stored["action"]
    filled = len(obs) if counters["rollouts"] else int(counters["filled"])
    if not filled:
        return None
    flat = (part[:filled].flatten(0, 1)[-rows:] for part in (obs, action))
    first, second = flat
    return first, second
