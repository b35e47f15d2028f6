"""Parts of policy-gradient algorithms: advantages, PPO's clipped losses, the Gaussian policy."""

import math

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

Steps = Float[Tensor, "time env"]
Ends = Bool[Tensor, "time env"]
Rows = Float[Tensor, " batch"]
Scalar = Float[Tensor, ""]


def advantages(
    reward: Steps,
    value: Steps,
    next_value: Steps,
    terminated: Ends,
    truncated: Ends,
    *,
    gamma: float,
    gae_lambda: float,
) -> Steps:
    """Return the generalized advantage estimates (Schulman et al., 2016) of some environments.

        δ_t = r_t + γ (1 - terminated_t) V(s'_t) - V(s_t)
        A_t = δ_t + γ λ (1 - ended_t) A_{t+1},        ended = terminated or truncated

    s'_t is the observation that the action led to, also where an environment has been reset since:
    it bootstraps through time limits.  ``next_value`` is V(s'), of any value where s' is terminal.
    The targets of V are A_t + V(s_t), the λ-returns.

    >>> one, no = torch.ones(2, 1), torch.zeros(2, 1, dtype=torch.bool)
    >>> A = advantages(one, 0 * one, 0 * one, no, no, gamma=0.5, gae_lambda=1.0)
    >>> A.squeeze(1)
    tensor([1.5000, 1.0000])
    """
    future = torch.where(terminated, 0.0, next_value)
    delta = (reward + gamma * future - value).double().numpy()
    keep = gamma * gae_lambda * (~(terminated | truncated)).double().numpy()
    found = np.empty_like(delta)
    running = np.zeros(delta.shape[1])
    for t in range(len(delta) - 1, -1, -1):
        running = delta[t] + keep[t] * running
        found[t] = running
    return torch.from_numpy(found).to(reward.dtype)


def explained_variance(value: Rows, target: Rows) -> Scalar:
    """Return 1 - Var(target - V) / Var(target): 1 is perfect, 0 no better than a constant.

    NaN where the targets do not vary.
    """
    spread = target.double().var(correction=0)
    left = (target.double() - value.double()).var(correction=0)
    return torch.where(spread > 0, 1 - left / spread, torch.nan).to(value.dtype)


def policy_loss(log_prob: Rows, old_log_prob: Rows, advantage: Rows, *, clip: float) -> Scalar:
    """-mean min(ρ A, clip(ρ, 1 ± c) A)."""
    ratio = (log_prob - old_log_prob).exp()
    clipped = ratio.clamp(1 - clip, 1 + clip)
    return -torch.minimum(ratio * advantage, clipped * advantage).mean()


def value_loss(value: Rows, old_value: Rows, target: Rows, *, clip: float | None) -> Scalar:
    """½ mean (V - R)², or the larger of it and that of V held within ±c of V_old."""
    error = (value - target).square()
    if clip is not None:
        held = old_value + (value - old_value).clamp(-clip, clip)
        error = torch.maximum(error, (held - target).square())
    return 0.5 * error.mean()


def standardized(advantage: Rows) -> Rows:
    """Return the advantages with mean 0 and variance 1."""
    return (advantage - advantage.mean()) / (advantage.std() + 1e-8)


def log_probability(
    action: Float[Tensor, "batch act"],
    mean: Float[Tensor, "batch act"],
    log_std: Float[Tensor, " act"],
) -> Rows:
    """Return log π(a|s) of a Gaussian: Σ [-½ ((a - μ)/σ)² - log σ - ½ log 2π]."""
    z = (action - mean) * (-log_std).exp()
    return (-0.5 * z.square() - log_std - 0.5 * math.log(2 * math.pi)).sum(dim=-1)


def entropy(log_std: Float[Tensor, " act"]) -> Scalar:
    """Return the entropy of a Gaussian policy, Σ [log σ + ½ log 2πe], for any observation."""
    return (log_std + 0.5 * math.log(2 * math.pi * math.e)).sum()
