"""What is logged beside the usual: the state of B, and whether Q has left what rewards can give."""

import math
from collections.abc import Iterator
from typing import Any

from torch import nn

from lff.algos import SAC
from lff.nn import BasisLayer


def basis_metrics(agent: SAC) -> dict[str, float]:
    """Return spread and norm of B, per network."""
    metrics = {}
    for role, network in (("actor", agent.actor), ("critic", agent.critic)):
        for layer in _bases(network):
            metrics[f"lff/{role}_B_std"] = layer.B.std().item()
            metrics[f"lff/{role}_B_norm"] = layer.B.norm().item()
    return metrics


def first_bad_tensor(agent: SAC) -> str | None:
    """Name the first tensor of the agent, in the order of an update, with a NaN or an infinity.

    The moments of Adam come before the weights they move: theirs is the gradient.
    """
    state = agent.state()
    for name in sorted(state, key=_turn):
        value = state[name]
        if value.is_floating_point() and not bool(value.isfinite().all()):
            return name
    return None


class DivergenceWatch:
    """Tells, once, when |Q| passes what the rewards can give: r_max / (1 - γ)."""

    def __init__(self, gamma: float) -> None:
        self.gamma = gamma
        self.largest_reward = 0.0
        self.seen_at: int | None = None

    def reward(self, value: float) -> None:
        """Take note of a reward."""
        self.largest_reward = max(self.largest_reward, abs(value))

    @property
    def bound(self) -> float:
        """The largest |Q| that the rewards seen so far can give, entropy left aside."""
        return self.largest_reward / (1 - self.gamma)

    def look(self, q_max: float, env_step: int) -> str | None:
        """Return a warning if |Q| has just passed the bound for the first time."""
        if self.seen_at is not None or not (q_max > self.bound or math.isnan(q_max)):
            return None
        self.seen_at = env_step
        return (
            f"|Q| of the critic reached {q_max:.3g} at step {env_step:,}, more than the rewards "
            f"seen can give, r_max/(1-γ) = {self.bound:.3g}. Usual causes: no target network or "
            "a fast one, a learning rate too high, reward or observation scale, a network that "
            "extrapolates. Try LFF, layer normalisation, or a slower target."
        )

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint must hold."""
        return {"largest_reward": self.largest_reward, "seen_at": self.seen_at}

    def load_state(self, state: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        self.largest_reward = float(state["largest_reward"])
        self.seen_at = state["seen_at"]


_ORDER = ("adam/critic/", "critic/", "adam/actor/", "actor/", "adam/alpha/", "alpha/", "target/")


def _turn(name: str) -> int:
    """Return when an update computes a tensor; sorting by it keeps the order of the layers."""
    return next((i for i, part in enumerate(_ORDER) if name.startswith(part)), len(_ORDER))


def _bases(network: nn.Module) -> Iterator[BasisLayer]:
    for layer in network.modules():
        if isinstance(layer, BasisLayer):
            yield layer
