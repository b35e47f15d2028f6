"""Generalised advantage estimation (Schulman et al., 2016), with time limits that are no ends.

    δ_t = r_t + γ (1 - terminated_t) V(s'_t) - V(s_t)
    A_t = δ_t + γ λ (1 - ended_t) A_{t+1},        ended = terminated or truncated

s'_t is the observation that the action led to, also where an environment has been reset since: a
time limit cuts the sum, not the future.  The targets of V are A_t + V(s_t), the λ-returns.
"""

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor


def advantages(
    reward: Float[Tensor, "time env"],
    value: Float[Tensor, "time env"],
    next_value: Float[Tensor, "time env"],
    terminated: Bool[Tensor, "time env"],
    truncated: Bool[Tensor, "time env"],
    *,
    gamma: float,
    gae_lambda: float,
) -> Float[Tensor, "time env"]:
    """Return A; ``next_value`` is V(s') of each step, whatever it is where s' is terminal.

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


def explained_variance(
    value: Float[Tensor, " batch"], target: Float[Tensor, " batch"]
) -> Float[Tensor, ""]:
    """Return 1 - Var(target - V) / Var(target): 1 is perfect, 0 no better than a constant.

    NaN where the targets do not vary.
    """
    spread = target.double().var(correction=0)
    left = (target.double() - value.double()).var(correction=0)
    return torch.where(spread > 0, 1 - left / spread, torch.nan).to(value.dtype)
