"""The policy's law: a Gaussian squashed by tanh, with log σ_π squashed into [-5, 2], say."""

import math

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

LOG_STD_MIN, LOG_STD_MAX = -5.0, 2.0


def squash(
    head: Float[Tensor, "batch head"],
    noise: Float[Tensor, "batch act"],
    *,
    log_std_min: float = LOG_STD_MIN,
) -> tuple[Float[Tensor, "batch act"], Float[Tensor, " batch"]]:
    """Return a = tanh(μ + σε) and log π(a), from the actor's output and ε.

    log π = Σ [log N(ε) - log σ - log(1 - tanh²(u))], the last in its stable form
    2 (log 2 - u - softplus(-2u)).
    """
    mean, log_std = split_head(head, log_std_min=log_std_min)
    u = mean + log_std.exp() * noise
    normal = -0.5 * noise.square() - log_std - 0.5 * math.log(2 * math.pi)
    log_det = 2 * (math.log(2) - u - F.softplus(-2 * u))
    return u.tanh(), (normal - log_det).sum(dim=-1)


def split_head(
    head: Float[Tensor, "*batch head"], *, log_std_min: float = LOG_STD_MIN
) -> tuple[Float[Tensor, "*batch act"], Float[Tensor, "*batch act"]]:
    """Return μ and log σ_π, the latter squashed into [log_std_min, 2]."""
    mean, raw = head.chunk(2, dim=-1)
    span = LOG_STD_MAX - log_std_min
    return mean, log_std_min + 0.5 * span * (raw.tanh() + 1)
