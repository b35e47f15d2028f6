"""Basis layers of an agent: their locations, the optimizers that train them, and target copies."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn
from torch.optim import Optimizer

from lff.auditing.basis_law import Spread
from lff.nn.ensemble import StackedByVmap
from lff.nn.fourier import BasisLayer
from lff.nn.phases import Phases

TARGET = re.compile(r"targ|tgt|lagged|slow|polyak|(^|_)(old|ema|avg|average|averaged|bar)(_|$)")
ACTOR = re.compile(r"(?<!extr)actor|policy|(^|_)pi(_|$)")  # an extractor is not an actor


@dataclass(frozen=True)
class Location:
    """Path to a layer, and the network that holds it."""

    name: str
    parent: nn.Module | None

    def _is_named(self, pattern: re.Pattern[str]) -> bool:
        words = self.name.lower().split(".")
        words = words[words[0] == "policy" :]  # SB3 keeps all networks in a policy
        return any(pattern.search(word) for word in words)

    @property
    def is_target(self) -> bool:
        """Named like a target network."""
        return self._is_named(TARGET)

    @property
    def is_actor(self) -> bool:
        """Named like an actor."""
        return self._is_named(ACTOR)

    @property
    def stem(self) -> str:
        """The path without its digits: q1 and q2 have the same."""
        return re.sub(r"\d+", "", self.name)


@dataclass(frozen=True)
class LayerReport:
    """Measurements of one Fourier layer (one member of it, in an ensemble)."""

    name: str
    kind: str
    in_features: int
    wave_features: int
    trainable: bool
    spread: Spread
    in_optimizers: int | None
    """How often B is in an optimizer; None without an optimizer or if B is not trained."""
    steps: int | None
    """Updates that optimizers have made to B; None if they keep no record (plain SGD)."""
    is_target: bool
    """A copy that follows another network and is in no optimizer."""
    phases: Phases | None
    """Statistics on the given observations; None without any of the right width."""


@dataclass
class AuditedLayer:
    """Layer (one member of it, in an ensemble), all its locations, and the optimizers' use of B."""

    layer: BasisLayer
    B: Tensor
    """The member's B, (rows, in_features)."""
    parameter: Tensor
    """The tensor that an optimizer would hold: all members' B."""
    suffix: str = ""
    locations: list[Location] = field(default_factory=list)
    report: LayerReport = field(init=False)
    groups: int = 0
    """Parameter groups it is in."""
    steps: int | None = 0
    """Updates made to it; None if its optimizer keeps no record (plain SGD)."""
    reach: float = 0.0
    """How far its entries can have moved by those updates; infinite if unknown."""

    @property
    def name(self) -> str:
        """The first path, which is the shortest."""
        return (self.locations[0].name or type(self.layer).__name__) + self.suffix

    @property
    def is_target(self) -> bool:
        """Named like a target network, under its first name."""
        return self.locations[0].is_target

    def count_updates(self, optimizers: Sequence[Optimizer]) -> None:
        """Record which optimizers hold B, or the tensors that a parametrization makes it of."""
        tensors = {id(p) for p in self.layer.parameters()} | {id(self.parameter)}
        steps, reach = 0, 0.0
        for optimizer, group in groups_of(optimizers):
            for p in group["params"]:
                # by shape: a layer's bias is not its B
                if id(p) not in tensors or p.shape != self.parameter.shape:
                    continue
                self.groups += 1
                made = optimizer.state.get(p, {}).get("step")
                if made is not None:
                    steps += int(made)
                    # an Adam step moves an entry by a few learning rates at the most
                    reach += 10 * float(group["lr"]) * int(made)
                elif p in optimizer.state or "betas" not in group:
                    reach = math.inf  # not of Adam's family, which counts, or not yet started
        self.steps, self.reach = (None if math.isinf(reach) else steps), reach


def groups_of(optimizers: Sequence[Optimizer]) -> Iterator[tuple[Optimizer, dict[str, Any]]]:
    """Yield every parameter group with its optimizer."""
    return ((optimizer, group) for optimizer in optimizers for group in optimizer.param_groups)


def find_layers(
    modules: Mapping[str, nn.Module], optimizers: Sequence[Optimizer]
) -> list[AuditedLayer]:
    """Return every basis layer once, with all its locations."""
    layers: dict[tuple[int, str], AuditedLayer] = {}
    for path, module in modules.items():
        for location, layer in _locations(path, module):
            stacked = layer.B.ndim == 3
            members = enumerate(layer.B.detach()) if stacked else [("", layer.B)]
            for i, B in members:
                suffix = f"[{i}]" if stacked else ""
                key = (id(layer.B if stacked else layer), suffix)
                item = layers.setdefault(key, AuditedLayer(layer, B, layer.B, suffix))
                if location not in item.locations:
                    item.locations.append(location)
    for item in layers.values():
        item.count_updates(optimizers)
    return [*layers.values()]


def _locations(path: str, module: nn.Module) -> Iterator[tuple[Location, BasisLayer]]:
    for name, layer in module.named_modules(remove_duplicate=False):
        full = join(path, name)
        if isinstance(layer, BasisLayer):
            parent = module.get_submodule(name.rpartition(".")[0]) if name else None
            yield Location(full, parent), layer
        elif isinstance(layer, StackedByVmap):
            for inner, hidden in layer.basis_layers():
                yield Location(join(full, inner), layer), hidden


def join(*names: str) -> str:
    """Return a dotted path without its empty parts."""
    return ".".join(filter(None, names))
