"""The losses of soft actor-critic, as functions, and the random numbers of one update."""

from collections.abc import Mapping
from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor

from lff.data import Batch

Masks = Mapping[str, Mapping[str, Tensor]]


class Noise(NamedTuple):
    """The random numbers of one update, drawn outside it."""

    action: Float[Tensor, "batch act"]
    next_action: Float[Tensor, "batch act"]
    target: Float[Tensor, " batch"]
    masks: Masks = {}  # noqa: RUF012  never changed
    """Dropout masks of each pass: critic, next_critic, actor_critic, actor, next_actor."""


def bootstrap(
    batch: Batch,
    next_q: Float[Tensor, "critic batch"],
    next_log_prob: Float[Tensor, " batch"],
    *,
    alpha: Float[Tensor, ""],
    gamma: float,
    noise: Float[Tensor, " batch"] | float = 0.0,
) -> Float[Tensor, " batch"]:
    """Return the targets y."""
    next_value = next_q.amin(dim=0) - alpha * next_log_prob
    return batch.reward + gamma * ~batch.terminated * next_value + noise


def critic_loss(
    q: Float[Tensor, "critic batch"], target_q: Float[Tensor, " batch"]
) -> Float[Tensor, ""]:
    """Σ_i mean (Q_i - y)²."""
    return (q - target_q).square().mean(dim=1).sum()


def actor_loss(
    q: Float[Tensor, "critic batch"],
    log_prob: Float[Tensor, " batch"],
    alpha: Float[Tensor, ""],
) -> Float[Tensor, ""]:
    """Mean (α log π - min_i Q_i)."""
    return (alpha * log_prob - q.amin(dim=0)).mean()


def alpha_gradient(
    alpha: Float[Tensor, ""], log_prob: Float[Tensor, " batch"], target_entropy: float
) -> Float[Tensor, ""]:
    """Derivative of L_α = mean α (-log π - H̄) by log α, which is L_α itself."""
    return alpha * (-log_prob - target_entropy).mean()
