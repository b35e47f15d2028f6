"""PPO's clipped policy and value losses, and the Gaussian policy that they are of."""

import math

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


def log_probability(
    action: Float[Tensor, "batch act"],
    mean: Float[Tensor, "batch act"],
    log_std: Float[Tensor, " act"],
) -> Float[Tensor, " batch"]:
    """Return log π(a|s) of a Gaussian: Σ [-½ ((a - μ)/σ)² - log σ - ½ log 2π]."""
    z = (action - mean) * (-log_std).exp()
    return (-0.5 * z.square() - log_std - 0.5 * math.log(2 * math.pi)).sum(dim=-1)


def entropy(log_std: Float[Tensor, " act"]) -> Float[Tensor, ""]:
    """Return H of it: Σ [log σ + ½ log 2πe], whatever the observation."""
    return (log_std + 0.5 * math.log(2 * math.pi * math.e)).sum()
