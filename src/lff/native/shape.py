"""The sizes and kinds that a native update is compiled for, read from an agent's modules.

Learning rates, discounts and the like are passed at run time, so that one library serves all runs
of one architecture and batch size.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import nn

from lff.nn.ensemble import Ensemble, StackedLayerNorm, StackedLinear
from lff.nn.fourier import BasisLayer, LearnedFourierFeatures
from lff.nn.fronts import (
    ConstantFeatures,
    LinearFeatures,
    LogUniformFourierFeatures,
    TanhFeatures,
)
from lff.nn.net import NetConfig, Network

NORM_EPS = 1e-5
WAVES: dict[type[nn.Module], str] = {
    LearnedFourierFeatures: "sine",
    LogUniformFourierFeatures: "sine",
    LinearFeatures: "linear",
    TanhFeatures: "tangent",
}
"""Fronts with a basis B, by what becomes of 2πBx."""


class UnsupportedError(Exception):
    """A network or setting that the native update does not cover; the message says which."""


@dataclass(frozen=True)
class FrontShape:
    """The embedding of the input: waves ‖ cosines ‖ ones ‖ x, each if it is there."""

    wave: str = "none"
    rows: int = 0
    """Rows of the basis."""
    trained: bool = False
    ones: int = 0
    concat: bool = True
    basis: str | None = None
    """Name of B."""


@dataclass(frozen=True)
class NetShape:
    """One network: front, hidden layers, and how its weights are laid out."""

    inputs: int
    outputs: int
    hidden: tuple[int, ...]
    linears: tuple[str, ...]
    """Names of the Linear layers, the output layer last."""
    norms: tuple[str, ...]
    """Names of the layer norms, one per hidden layer, or none."""
    by_output: bool
    """Weights are (out, in); stacked ones are (in, out)."""
    front: FrontShape
    plain: bool
    """Adam without decay and anchor."""
    tangents: bool = False
    """tanh in place of ReLU."""

    def code(self, name: str) -> str:
        """Return the C++ struct that describes the network."""
        front = self.front
        flags = {
            "trained": front.trained,
            "concat": front.concat,
            "normed": bool(self.norms),
            "by_output": self.by_output,
            "plain": self.plain,
            "tangents": self.tangents,
        }
        text = ", ".join(f"{key} = {str(value).lower()}" for key, value in flags.items())
        return (
            f"struct {name} {{\n"
            f"  static constexpr int in = {self.inputs}, rows = {front.rows};\n"
            f"  static constexpr int ones = {front.ones};\n"
            f"  static constexpr int depth = {len(self.hidden)}, "
            f"hidden[] = {{{', '.join(map(str, self.hidden))}}};\n"
            f"  static constexpr Wave wave = Wave::{front.wave};\n"
            f"  static constexpr bool {text};\n"
            f"  using Output = Columns<{self.outputs}>;\n"
            "};\n"
        )


@dataclass(frozen=True)
class Shape:
    """A whole agent."""

    observations: int
    actions: int
    batch: int
    members: int
    threads: int
    normalises: bool
    has_target: bool
    learns_alpha: bool
    actor: NetShape
    critic: NetShape

    def header(self) -> str:
        """Return ``shape.hpp``, which the C++ sources include."""
        sizes = ("observations", "actions", "batch", "members", "threads")
        flags = ("normalises", "has_target", "learns_alpha")
        text = ", ".join(f"{name} = {getattr(self, name)}" for name in sizes)
        switches = ", ".join(f"{name} = {str(getattr(self, name)).lower()}" for name in flags)
        networks = f"{self.actor.code('Actor')}{self.critic.code('Critic')}"
        return _header(f"constexpr int {text};\nconstexpr bool {switches};\n{networks}")


def _header(code: str) -> str:
    return f'#pragma once\n#include "network.hpp"\nnamespace lff {{\n{code}}}  // namespace lff\n'


def describe_policy(network: nn.Module, outputs: int) -> tuple[NetShape, str]:
    """Return the shape of a network that only acts, and its ``shape.hpp``."""
    if not isinstance(network, Network):
        raise UnsupportedError(f"a network of type {type(network).__name__}")
    shape = _network(network, "", outputs, plain=True)
    return shape, _header(shape.code("Actor"))


@lru_cache(maxsize=1024)
def network_gap(config: NetConfig, widest: int) -> str | None:
    """Return what keeps a network from the native update, without drawing its weights."""
    try:
        with torch.device("meta"):
            shape = _network(config.build(4, 2), "", 2, plain=True)
    except UnsupportedError as error:
        return str(error)
    if shape.tangents:
        return "layers of type Tanh"
    return f"layers wider than {widest}" if max(shape.hidden) > widest else None


def describe(agent: Any, *, threads: int = 1) -> Shape:
    """Return the shape of a SAC agent, or raise :class:`UnsupportedError`."""
    actor, critic = agent.networks["actor"], agent.networks["critic"]
    actions = agent.spaces.action
    if not isinstance(critic, Ensemble) or not isinstance(critic.stacked, Network):
        raise UnsupportedError("critics that are not a plain stack of networks")
    if not isinstance(actor, Network):
        raise UnsupportedError(f"an actor of type {type(actor).__name__}")
    shape = Shape(
        observations=agent.spaces.obs_dim,
        actions=actions,
        batch=agent.config.batch_size,
        members=critic.size,
        threads=threads,
        normalises=agent.norm is not None,
        has_target="polyak/tau" in agent.state(),
        learns_alpha=hasattr(agent.config.alpha, "lr"),
        actor=_network(actor, "", 2 * actions, plain=_is_plain(agent, "actor")),
        critic=_network(critic.stacked, "stacked.", 1, plain=_is_plain(agent, "critic")),
    )
    if shape.actor.tangents or shape.critic.tangents:
        raise UnsupportedError("an update through layers of type Tanh")
    return shape


def _is_plain(agent: Any, role: str) -> bool:
    """Return whether every parameter of a network moves by Adam alone."""
    rules = agent.optimizers[role].rules.values()
    return not any(rule.l2 or rule.l1 or rule.anchor for rule in rules)


def _network(net: Network, prefix: str, outputs: int, *, plain: bool) -> NetShape:
    if type(net.trunk) is not nn.Sequential:
        raise UnsupportedError(f"a trunk of type {type(net.trunk).__name__}")
    linears, norms, widths = [], [], []
    kinds = set[type[nn.Module]]()
    *hidden, (key, last) = net.trunk.named_children()
    for (name, layer), (after, nonlinearity) in zip(hidden[::2], hidden[1::2], strict=True):
        linears.append(f"{prefix}trunk.{name}")
        widths.append(_width(layer))
        stack = nonlinearity if isinstance(nonlinearity, nn.Sequential) else [nonlinearity]
        *before, kind = stack
        kinds.add(type(kind))
        if _is_normed(before):
            norms.append(f"{prefix}trunk.{after}.0")
    if len(kinds) > 1 or not kinds <= {nn.ReLU, nn.Tanh}:
        names = " and ".join(sorted(kind.__name__ for kind in kinds))
        raise UnsupportedError(f"nonlinearities of type {names}")
    if not widths or len(norms) not in (0, len(widths)):
        raise UnsupportedError("a trunk without hidden layers, or with some layer norms missing")
    if _width(last) != outputs:
        raise UnsupportedError(f"{_width(last)} outputs")
    return NetShape(
        inputs=net.in_features,
        outputs=outputs,
        hidden=tuple(widths),
        linears=(*linears, f"{prefix}trunk.{key}"),
        norms=tuple(norms),
        by_output=isinstance(last, nn.Linear),
        front=_front(net.front, prefix),
        plain=plain,
        tangents=nn.Tanh in kinds,
    )


def _width(layer: nn.Module) -> int:
    """Return the outputs of a Linear layer with bias, plain or stacked."""
    if type(layer) not in (nn.Linear, StackedLinear) or layer.bias is None:
        raise UnsupportedError(f"a layer of type {type(layer).__name__}")
    weight = layer.get_parameter("weight")
    return weight.shape[-1] if weight.ndim == 3 else weight.shape[0]


def _is_normed(before: list[nn.Module]) -> bool:
    """Return whether a layer norm comes before the nonlinearity; other layers are refused."""
    for norm in before:
        if not isinstance(norm, nn.LayerNorm | StackedLayerNorm) or norm.eps != NORM_EPS:
            raise UnsupportedError(f"a layer of type {type(norm).__name__} before a nonlinearity")
    return bool(before)


def _front(front: nn.Module, prefix: str) -> FrontShape:
    if type(front) is nn.Identity:
        return FrontShape()
    if isinstance(front, ConstantFeatures):
        return FrontShape(ones=front.fourier_dim // 2)
    wave = WAVES.get(type(front))
    if wave is None or not isinstance(front, BasisLayer):
        raise UnsupportedError(f"a front of type {type(front).__name__}")
    rows = front.B.shape[-2]
    return FrontShape(
        wave=wave,
        rows=rows,
        ones=rows if wave == "linear" else 0,
        trained=front.trainable,
        concat=front.concat_input,
        basis=f"{prefix}front.B",
    )
