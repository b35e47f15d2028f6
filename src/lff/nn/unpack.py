"""Finding the networks and optimizers inside somebody's agent, for the audit.

Works on any object by looking through its attributes, breadth first.  A plug-in whose host hides
them elsewhere registers how to unpack its objects:

    register_unpacker(lambda agent: isinstance(agent, HostAgent), unpack)
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn
from torch.optim import Optimizer

LONGEST = 256
"""A list or dict longer than this holds data (a replay buffer), not networks."""
MOST_OBJECTS = 20_000
_LEAVES = (str, bytes, int, float, complex, type(None), Tensor, type)
_OF_TORCH = frozenset(vars(nn.Module()))


@dataclass
class Parts:
    """Named networks and optimizers of an agent."""

    modules: dict[str, nn.Module] = field(default_factory=dict)
    optimizers: dict[str, Optimizer] = field(default_factory=dict)


Unpacker = Callable[[Any], Parts]
_UNPACKERS: list[tuple[Callable[[Any], bool], Unpacker]] = []


def register_unpacker(applies: Callable[[Any], bool], unpack: Unpacker) -> None:
    """Add a rule, tried on every object that is met; the newest first."""
    _UNPACKERS.insert(0, (applies, unpack))


def unpack(agent: Any) -> Parts:
    """Return the networks and optimizers of a module, an agent, or a container of them."""
    parts = Parts()
    seen: set[int] = set()
    queue = deque([("", agent)])
    for _ in range(MOST_OBJECTS):
        if not queue:
            break
        path, value = queue.popleft()
        if isinstance(value, Optimizer):
            parts.optimizers.setdefault(path or "optimizer", value)
        elif isinstance(value, nn.Module):
            # kept under every name: one network under two names may be a fault
            parts.modules.setdefault(path, value)
        if id(value) in seen or isinstance(value, (*_LEAVES, Optimizer)):
            continue
        seen.add(id(value))
        queue.extend(_children(path, value))
    return parts


def _children(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    for applies, rule in _UNPACKERS:
        if applies(value):
            found = rule(value)
            held = (*found.modules.items(), *found.optimizers.items())
            return ((_join(path, name), part) for name, part in held)
    return ((_join(path, name), part) for name, part in _held(value))


def _held(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what an object holds, by name."""
    if isinstance(value, nn.Module):
        # submodules are the audit's; here only what a module holds as a plain attribute, as
        # Stable-Baselines3 does with the optimizers of its actor and critic
        for name, module in value.named_modules():
            plain = {key: held for key, held in vars(module).items() if key not in _OF_TORCH}
            yield from ((_join(name, key), held) for key, held in plain.items())
    elif isinstance(value, Mapping | list | tuple):
        if len(value) <= LONGEST:
            pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
            yield from ((str(key), child) for key, child in pairs)
    elif hasattr(value, "__dict__"):
        yield from vars(value).items()


def _join(*names: str) -> str:
    return ".".join(name for name in names if name)
