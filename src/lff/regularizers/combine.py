"""Several regularizers together: which of them contradict each other, and the calls of hooks."""

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
        seen: set[type] = set()
        for regularizer in regularizers:
            kind = type(regularizer)
            if regularizer.works_on(role) and kind in seen:
                remedy = f"join them, or set where so that the {role} has one"
                raise BadInputError(f"regularizers of the {role}", kind.__name__, "unique", remedy)
            if regularizer.works_on(role):
                seen.add(kind)


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
    found = {}
    for name, kind in kinds(network).items():
        rule = Rule(lr)
        for regularizer in regularizers:
            if regularizer.works_on(role):
                rule = regularizer.rule(rule, kind)
        found[name] = rule
    return found


def penalty(
    regularizers: Sequence[Regularizer],
    q: Float[Tensor, "critic batch"],
    lagged_q: Float[Tensor, "critic batch"],
) -> Float[Tensor, ""]:
    """Return the sum of what regularizers add to the critic loss."""
    total = q.new_zeros(())
    for regularizer in regularizers:
        if regularizer.penalizes:
            total = total + regularizer.penalty(q, lagged_q)
    return total


def feature_penalty(
    regularizers: Sequence[Regularizer], features: Float[Tensor, "critic batch width"]
) -> Float[Tensor, ""]:
    """Return the sum of what regularizers add for the features."""
    total = features.new_zeros(())
    for regularizer in regularizers:
        if regularizer.penalizes_features:
            total = total + regularizer.feature_penalty(features)
    return total
