"""Metrics of networks beside the losses: B, features and units on a batch of the replay; NaNs; and
whether |Q| has passed what rewards can give.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from lff.algos.base import Agent, Probe
from lff.nn import BasisLayer, activations, dormant_share, effective_rank
from lff.nn.phases import measure_phases

BATCH_SIZE = 512
"""Transitions that the networks are looked at with."""
IMAGES = 32
"""The same for images."""
BINS = 20
"""Bins of B's histogram, from -4 to 4 standard deviations; the outer ones hold what lies beyond."""
Metric = float | list[int]


def network_metrics(probes: Iterable[Probe]) -> dict[str, Metric]:
    """Return metrics of networks on the inputs they are given: B, phases, features and units."""
    metrics: dict[str, Metric] = {}
    for role, network, inputs in probes:
        for layer in network.modules():
            if isinstance(layer, BasisLayer):
                metrics |= _basis_metrics(role, layer, torch.cat(inputs, dim=-1))
        hidden = activations(network, *inputs)
        if hidden is not None:
            finite = bool(hidden.features.isfinite().all())
            rank = effective_rank(hidden.features).double().mean().item() if finite else math.nan
            metrics[f"net/{role}_effective_rank"] = rank
            metrics[f"net/{role}_dormant"] = dormant_share(hidden.hidden)
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


def first_bad_tensor(agent: Agent) -> str | None:
    """Name the first tensor of the agent, in the order of an update, with a NaN or an infinity.

    The moments of Adam come before the weights they move: theirs is the gradient.
    """
    floats = ((name, x) for name, x in agent.state().items() if x.is_floating_point())
    return next((name for name, x in floats if not bool(x.isfinite().all())), None)


@dataclass
class DivergenceWatch:
    """Reports, once, that |Q| passes what rewards can give (:meth:`Agent.value_limit`)."""

    agent: Agent
    largest_reward: float = 0.0
    seen_at: int | None = None

    def reward(self, value: float) -> None:
        """Record a reward."""
        self.largest_reward = max(self.largest_reward, abs(value))

    def passed(self, value_max: float, env_step: int) -> bool:
        """Return whether |Q| has just passed the limit for the first time."""
        if self.seen_at is not None or value_max <= self.largest_reward:
            return False
        if value_max <= self.agent.value_limit(self.largest_reward):
            return False
        self.seen_at = env_step
        return True

    def explain(self, q: Tensor) -> str:
        """Return the warning, with the worst critic and usual causes; q is (critic, batch)."""
        largest = q.abs().amax(dim=1)
        worst = int(largest.argmax())
        limit = self.agent.value_limit(self.largest_reward)
        return (
            f"|Q| passed what rewards and entropy can give at step {self.seen_at:,}: critic "
            f"{worst + 1} of {len(q)} says {largest[worst].item():.3g}, and the limit for rewards "
            f"up to {self.largest_reward:.3g} is {limit:.3g}. Usual causes: no target network or a "
            "fast one, a learning rate too high, the scale of rewards or observations, a network "
            "that extrapolates. Try LFF, --with layer-norm, or a slower target."
        )
