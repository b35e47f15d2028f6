"""What a regularizer is: a frozen config with a few hooks, each of which does nothing by default.

    wrap(network)          once, when a network has been built      dropout, spectral and layer norm
    rule(rule, kind)       once, when its optimizer is made         weight decay, the rule of B
    penalty(q, lagged_q)   in every critic loss                     functional regularization
    feature_penalty(Φ)     in the loss of fitted Q-iteration        singular values

Networks may be plain or stacked by :class:`lff.Ensemble`; a hook sees each place of the trunk once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lff.core.checks import Config
from lff.core.registry import Registry
from lff.nn import BasisLayer, Ensemble, Network, PixelCritic, PixelHead
from lff.nn.ensemble import NONLINEARITIES, StackedLinear
from lff.nn.sine import SineCosine
from lff.optim import Rule

REGULARIZERS = Registry(
    "regularizer",
    {
        "weight-decay": "lff.regularizers.weight_decay:WeightDecay",
        "basis-rule": "lff.regularizers.basis:BasisRule",
        "dropout": "lff.regularizers.dropout:Dropout",
        "functional": "lff.regularizers.functional:FunctionalRegularization",
        "spectral-norm": "lff.regularizers.spectral:SpectralNorm",
        "layer-norm": "lff.regularizers.layer_norm:LayerNorm",
        "singular-values": "lff.regularizers.singular:SingularValuePenalty",
    },
)
Where = Literal["actor", "critic", "both"]
Role = Literal["actor", "critic"]
ROLES: tuple[Role, ...] = ("actor", "critic")
Kind = Literal["weight", "basis", "other"]
"""The weights of a Linear layer or a convolution; B; or the rest: biases, scales and shifts."""


@dataclass(frozen=True, kw_only=True)
class Regularizer(Config):
    """The hooks, none of which does anything here."""

    turn: ClassVar[int] = 0
    """When it wraps a network, lowest first, so that the order in a config does not matter."""
    penalizes: ClassVar[bool] = False
    """Whether there is a penalty, for which the lagging critics must be asked."""
    penalizes_features: ClassVar[bool] = False
    """Whether there is one on the last hidden layer, which SAC does not look at."""
    where: Where = "both"
    """The networks it works on."""

    def works_on(self, role: Role) -> bool:
        """Tell whether the actor or the critic is meant."""
        return self.where in (role, "both")

    def wrap(self, network: nn.Module, generator: torch.Generator | None = None) -> None:
        """Change a network that has just been built, in place."""

    def rule(self, rule: Rule, kind: Kind) -> Rule:  # noqa: ARG002
        """Return how a parameter of this kind is updated."""
        return rule

    def penalty(
        self,
        q: Float[Tensor, "critic batch"],
        lagged_q: Float[Tensor, "critic batch"],  # noqa: ARG002
    ) -> Float[Tensor, ""]:
        """Return what is added to the critic loss."""
        return q.new_zeros(())

    def feature_penalty(self, features: Float[Tensor, "critic batch width"]) -> Float[Tensor, ""]:
        """Return what is added to the loss for the input of the last layer."""
        return features.new_zeros(())


RegularizerConfig = Annotated[Regularizer, REGULARIZERS]


class OwnLinear(nn.Module):
    """Marks a layer that stands in for a Linear one and has its weight and bias."""


class Place(NamedTuple):
    """Where a module stands: ``parent.key``, and how wide its output is."""

    parent: nn.Module
    key: str
    module: nn.Module
    width: int

    def put(self, module: nn.Module) -> None:
        """Set another module in its place."""
        self.parent.add_module(self.key, module)


def kind_of(owner: nn.Module, name: str) -> Kind:
    """Return what kind of parameter ``owner.name`` is."""
    if isinstance(owner, BasisLayer):
        return "basis" if name == "B" else "other"
    matrix = is_linear(owner) or isinstance(owner, nn.Conv2d)
    return "weight" if name == "weight" and matrix else "other"


def kinds(network: nn.Module) -> dict[str, Kind]:
    """Return the kind of every parameter, by name."""
    found: dict[str, Kind] = {}
    for name, _ in network.named_parameters():
        path, _, leaf = name.rpartition(".")
        found[name] = kind_of(network.get_submodule(path), leaf)
    return found


def is_linear(module: nn.Module) -> bool:
    """Tell whether a module is a Linear layer: plain, stacked, or a regularizer's own."""
    return isinstance(module, nn.Linear | StackedLinear | OwnLinear)


def width_of(module: nn.Module) -> int:
    """Return the number of units of a Linear layer, 0 for anything else."""
    weight = getattr(module, "weight", None)
    if not is_linear(module) or not isinstance(weight, Tensor):
        return 0
    return weight.shape[-1] if weight.ndim == 3 else weight.shape[0]


def members_of(network: nn.Module) -> int | None:
    """Return how many members are stacked in a network, None if it is a plain one."""
    network = _inner(network)
    return network.size if isinstance(network, Ensemble) else None


def trunk_of(network: nn.Module) -> nn.Module:
    """Return the trunk of a network or of a stack of them."""
    network = _inner(network)
    whole = network.stacked if isinstance(network, Ensemble) else network
    return whole.trunk if isinstance(whole, Network) else whole


def _inner(network: nn.Module) -> nn.Module:
    """Return the network behind encoder and projection, if there are any."""
    head = network.head if isinstance(network, PixelCritic) else network
    return head.net if isinstance(head, PixelHead) else head


def linears(network: nn.Module) -> list[Place]:
    """Return the Linear layers of the trunk in order; the last is the output layer."""
    return [place for place in _places(trunk_of(network)) if is_linear(place.module)]


def nonlinearities(network: nn.Module) -> list[Place]:
    """Return the nonlinearities of the trunk, each with the width of its output."""
    widths = [place.width for place in linears(network)]
    found = [p for p in _places(trunk_of(network)) if isinstance(p.module, NONLINEARITIES)]
    double = [2 if isinstance(place.module, SineCosine) else 1 for place in found]
    return [
        place._replace(width=factor * width)
        for place, width, factor in zip(found, widths, double, strict=False)
    ]


def _places(module: nn.Module) -> Iterator[Place]:
    for key, child in module.named_children():
        yield Place(module, key, child, width_of(child))
        yield from _places(child)
