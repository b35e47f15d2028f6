"""PPO's law of actions: a Gaussian with a standard deviation that no observation changes."""

import math

from jaxtyping import Float
from torch import Tensor


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
