"""Combinations of regularizers: contradictions among them, and the calls of their hooks."""

import functools
from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lff.core.errors import BadInputError
from lff.optim import Rule
from lff.regularizers.base import ROLES, Regularizer, Role, kinds


def check_combination(regularizers: Sequence[Regularizer]) -> None:
    """Raise if two of a kind work on one network."""
    for role in ROLES:
        kinds_here = [type(one) for one in regularizers if one.works_on(role)]
        for kind in kinds_here:
            if kinds_here.count(kind) > 1:
                remedy = f"join them, or set where so that the {role} has one"
                raise BadInputError(f"regularizers of the {role}", kind.__name__, "unique", remedy)


def wrap(
    network: nn.Module,
    regularizers: Sequence[Regularizer],
    role: Role,
    *,
    generator: torch.Generator | None = None,
) -> None:
    """Let every regularizer of this role change the network, in place."""
    for regularizer in sorted(regularizers, key=lambda one: one.turn):
        if regularizer.works_on(role):
            regularizer.wrap(network, generator)


def rules(
    network: nn.Module, regularizers: Sequence[Regularizer], role: Role, *, lr: float
) -> Mapping[str, Rule]:
    """Return how each parameter of a network is updated, by name."""
    active = [regularizer for regularizer in regularizers if regularizer.works_on(role)]
    return {
        name: functools.reduce(lambda rule, one: one.rule(rule, kind), active, Rule(lr))
        for name, kind in kinds(network).items()
    }


def penalty(
    regularizers: Sequence[Regularizer],
    q: Float[Tensor, "critic batch"],
    lagged_q: Float[Tensor, "critic batch"],
) -> Float[Tensor, ""]:
    """Return the sum of what regularizers add to the critic loss."""
    penalties = (one.penalty(q, lagged_q) for one in regularizers if one.penalizes)
    return sum(penalties, start=q.new_zeros(()))


def feature_penalty(
    regularizers: Sequence[Regularizer], features: Float[Tensor, "critic batch width"]
) -> Float[Tensor, ""]:
    """Return the sum of what regularizers add for the features."""
    penalties = (one.feature_penalty(features) for one in regularizers if one.penalizes_features)
    return sum(penalties, start=features.new_zeros(()))
