"""Finding the networks and optimizers inside somebody's agent, for the audit.

Works on any object by looking through its attributes, breadth first.  A plug-in whose host hides
them elsewhere registers how to unpack its objects:

    register_unpacker(lambda agent: isinstance(agent, HostAgent), unpack)

The plug-ins of this package are imported when an object of their host is met, so that an agent
which uses the bare layer is understood, too.
"""

import contextlib
import importlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from lff.nn.fourier import BasisLayer, LearnedFourierFeatures2d

HOSTS = {
    "sbx": "lff.plugins.flax",
    "stable_baselines3": "lff.plugins.sb3",
    "tianshou": "lff.plugins.tianshou",
    "torchrl": "lff.plugins.torchrl",
}
"""Which plug-in knows the objects of which package; by name, since nothing may import one."""

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
    critics: dict[str, dict[str, bool]] = field(default_factory=dict)
    """For each q(s, a): its dense Fourier layers, and whether they see the action."""


Unpacker = Callable[[Any], Parts]
_MET: set[type] = set()
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
        queue.extend(_children(path, value, parts))
    return parts


def sees_action(
    critic: nn.Module, action: Tensor, run: Callable[[Tensor], object]
) -> dict[str, bool]:
    """Return for every dense Fourier layer of a critic whether its input depends on the action.

    ``run`` puts an action through the critic.  Layers of pixels are left out: they never see one.
    """
    action = action.detach().clone().requires_grad_()
    seen: dict[str, bool] = {}

    def watch(name: str) -> Callable[[nn.Module, tuple[Tensor, ...]], None]:
        def look(_: nn.Module, inputs: tuple[Tensor, ...]) -> None:
            total = inputs[0].sum()
            (slope,) = (
                torch.autograd.grad(total, action, retain_graph=True, allow_unused=True)
                if total.requires_grad
                else (None,)
            )
            seen[name] = seen.get(name, False) or (slope is not None and bool(slope.any()))

        return look

    handles = [
        layer.register_forward_pre_hook(watch(name))
        for name, layer in critic.named_modules()
        if isinstance(layer, BasisLayer) and not isinstance(layer, LearnedFourierFeatures2d)
    ]
    try:
        with torch.enable_grad():
            run(action)
    finally:
        for handle in handles:
            handle.remove()
    return seen


def _children(path: str, value: Any, parts: Parts) -> Iterator[tuple[str, Any]]:
    _meet(type(value))
    for applies, rule in _UNPACKERS:
        if applies(value):
            found = rule(value)
            for critic, layers in found.critics.items():
                named = {_join(path, critic, layer): seen for layer, seen in layers.items()}
                parts.critics.setdefault(_join(path, critic), named)
            held = (*found.modules.items(), *found.optimizers.items())
            return ((_join(path, name), part) for name, part in held)
    return ((_join(path, name), part) for name, part in _held(value))


def _meet(kind: type) -> None:
    """Import the plug-in of the host that a class comes from, if it is one of ours."""
    if kind in _MET:
        return
    _MET.add(kind)
    for package in {base.__module__.partition(".")[0] for base in kind.__mro__}:
        if package in HOSTS:
            with contextlib.suppress(ImportError):  # a host too old for its plug-in
                importlib.import_module(HOSTS[package])


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
