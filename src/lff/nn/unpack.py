"""Finding the networks and optimizers inside somebody's agent, for the audit.

Works on any object by looking through its attributes.  A plug-in whose host hides them elsewhere
registers how to unpack its objects:

    register_unpacker(lambda agent: isinstance(agent, HostAgent), unpack)
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import nn
from torch.optim import Optimizer

DEPTH = 4


@dataclass
class Parts:
    """Named networks and optimizers of an agent."""

    modules: dict[str, nn.Module] = field(default_factory=dict)
    optimizers: dict[str, Optimizer] = field(default_factory=dict)


Unpacker = Callable[[Any], Parts]
_UNPACKERS: list[tuple[Callable[[Any], bool], Unpacker]] = []


def register_unpacker(applies: Callable[[Any], bool], unpack: Unpacker) -> None:
    """Add a rule, tried before the general one; the newest first."""
    _UNPACKERS.insert(0, (applies, unpack))


def unpack(agent: Any) -> Parts:
    """Return the networks and optimizers of a module, an agent, or a container of them."""
    for applies, rule in _UNPACKERS:
        if applies(agent):
            return rule(agent)
    parts = Parts()
    _walk(agent, "", parts, depth=DEPTH, seen=set())
    return parts


def _walk(value: Any, path: str, parts: Parts, *, depth: int, seen: set[int]) -> None:
    if isinstance(value, Optimizer):
        parts.optimizers[path or "optimizer"] = value
        return
    if isinstance(value, nn.Module):
        parts.modules[path] = value
        # Stable-Baselines3 keeps an optimizer as a plain attribute of its actor and critic
        for name, module in value.named_modules():
            for key, held in vars(module).items():
                if isinstance(held, Optimizer):
                    parts.optimizers[".".join(filter(None, (path, name, key)))] = held
        return
    if depth == 0 or id(value) in seen:
        return
    seen.add(id(value))
    for key, child in _children(value):
        _walk(child, f"{path}.{key}" if path else key, parts, depth=depth - 1, seen=seen)


def _children(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        yield from ((str(key), child) for key, child in value.items())
    elif isinstance(value, list | tuple):
        yield from ((str(i), child) for i, child in enumerate(value))
    elif hasattr(value, "__dict__") and not isinstance(value, type):
        yield from vars(value).items()
