"""Features of a network on a batch, their effective rank, and dormant units.

Used by the trainer's metrics and by fitted Q-iteration; works on any network of ours and on a
stacked ensemble, whose members keep their leading axis.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lff.nn.ensemble import NONLINEARITIES, StackedLinear

RANK_DELTA = 0.01
"""δ of Kumar et al. (2021): the share of the singular values that may be left out."""
DORMANT_TAU = 0.025
"""τ of Sokar et al. (2023): a unit below this share of its layer's mean activity is dormant."""


@dataclass(frozen=True)
class Activations:
    """Activations of one forward pass."""

    features: Tensor
    """Input of the last Linear layer, ``(*member, batch, width)``."""
    hidden: tuple[Tensor, ...]
    """Outputs of the nonlinearities, first to last, ``(*member, batch, width)``."""


@torch.no_grad()
def activations(network: nn.Module, *inputs: Tensor) -> Activations | None:
    """Run the network on a batch and keep its hidden activations; None if it lacks a Linear."""
    hidden: list[Tensor] = []
    features: list[Tensor] = []
    hooks = []
    for module in network.modules():
        if isinstance(module, NONLINEARITIES):
            hooks.append(module.register_forward_hook(lambda _m, _x, y: hidden.append(y)))
        elif isinstance(module, nn.Linear | StackedLinear):
            hooks.append(module.register_forward_pre_hook(lambda _m, x: features.append(x[0])))
    try:
        network(*inputs)
    finally:
        for hook in hooks:
            hook.remove()
    return Activations(features[-1], tuple(hidden)) if features else None


def effective_rank(
    features: Float[Tensor, "*member batch width"], *, delta: float = RANK_DELTA
) -> Int[Tensor, "*member"]:
    """srank_δ = min {k : Σ_{i≤k} σ_i ≥ (1 - δ) Σ_i σ_i}, σ the singular values, largest first.

    >>> effective_rank(torch.eye(5))
    tensor(5)
    >>> effective_rank(torch.ones(7, 3))
    tensor(1)
    """
    values = torch.linalg.svdvals(features.double())
    share = values.cumsum(dim=-1) / values.sum(dim=-1, keepdim=True).clamp_min(1e-300)
    # counting what lies below leaves rounding of the last sum without effect
    rank = (share < 1 - delta).sum(dim=-1) + 1
    return torch.where(values.sum(dim=-1) > 0, rank, 0)


def dormant_share(hidden: tuple[Tensor, ...], *, tau: float = DORMANT_TAU) -> float:
    """Share of the hidden units whose score is at most τ, over all layers and members.

    The score of a unit is its mean absolute activation over the batch divided by the mean of that
    over its layer.

    >>> dormant_share((torch.tensor([[1.0, 1.0, 0.0, 2.0], [1.0, 3.0, 0.0, 0.0]]),))
    0.25
    """
    dormant, units = 0, 0
    for layer in hidden:
        activity = layer.abs().mean(dim=-2)
        dormant += int((activity <= tau * activity.mean(dim=-1, keepdim=True)).sum())
        units += activity.numel()
    return dormant / units if units else 0.0
