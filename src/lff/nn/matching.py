"""Arithmetic of parameter-matched baselines.

The count of a baseline is affine in its free width w, count(w) = a + b·w, so two counts give the
exact w.  Counting builds the real networks without storage (torch's meta device), hence holds for
every front and trunk.
"""

import functools
from typing import Any, Literal

import torch
from torch import nn

from lff.core.errors import BadInputError
from lff.nn.mlp import Identity, MLPTrunk

MatchRule = Literal["exact", "paper", "readme"]
NAMED_WIDTHS = {"paper": 1100, "readme": 1024}


def num_parameters(module: nn.Module) -> int:
    """Return the number of trained parameters; a frozen B is a buffer and does not count."""
    return sum(parameter.numel() for parameter in module.parameters())


@functools.lru_cache(maxsize=1024)
def count(config: Any, in_features: int, out_features: int) -> int:
    """Return the exact number of parameters of a network or trunk, without allocating it."""
    with torch.device("meta"):
        return num_parameters(config.build(in_features, out_features))


def hidden_widths(trunk: Any) -> tuple[int, ...]:
    """Return the widths of a trunk's hidden layers."""
    hidden: tuple[int, ...] | None = getattr(trunk, "hidden", None)
    if hidden is None:
        remedy = "give the trunk a field hidden, or state an MLPTrunk by hand"
        raise BadInputError("trunk", trunk, "a trunk with hidden widths", remedy)
    return hidden


def later_widths(like: Any) -> tuple[int, ...]:
    """Return the MLP's widths after the free one: a front counts as a layer."""
    return hidden_widths(like.trunk)[isinstance(like.front, Identity) :]


def exact_width(like: Any, in_features: int, out_features: int, later: tuple[int, ...]) -> int:
    """Return the first width of nearest count; below 1 if the later layers alone are larger."""
    goal = count(like, in_features, out_features)
    small, large = (count(MLPTrunk((w, *later)), in_features, out_features) for w in (1, 2))
    return solve(goal, small, large)


def matched_widths(
    like: Any, in_features: int, out_features: int, *, rule: MatchRule
) -> tuple[int, ...]:
    """Return the hidden widths of the MLP that a network is fairly compared with.

    ``exact`` is the width whose count is nearest (off by half a unit's weights at the most, under
    0.5 % at the sizes that matter).  A network smaller than the later layers alone (deep Fourier
    features have half the weights) is matched with fewer of them.
    """
    later = later_widths(like)
    if rule != "exact":
        return (NAMED_WIDTHS[rule], *later)
    for skipped in range(len(later) + 1):
        width = exact_width(like, in_features, out_features, later[skipped:])
        if width >= 1:
            return (width, *later[skipped:])
    return (1,)


def solve(goal: int, at_one: int, at_two: int) -> int:
    """Return the integer w nearest to the solution of a + b·w = goal, in exact arithmetic."""
    slope = at_two - at_one
    return (2 * (goal - at_one) + slope) // (2 * slope) + 1
