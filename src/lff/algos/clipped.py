"""PPO's two losses, each of which stops to reward a change when it has gone far enough."""

import torch
from jaxtyping import Float
from torch import Tensor

SMALL = 1e-8
"""Added to the standard deviation of advantages."""


def policy_loss(
    log_prob: Float[Tensor, " batch"],
    old_log_prob: Float[Tensor, " batch"],
    advantage: Float[Tensor, " batch"],
    *,
    clip: float,
) -> Float[Tensor, ""]:
    """-mean min(ρ A, clip(ρ, 1 ± c) A)."""
    ratio = (log_prob - old_log_prob).exp()
    clipped = ratio.clamp(1 - clip, 1 + clip)
    return -torch.minimum(ratio * advantage, clipped * advantage).mean()


def value_loss(
    value: Float[Tensor, " batch"],
    old_value: Float[Tensor, " batch"],
    target: Float[Tensor, " batch"],
    *,
    clip: float | None,
) -> Float[Tensor, ""]:
    """½ mean (V - R)², or the larger of it and that of V held within ±c of V_old."""
    error = (value - target).square()
    if clip is not None:
        held = old_value + (value - old_value).clamp(-clip, clip)
        error = torch.maximum(error, (held - target).square())
    return 0.5 * error.mean()


def standardized(advantage: Float[Tensor, " batch"]) -> Float[Tensor, " batch"]:
    """Return the advantages with mean 0 and variance 1."""
    return (advantage - advantage.mean()) / (advantage.std() + SMALL)
