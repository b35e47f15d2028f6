"""Transitions as tensors."""

from typing import NamedTuple

from jaxtyping import Bool, Float, Num
from torch import Tensor


class Batch(NamedTuple):
    """Transitions, one per row.  Time limits are not terminal.

    Observations are vectors of float32, or images (channel, height, width) of uint8, which stay
    uint8 until the network scales them.
    """

    obs: Num[Tensor, "batch *obs"]
    action: Float[Tensor, "batch act"]
    reward: Float[Tensor, " batch"]
    next_obs: Num[Tensor, "batch *obs"]
    terminated: Bool[Tensor, " batch"]
