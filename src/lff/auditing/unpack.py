"""Networks and optimizers inside an agent of any library, for the audit.

Any object is searched through its attributes, breadth first.  A library that keeps its networks
elsewhere has a plug-in, found by an entry point of the group ``lff.audit_hosts``: its name is the
package (or module) whose classes it knows, its value a function that returns the :class:`Parts` of
an object, or None for an object to be searched as usual.  An agent with ``networks`` and
``optimizers`` (:class:`lff.optim.Adam`) by name, as ours are, needs none.

    [project.entry-points."lff.audit_hosts"]
    stable_baselines3 = "lff.plugins.sb3:unpack_host"
"""

import contextlib
import copy
import functools
import inspect
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from lff.auditing.layers import join
from lff.optim import Adam

GROUP = "lff.audit_hosts"
LONGEST = 256  # a list or dict longer than this holds data (a replay buffer), not networks
MOST_OBJECTS = 20_000
_LEAVES = (str, bytes, int, float, complex, type(None), Tensor, type)
_OF_TORCH = frozenset(vars(nn.Module()))


@dataclass
class Parts:
    """Named networks and optimizers of an agent."""

    modules: dict[str, nn.Module] = field(default_factory=dict)
    optimizers: dict[str, Optimizer] = field(default_factory=dict)
    critics: dict[str, dict[str, bool] | None] = field(default_factory=dict)
    """For each q(s, a): its dense Fourier layers, and whether their input depends on the action;
    None if it could not be run."""
    inputs: dict[str, Tensor] = field(default_factory=dict)
    """For Fourier layers, by path: their inputs on data that the agent keeps (a replay buffer)."""


Unpacker = Callable[[Any], Parts | None]


def unpack(agent: Any) -> Parts:
    """Return the networks and optimizers of a module, an agent, or a container of them."""
    parts = Parts()
    visited: set[int] = set()
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
        if id(value) in visited or isinstance(value, (*_LEAVES, Optimizer)):
            continue
        visited.add(id(value))
        queue.extend(_children(path, value, parts))
    return parts


def agent_parts(networks: Mapping[str, nn.Module], optimizers: Mapping[str, Adam]) -> Parts:
    """Return the parts of an agent whose networks are trained by :class:`lff.optim.Adam`.

    Its parameters have ``requires_grad`` off, because gradients come from ``torch.func``.  The
    audit gets copies that share their memory, with ``requires_grad`` on for exactly the tensors
    that Adam changes, and torch optimizers that hold them at Adam's rates and counts.
    """
    parts = Parts()
    tensors: dict[int, nn.Parameter] = {}
    for name, network in networks.items():
        view = copy.deepcopy(network)
        for copied, original in zip(view.parameters(), network.parameters(), strict=True):
            copied.data = original.data
            copied.requires_grad = False
            tensors.setdefault(copied.data_ptr(), copied)
        parts.modules[name] = view
    for name, adam in optimizers.items():
        trained = {
            key: tensors[value.data_ptr()]
            for key, value in adam.parameters.items()
            if value.data_ptr() in tensors
        }
        if trained:
            groups = [{"params": [p], "lr": adam.rules[key].lr} for key, p in trained.items()]
            parts.optimizers[name] = optimizer = torch.optim.Adam(groups)
            for parameter in trained.values():
                parameter.requires_grad = True
                optimizer.state[parameter] = {"step": adam.count.clone()}
    return parts


def _children(path: str, value: Any, parts: Parts) -> Iterator[tuple[str, Any]]:
    kind: Any = type(value)
    held: Iterable[tuple[str, Any]] = _attributes(value)
    for unpack_host in (*_unpackers(kind), _unpack_agent):
        inner = unpack_host(value)
        if inner is not None:
            for critic, layers in inner.critics.items():
                named = {join(path, critic, layer): r for layer, r in (layers or {}).items()}
                parts.critics.setdefault(join(path, critic), named)
            for layer, x in inner.inputs.items():
                parts.inputs.setdefault(join(path, layer), x)
            held = (*inner.modules.items(), *inner.optimizers.items())
            break
    return ((join(path, name), part) for name, part in held)


def _unpack_agent(value: Any) -> Parts | None:
    """Return the parts of an object with named networks and our optimizers, as our agents are."""
    names = ("networks", "optimizers")
    if any(inspect.getattr_static(value, name, None) is None for name in names):
        return None
    networks, optimizers = value.networks, value.optimizers
    if not (isinstance(networks, Mapping) and isinstance(optimizers, Mapping) and optimizers):
        return None
    ours = all(isinstance(optimizer, Adam) for optimizer in optimizers.values())
    return agent_parts(networks, optimizers) if ours else None


@functools.cache
def _hosts() -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=GROUP))


@functools.cache
def _unpackers(kind: type) -> tuple[Unpacker, ...]:
    """Return the functions of the hosts that a class comes from, in the order of registration."""
    modules = dict.fromkeys(base.__module__ for base in kind.__mro__)
    unpackers = []
    for host in _hosts():
        if any(f"{module}.".startswith(f"{host.name}.") for module in modules):
            with contextlib.suppress(ImportError):  # a host too old for its plug-in
                unpackers.append(host.load())
    return tuple(unpackers)


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what an object holds, by name."""
    if isinstance(value, nn.Module):
        # submodules are the audit's; here only what a module holds as a plain attribute, as
        # Stable-Baselines3 does with the optimizers of its actor and critic
        for name, module in value.named_modules():
            plain = {key: held for key, held in vars(module).items() if key not in _OF_TORCH}
            yield from ((join(name, key), held) for key, held in plain.items())
    elif isinstance(value, Mapping | list | tuple):
        if len(value) <= LONGEST:
            pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
            yield from ((str(key), child) for key, child in pairs)
    elif hasattr(value, "__dict__"):
        yield from vars(value).items()
