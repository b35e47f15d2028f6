"""Findings of the audit, and the checks that need a whole agent."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from torch import nn
from torch.optim import Optimizer

from lff.auditing.layers import AuditedLayer, Location
from lff.auditing.unpack import Parts

Check = Literal["layers", "spread", "optimizer", "shared", "action", "phase"]


@dataclass(frozen=True)
class Finding:
    """One result of the audit."""

    check: Check
    layer: str
    """Where: the path of the layer."""
    message: str
    problem: bool = True
    """True if something is wrong; False for a remark."""


def agent_findings(
    parts: Parts, layers: Sequence[AuditedLayer], optimizers: Sequence[Optimizer]
) -> Iterator[Finding]:
    """Yield what is wrong between the networks and the optimizers of an agent."""
    yield from _action_findings(parts)
    for item in layers:
        yield from _decay_findings(item, optimizers)
        if not item.is_target:
            yield from _encoder_findings(item, parts.modules, optimizers)


def _action_findings(parts: Parts) -> Iterator[Finding]:
    """A critic whose waves are of the observation alone is not the paper's Q(s, a)."""
    for layers in parts.critics.values():
        if layers and not any(layers.values()):
            for name in layers:
                message = (
                    "the waves of a critic are of the observation alone, the action bypasses the "
                    "Fourier layer: B belongs before the first layer of q(s, a)"
                )
                yield Finding("action", name, message)


def _decay_findings(item: AuditedLayer, optimizers: Sequence[Optimizer]) -> Iterator[Finding]:
    """Weight decay pulls B, hence σ, to zero; a fixed B should be in no optimizer at all."""
    groups = [
        group
        for optimizer in optimizers
        for group in optimizer.param_groups
        if any(parameter is item.parameter for parameter in group["params"])
    ]
    decay = max((float(group.get("weight_decay") or 0) for group in groups), default=0.0)
    fixed = not item.layer.trainable
    if fixed and groups and (decay or item.parameter.requires_grad):
        how = f"weight decay {decay:g} shrinks it" if decay else "which will move it"
        message = f"B was to stay fixed, but it is in an optimizer: {how}; keep it a buffer"
        yield Finding("optimizer", item.name, message)
    elif decay:
        message = f"weight decay {decay:g} pulls B, hence σ, to zero; give B a separate group"
        yield Finding("optimizer", item.name, message, problem=False)


def _encoder_findings(
    item: AuditedLayer, modules: Mapping[str, nn.Module], optimizers: Sequence[Optimizer]
) -> Iterator[Finding]:
    """A B that actor and critic share, but that the critic's loss does not train."""
    actors = [location for location in item.locations if location.is_actor]
    critics = [
        location for location in item.locations if not (location.is_actor or location.is_target)
    ]
    if not (actors and critics):
        return
    of_actor = {id(p) for location in actors for p in _network(location, modules)}
    others = [p for p in _network(critics[0], modules) if id(p) not in of_actor]
    holding_b = _holding([item.parameter], optimizers)
    holding_rest = _holding(others, optimizers)
    if holding_b and holding_rest and not holding_b & holding_rest:
        message = (
            "the critic uses this B, but only the actor's loss trains it (a shared encoder): "
            "give the critic its own, or put B into the critic's optimizer"
        )
        yield Finding("shared", item.name, message)


def _network(location: Location, modules: Mapping[str, nn.Module]) -> list[nn.Parameter]:
    """Return the parameters of the smallest whole network that a location belongs to."""
    holders = [path for path in modules if path == "" or location.name.startswith(f"{path}.")]
    return list(modules[max(holders, key=len)].parameters()) if holders else []


def _holding(tensors: Sequence[object], optimizers: Sequence[Optimizer]) -> set[int]:
    wanted = {id(tensor) for tensor in tensors}
    return {
        id(optimizer)
        for optimizer in optimizers
        for group in optimizer.param_groups
        if any(id(p) in wanted for p in group["params"])
    }
