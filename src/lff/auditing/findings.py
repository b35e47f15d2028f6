"""Findings of the audit: the checks of one layer, of pairs of layers, and of a whole agent."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import nn
from torch.optim import Optimizer

from lff.auditing.basis_law import damage, other_law
from lff.auditing.layers import AuditedLayer, LayerReport, Location, groups_of
from lff.auditing.unpack import Parts
from lff.nn.phases import FEWEST_POINTS

Check = Literal["layers", "spread", "optimizer", "shared", "action", "phase"]
Verdict = tuple[str, bool]
"""A message, empty if there is nothing to say, and whether it is a problem."""


@dataclass(frozen=True)
class Finding:
    """One result of the audit."""

    check: Check
    layer: str
    """Where: the path of the layer."""
    message: str
    problem: bool = True
    """True if something is wrong; False for a remark."""


def find_faults(
    parts: Parts,
    items: Sequence[AuditedLayer],
    optimizers: Sequence[Optimizer],
    *,
    with_inputs: bool,
) -> Iterator[Finding]:
    """Yield what is wrong with layers, pairs of layers, and between networks and optimizers."""
    for item in items:
        verdicts: dict[Check, Verdict] = {
            "spread": _judge_spread(item, items),
            "optimizer": (_judge_optimizer(item), True),
            "phase": (_judge_phases(item.report, with_inputs=with_inputs), False),
        }
        for check, (message, problem) in verdicts.items():
            if message:
                yield Finding(check, item.name, message, problem=problem)
        yield from _location_findings(item)
    for one, other in itertools.combinations(items, 2):
        yield from _shared_findings(one, other)
    yield from _action_findings(parts)
    for item in items:
        yield from _decay_findings(item, optimizers)
        if not item.is_target:
            yield from _encoder_findings(item, parts.modules, optimizers)


def _action_findings(parts: Parts) -> Iterator[Finding]:
    for critic, layers in parts.critics.items():
        if layers is None:
            message = "cannot tell whether its waves depend on the action: pass obs=(obs, action)"
            yield Finding("action", critic, message, problem=False)
        for name in layers if layers and not any(layers.values()) else ():
            message = (
                "the waves of a critic are of the observation alone, the action bypasses the "
                "Fourier layer: B belongs before the first layer of q(s, a)"
            )
            yield Finding("action", name, message)


def _judge_spread(item: AuditedLayer, items: Sequence[AuditedLayer]) -> Verdict:
    reason, problem = _explain_spread(item, [other.report for other in items])
    spread = item.report.spread
    change = f"spread of B is {spread.actual:.3g}, σ is {spread.expected:.3g}"
    return f"{change}: {reason}" if reason else "", problem


def _explain_spread(item: AuditedLayer, reports: Sequence[LayerReport]) -> Verdict:
    report, spread, steps = item.report, item.report.spread, item.steps
    law = _damage(item, expected=spread.expected)
    if law is not None:
        return f"B was overwritten by {law}", True
    online = [other for other in reports if not other.is_target]
    if report.is_target and any(other.steps != 0 for other in online):
        between = [other.spread.actual for other in online if other.kind == report.kind]
        between.append(spread.expected)
        follows = 0.5 * min(between) <= spread.actual <= 2 * max(between)
        return "" if follows else "it does not follow its online network", True
    law = other_law(item.B, expected=spread.expected) if item.layer.random_law else None
    if steps == 0 and law is not None:
        return f"B was overwritten by {law}", True
    if spread.fits:
        return "", False
    if steps is None:
        return "trained or overwritten, its optimizer counts no updates", False
    if not steps:
        return "overwritten, or trained by an unknown optimizer (pass optimizers=)", True
    if spread.actual <= spread.expected + item.reach:
        return f"B has moved over {steps} updates", False
    return f"{steps} updates cannot have moved B so far: {law or 'overwritten'}", True


def _damage(item: AuditedLayer, *, expected: float) -> str | None:
    """Name the trace of an overwritten B; a B that is not random must be as built."""
    if item.layer.random_law or not bool(item.B.isfinite().all()):
        return damage(item.B, expected=expected)
    start = item.layer.draw().to(item.B)
    same = torch.allclose(item.B.detach(), start, rtol=1e-3, atol=1e-6)
    return None if same or item.steps != 0 else "something else than it was built with"


def _judge_optimizer(item: AuditedLayer) -> str:
    report, count = item.report, item.report.in_optimizers
    if item.is_target and item.groups:
        return "a target network is in an optimizer: it should only follow"
    if report.is_target or not report.trainable:
        return ""
    if not any(p.requires_grad for p in item.layer.parameters()):
        return "trainable=True but B.requires_grad is False: B will not learn"
    if count == 0:
        return "B is in no optimizer: it will not learn; make the optimizer after the layer"
    if count is not None and count > 1:
        return f"B is in {count} parameter groups: it moves {count} times per step"
    return ""


def _judge_phases(report: LayerReport, *, with_inputs: bool) -> str:
    phases = report.phases
    if report.is_target:
        return ""  # what is said of its online network holds for it
    if phases is None:
        width = report.in_features
        missing = f"no batch of {FEWEST_POINTS} inputs or more of width {width} given"
        return missing if with_inputs else ""
    share = phases.linear_share + phases.constant_share
    if share < 0.5:
        return ""
    state = f"{share:.0%} of the Fourier features are linear or constant on these inputs"
    if not report.trainable:
        return f"{state}, and B is fixed; `lff sigma` names the σ that spreads phases by 1 rad"
    return f"{state}; normal before training at the advised σ = 0.01: Adam widens B"


def _location_findings(item: AuditedLayer) -> list[Finding]:
    """Judge one layer with several locations; of several findings, the worst counts."""
    findings = []
    for one, other in itertools.combinations(item.locations, 2):
        message, problem = _judge_locations(one, other)
        if message:
            where = f"{one.name} and {other.name}"
            findings.append(Finding("shared", where, message, problem=problem))
    return sorted(findings, key=lambda finding: not finding.problem)[:1]


def _judge_locations(one: Location, other: Location) -> Verdict:
    if one.is_target != other.is_target:
        return "the target's B is the online B itself, not a copy: the target does not lag", True
    if one.is_actor != other.is_actor:
        return "actor and critic share one B, as with a shared encoder", False
    if one.parent is not other.parent or one.stem == other.stem:
        return "share one B: two critics would not be independent", True
    return "", False  # one network under two names


def _shared_findings(one: AuditedLayer, other: AuditedLayer) -> Iterator[Finding]:
    """Compare two layers: one tensor in both, or two tensors with one draw."""
    where = f"{one.name} and {other.name}"
    if one.B.shape != other.B.shape:
        return
    if one.B.data_ptr() == other.B.data_ptr():
        message, problem = _judge_locations(one.locations[0], other.locations[0])
        yield Finding("shared", where, message, problem=problem)
    elif one.report.is_target or other.report.is_target or not one.layer.random_law:
        return
    elif bool(one.B.any()) and torch.equal(one.B, other.B):
        yield Finding("shared", where, "have equal B in two tensors: drawn from the same seed")


def _decay_findings(item: AuditedLayer, optimizers: Sequence[Optimizer]) -> Iterator[Finding]:
    """Weight decay pulls B, hence σ, to zero; a fixed B should be in no optimizer at all."""
    groups = [
        group
        for _, group in groups_of(optimizers)
        if any(parameter is item.parameter for parameter in group["params"])
    ]
    decay = max((float(group.get("weight_decay") or 0) for group in groups), default=0.0)
    if not item.layer.trainable and groups and (decay or item.parameter.requires_grad):
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
    actors = [place for place in item.locations if place.is_actor]
    critics = [place for place in item.locations if not (place.is_actor or place.is_target)]
    if not (actors and critics):
        return
    of_actor = {id(p) for place in actors for p in _network(place, modules)}
    others = {id(p) for p in _network(critics[0], modules)} - of_actor
    holding_b = _holding({id(item.parameter)}, optimizers)
    holding_rest = _holding(others, optimizers)
    if holding_b and holding_rest and not holding_b & holding_rest:
        message = (
            "the critic uses this B, but only the actor's loss trains it (a shared encoder): "
            "give the critic its own, or put B into the critic's optimizer"
        )
        yield Finding("shared", item.name, message)


def _network(location: Location, modules: Mapping[str, nn.Module]) -> Iterator[nn.Parameter]:
    """Yield the parameters of the smallest whole network that a location belongs to."""
    holders = [path for path in modules if path == "" or location.name.startswith(f"{path}.")]
    for path in sorted(holders, key=len)[-1:]:
        yield from modules[path].parameters()


def _holding(wanted: set[int], optimizers: Sequence[Optimizer]) -> set[int]:
    return {
        id(optimizer)
        for optimizer, group in groups_of(optimizers)
        if any(id(p) in wanted for p in group["params"])
    }
