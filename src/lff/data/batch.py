"""Transitions as tensors."""

from typing import NamedTuple

from jaxtyping import Bool, Float
from torch import Tensor


class Batch(NamedTuple):
    """Transitions, one per row.  Time limits are not terminal."""

    obs: Float[Tensor, "batch obs"]
    action: Float[Tensor, "batch act"]
    reward: Float[Tensor, " batch"]
    next_obs: Float[Tensor, "batch obs"]
    terminated: Bool[Tensor, " batch"]
