"""What is logged beside the usual: the state of B, what the networks make of a batch of the replay,
and whether Q has left what rewards can give.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from lff.algos import PPO, SAC
from lff.data import Batch
from lff.nn import BasisLayer, PixelCritic, activations, dormant_share, effective_rank
from lff.nn.phases import measure_phases

BATCH_SIZE = 512
"""Transitions that the networks are looked at with."""
IMAGES = 32
"""The same for images."""
BINS = 20
"""Bins of B's histogram, from -4 to 4 standard deviations; the outer ones hold what lies beyond."""
Metric = float | list[int]


def network_metrics(agent: SAC, batch: Batch) -> dict[str, Metric]:
    """Return what can be said of each network on a batch: B, its phases, features and units."""
    obs, action = agent.normalize(batch.obs.to(agent.device)), batch.action.to(agent.device)
    metrics: dict[str, Metric] = {}
    critic: nn.Module = agent.critic
    if isinstance(critic, PixelCritic):  # one B, before what both networks see
        for layer in _bases(critic):
            metrics |= _basis_metrics("critic", layer, obs / 255)
        with torch.inference_mode():
            obs, critic = critic.encoder(obs), critic.head
    return metrics | look_at({"actor": (agent.actor, (obs,)), "critic": (critic, (obs, action))})


def look_at(
    networks: Mapping[str, tuple[nn.Module, tuple[Tensor, ...]]],
) -> dict[str, Metric]:
    """Return the same for networks by role, each with the inputs that it sees."""
    metrics: dict[str, Metric] = {}
    for role, (network, inputs) in networks.items():
        for layer in _bases(network):
            metrics |= _basis_metrics(role, layer, torch.cat(inputs, dim=-1))
        seen = activations(network, *inputs)
        if seen is not None:
            finite = bool(seen.features.isfinite().all())
            rank = effective_rank(seen.features).double().mean().item() if finite else math.nan
            metrics[f"net/{role}_effective_rank"] = rank
            metrics[f"net/{role}_dormant"] = dormant_share(seen.hidden)
    return metrics


def _basis_metrics(role: str, layer: BasisLayer, x: Tensor) -> dict[str, Metric]:
    B = layer.B.detach()
    std = B.std().item()
    phases = measure_phases(layer, x)
    low, middle, high = phases.quantiles
    return {
        f"lff/{role}_B_std": std,
        f"lff/{role}_B_norm": B.norm().item(),
        f"lff/{role}_B_histogram": _histogram(B, std),
        f"lff/{role}_phase_q05": low,
        f"lff/{role}_phase_q50": middle,
        f"lff/{role}_phase_q95": high,
        f"lff/{role}_wave_share": phases.wave_share,
    }


def _histogram(B: Tensor, std: float) -> list[int]:
    place = (B.flatten() / max(std, 1e-30) + 4) * (BINS / 8)
    counts = torch.bincount(place.nan_to_num().clamp(0, BINS - 1).long(), minlength=BINS)
    return [int(count) for count in counts]


def first_bad_tensor(agent: PPO | SAC) -> str | None:
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
    """Tells, once, when |Q| passes what rewards and entropy can give.

    The bound is (r_max + α |A| log 2) / (1 - γ): r_max is the largest |reward| seen, and no policy
    on [-1, 1]^|A| has more entropy than |A| log 2.  Without the second part SAC on a task of small
    rewards would be called divergent from its first update on.
    """

    def __init__(self, gamma: float, *, action_dim: int) -> None:
        self.gamma = gamma
        self.action_dim = action_dim
        self.largest_reward = 0.0
        self.seen_at: int | None = None

    def reward(self, value: float) -> None:
        """Take note of a reward."""
        self.largest_reward = max(self.largest_reward, abs(value))

    def bound(self, alpha: float) -> float:
        """Return the largest |Q| that the rewards seen so far can give at this temperature."""
        entropy = alpha * self.action_dim * math.log(2)
        return (self.largest_reward + entropy) / (1 - self.gamma)

    def passed(self, q_max: float, alpha: float, env_step: int) -> bool:
        """Tell whether |Q| has just passed the bound for the first time."""
        if self.seen_at is not None or q_max <= self.bound(alpha):
            return False
        self.seen_at = env_step
        return True

    def explain(self, q: Tensor, alpha: float) -> str:
        """Say what was seen, in which critic, and what usually causes it; q is (critic, batch)."""
        largest = q.abs().amax(dim=1)
        worst = int(largest.argmax())
        return (
            f"|Q| passed what rewards and entropy can give at step {self.seen_at:,}: critic "
            f"{worst + 1} of {len(q)} says {largest[worst].item():.3g}, and "
            f"(r_max + α|A| log 2)/(1-γ) is {self.bound(alpha):.3g} with "
            f"r_max {self.largest_reward:.3g}. Usual causes: no target network or a fast one, a "
            "learning rate too high, the scale of rewards or observations, a network that "
            "extrapolates. Try LFF, --layer-norm, or a slower target."
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
