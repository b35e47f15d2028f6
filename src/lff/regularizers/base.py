"""Base of regularizers: a frozen config with hooks, each of which does nothing by default.

    wrap(network)          once, when a network has been built      dropout, spectral and layer norm
    rule(rule, kind)       once, when its optimizer is made         weight decay, the rule of B
    penalty(q, lagged_q)   in every critic loss                     functional regularization
    feature_penalty(Φ)     in the loss of fitted Q-iteration        singular values

Networks may be plain or stacked by :class:`lff.Ensemble`; a hook gets each layer of the trunk once.
"""

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lff.core.checks import Config
from lff.core.config import Registry
from lff.core.errors import BadInputError
from lff.nn import BasisLayer
from lff.nn.ensemble import NONLINEARITIES, StackedLinear
from lff.nn.parts import Rng
from lff.nn.trunks import SineCosine
from lff.optim import Rule

REGULARIZERS = Registry(
    "regularizer",
    {
        "weight-decay": "lff.regularizers.terms:WeightDecay",
        "basis": "lff.regularizers.terms:BasisRule",
        "dropout": "lff.regularizers.layers:Dropout",
        "functional": "lff.regularizers.terms:FunctionalRegularization",
        "spectral-norm": "lff.regularizers.layers:SpectralNorm",
        "layer-norm": "lff.regularizers.layers:LayerNorm",
        "singular-values": "lff.regularizers.terms:SingularValuePenalty",
    },
)
Values = Float[Tensor, "critic batch"]
Features = Float[Tensor, "critic batch width"]
Scalar = Float[Tensor, ""]
Where = Literal["actor", "critic", "both"]
Role = Literal["actor", "critic"]
ROLES: tuple[Role, ...] = ("actor", "critic")
Kind = Literal["weight", "basis", "other"]
"""The weights of a Linear layer or a convolution; B; or the rest: biases, scales and shifts."""


@dataclass(frozen=True, kw_only=True)
class Regularizer(Config):
    """Base class of regularizers: hooks that do nothing by default."""

    turn: ClassVar[int] = 0
    """When it wraps a network, lowest first, so that the order in a config does not matter."""
    penalizes: ClassVar[bool] = False
    """Whether there is a penalty, which needs the values of the lagging critics."""
    penalizes_features: ClassVar[bool] = False
    """Whether there is one on the last hidden layer, which SAC does not support."""
    where: Where = "both"
    """The networks it works on."""

    def works_on(self, role: Role) -> bool:
        """Return whether it works on the networks of this role."""
        return self.where in (role, "both")

    def wrap(self, network: nn.Module, generator: Rng = None) -> None:
        """Change a network that has just been built, in place."""

    def rule(self, rule: Rule, kind: Kind) -> Rule:  # noqa: ARG002
        """Return how a parameter of this kind is updated."""
        return rule

    def penalty(self, q: Values, lagged_q: Values) -> Scalar:  # noqa: ARG002
        """Return the term in the critic loss."""
        return q.new_zeros(())

    def feature_penalty(self, features: Features) -> Scalar:
        """Return the term in the loss for the input of the last layer."""
        return features.new_zeros(())


RegularizerConfig = Annotated[Regularizer, REGULARIZERS]


class LinearLike(nn.Module):
    """Base of layers that replace a Linear one and have its weight and bias."""


class Slot(NamedTuple):
    """Position of a module, ``parent.key``, and the width of its output."""

    parent: nn.Module
    key: str
    module: nn.Module
    width: int

    def put(self, module: nn.Module) -> None:
        """Replace the module by another."""
        self.parent.add_module(self.key, module)


def kinds(network: nn.Module) -> dict[str, Kind]:
    """Return the kind of every parameter, by name."""
    kinds: dict[str, Kind] = {}
    for name, _ in network.named_parameters():
        path, _, leaf = name.rpartition(".")
        owner = network.get_submodule(path)
        kinds[name] = "other"
        if isinstance(owner, BasisLayer) and leaf == "B":
            kinds[name] = "basis"
        elif leaf == "weight" and (is_linear(owner) or isinstance(owner, nn.Conv2d)):
            kinds[name] = "weight"
    return kinds


def is_linear(module: nn.Module) -> bool:
    """Return whether a module is a Linear layer: plain, stacked, or a regularizer's."""
    return isinstance(module, nn.Linear | StackedLinear | LinearLike)


def members_of(network: nn.Module) -> int | None:
    """Return how many members are stacked in a network, None if it is a plain one."""
    return getattr(_inner(network), "size", None)


def trunk_of(network: nn.Module) -> nn.Module:
    """Return the trunk of a network or of a stack of them."""
    inner = _inner(network)
    whole = getattr(inner, "stacked", inner)
    return getattr(whole, "trunk", whole)


def _inner(network: nn.Module) -> nn.Module:
    return getattr(network, "net", network)  # a pixel agent's, behind encoder and projection


def linears(network: nn.Module) -> list[Slot]:
    """Return the Linear layers of the trunk in order; the last is the output layer."""
    return [slot for slot in _slots(trunk_of(network)) if is_linear(slot.module)]


def nonlinearities(network: nn.Module) -> list[Slot]:
    """Return the nonlinearities of the trunk, each with the width of its output."""
    widths = [slot.width for slot in linears(network)]
    slots = [s for s in _slots(trunk_of(network)) if isinstance(s.module, NONLINEARITIES)]
    if len(slots) < len(widths) - 1:
        wanted = f"one after each of its {len(widths) - 1} hidden layers"
        remedy = "leave out what is put before or after them, or use another trunk"
        raise BadInputError("nonlinearities of the trunk", len(slots), wanted, remedy)
    return [
        slot._replace(width=width * (2 if isinstance(slot.module, SineCosine) else 1))
        for slot, width in zip(slots, widths, strict=False)
    ]


def _slots(module: nn.Module) -> Iterator[Slot]:
    for key, child in module.named_children():
        weight = child.get_parameter("weight") if is_linear(child) else torch.empty(0)
        yield Slot(module, key, child, weight.shape[-1 if weight.ndim == 3 else 0])
        yield from _slots(child)


def check_combination(regularizers: Sequence[Regularizer]) -> None:
    """Raise if two of a kind work on one network."""
    for role in ROLES:
        kinds_here = [type(one) for one in regularizers if one.works_on(role)]
        for kind in kinds_here:
            if kinds_here.count(kind) > 1:
                remedy = f"join them, or set where so that the {role} has one"
                raise BadInputError(f"regularizers of the {role}", kind.__name__, "unique", remedy)


def wrap(
    network: nn.Module, regularizers: Sequence[Regularizer], role: Role, *, generator: Rng = None
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


def penalty(regularizers: Sequence[Regularizer], q: Values, lagged_q: Values) -> Scalar:
    """Return the sum of the regularizers' terms in the critic loss."""
    penalties = (one.penalty(q, lagged_q) for one in regularizers if one.penalizes)
    return sum(penalties, start=q.new_zeros(()))


def feature_penalty(regularizers: Sequence[Regularizer], features: Features) -> Scalar:
    """Return the sum of the regularizers' terms on the features."""
    penalties = (one.feature_penalty(features) for one in regularizers if one.penalizes_features)
    return sum(penalties, start=features.new_zeros(()))
