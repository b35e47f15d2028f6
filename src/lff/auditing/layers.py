"""Basis layers of an agent: their locations, the optimizers that train them, and target copies."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from torch import Tensor, nn
from torch.optim import Optimizer

from lff.nn.ensemble import StackedByVmap
from lff.nn.fourier import BasisLayer

TARGET = re.compile(r"targ|tgt|lagged|slow|polyak|(^|_)(old|ema|avg|average|averaged|bar)(_|$)")
ACTOR = re.compile(r"(?<!extr)actor|policy|(^|_)pi(_|$)")  # an extractor is not an actor


@dataclass(frozen=True)
class Location:
    """Path to a layer, and the network that holds it."""

    name: str
    parent: nn.Module | None

    @property
    def _words(self) -> list[str]:
        words = self.name.lower().split(".")
        return words[1:] if words[0] == "policy" else words  # SB3 keeps all networks in a policy

    @property
    def is_target(self) -> bool:
        """Named like a target network."""
        return any(TARGET.search(word) for word in self._words)

    @property
    def is_actor(self) -> bool:
        """Named like an actor."""
        return any(ACTOR.search(word) for word in self._words)

    @property
    def stem(self) -> str:
        """The path without its digits: q1 and q2 have the same."""
        return re.sub(r"\d+", "", self.name)


@dataclass
class AuditedLayer:
    """Layer (one member of it, in an ensemble) and all its locations."""

    layer: BasisLayer
    B: Tensor
    """The member's B, (rows, in_features)."""
    parameter: Tensor
    """The tensor that an optimizer would hold: all members' B."""
    suffix: str = ""
    locations: list[Location] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The first path, which is the shortest."""
        return (self.locations[0].name or type(self.layer).__name__) + self.suffix

    @property
    def is_target(self) -> bool:
        """Named like a target network, under its first name."""
        return self.locations[0].is_target


@dataclass(frozen=True)
class Usage:
    """Use of a tensor by the known optimizers."""

    groups: int
    """Parameter groups it is in."""
    steps: int | None
    """Updates made to it; None if its optimizer keeps no record (plain SGD)."""
    reach: float
    """How far its entries can have moved by those updates; infinite if unknown."""


def find_layers(modules: Mapping[str, nn.Module]) -> list[AuditedLayer]:
    """Return every basis layer once, with all its locations."""
    layers: dict[tuple[int, str], AuditedLayer] = {}
    for path, module in modules.items():
        for location, layer in _locations(path, module):
            for suffix, B in _members(layer):
                key = (id(layer.B), suffix) if layer.B.ndim == 3 else (id(layer), suffix)
                item = layers.setdefault(key, AuditedLayer(layer, B, layer.B, suffix))
                if location not in item.locations:
                    item.locations.append(location)
    return list(layers.values())


def _locations(path: str, module: nn.Module) -> Iterator[tuple[Location, BasisLayer]]:
    for name, layer in module.named_modules(remove_duplicate=False):
        full = ".".join(filter(None, (path, name)))
        parent = module.get_submodule(name.rpartition(".")[0]) if name else None
        if isinstance(layer, BasisLayer):
            yield Location(full, parent), layer
        elif isinstance(layer, StackedByVmap):
            for inner, hidden in layer.basis_layers():
                yield Location(".".join(filter(None, (full, inner))), layer), hidden


def _members(layer: BasisLayer) -> Iterator[tuple[str, Tensor]]:
    if layer.B.ndim == 2:
        yield "", layer.B
    else:
        yield from ((f"[{i}]", B) for i, B in enumerate(layer.B.detach()))


def usage_of(item: AuditedLayer, optimizers: Sequence[Optimizer]) -> Usage:
    """Return what the optimizers do with a layer's B (or with what it is computed from)."""
    tensors = {id(p) for p in item.layer.parameters()} | {id(item.parameter)}
    groups, steps, reach = 0, 0, 0.0
    unknown = False
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            mine = [p for p in group["params"] if id(p) in tensors and _is_basis(p, item)]
            groups += len(mine)
            for parameter in mine:
                made = optimizer.state.get(parameter, {}).get("step")
                if made is not None:
                    steps += int(made)
                    # an Adam step moves an entry by a few learning rates at the most
                    reach += 10 * float(group["lr"]) * int(made)
                elif parameter in optimizer.state or "betas" not in group:
                    unknown = True  # not of Adam's family, which counts, or not yet started
    return Usage(groups, None if unknown else steps, float("inf") if unknown else reach)


def _is_basis(parameter: Tensor, item: AuditedLayer) -> bool:
    """True for B itself, or for what a parametrization computes it from; not for a bias."""
    return parameter is item.parameter or parameter.shape == item.parameter.shape


def is_trained(module: nn.Module | None, optimizers: Sequence[Optimizer]) -> bool:
    """Return whether any parameter of a network is in an optimizer."""
    if module is None:
        return False
    held = {id(p) for o in optimizers for group in o.param_groups for p in group["params"]}
    return any(id(parameter) in held for parameter in module.parameters())
