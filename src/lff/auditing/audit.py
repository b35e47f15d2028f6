"""Audit of every Fourier layer in a network or an agent.

Host libraries silently re-initialise layers, leave parameters out of an optimizer, or share what
should be separate.  ``audit`` checks the finished object:

- whether the spread of B still fits σ, and if not, what probably overwrote it;
- whether B is in an optimizer exactly once;
- whether two critics share a B, or a target aliases its online network;
- whether a critic's B depends on the action, and the critic's loss trains it (for the hosts of
  ``lff.plugins``);
- on given observations: the quantiles of |2πBx|, and the share of the embedding that is
  effectively linear or constant, hence not a wave.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from lff.auditing.basis_law import Spread, damage, measure, other_law
from lff.auditing.findings import Finding as Finding
from lff.auditing.findings import agent_findings
from lff.auditing.layers import AuditedLayer, Location, Usage, find_layers, is_trained, usage_of
from lff.auditing.unpack import unpack
from lff.nn.phases import FEWEST_POINTS, Phases, count_points, measure_phases


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


@dataclass(frozen=True)
class Audit:
    """Layers and the findings about them.  ``print`` it for a table."""

    layers: tuple[LayerReport, ...]
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """True if no finding is a problem."""
        return not any(finding.problem for finding in self.findings)

    def __str__(self) -> str:
        """Draw the table, then one line per finding."""
        lines = _table([_HEADER, *(_row(layer) for layer in self.layers)]) if self.layers else []
        for finding in self.findings:
            mark = "PROBLEM" if finding.problem else "note"
            where = f" {finding.layer}:" if finding.layer else ""
            lines.append(f"{mark:>7} [{finding.check}]{where} {finding.message}")
        if self.ok and self.layers:
            lines.append(f"ok: {len(self.layers)} Fourier layer(s), nothing wrong")
        return "\n".join(lines)


def audit(
    module_or_agent: Any,
    obs: Any = None,
    *,
    optimizers: Any = None,
    show: bool = True,
) -> Audit:
    """Audit every Fourier layer of a network or agent; print a table and return the data.

    Args:
        module_or_agent: an ``nn.Module``, or any object, dict or list that holds modules and
            optimizers in its attributes.
        obs: a batch of observations; ``(obs, action)`` for critics that take both; a dict of them.
        optimizers: one or several optimizers that the object itself does not hold.
        show: print the table.

    >>> from lff import LFF
    >>> q = LFF(3, 1, sigma=0.01, generator=torch.Generator().manual_seed(0))
    >>> report = audit({"q": q, "optimizer": torch.optim.Adam(q.parameters())}, show=False)
    >>> report.ok, round(report.layers[0].spread.ratio, 1)
    (True, 1.0)
    """
    parts = unpack(module_or_agent)
    given = (*parts.optimizers.values(), *unpack(optimizers).optimizers.values())
    known = list({id(optimizer): optimizer for optimizer in given}.values())
    items = find_layers(parts.modules)
    usages = [usage_of(item, known) for item in items]
    inputs = _inputs(obs)
    layers = [
        _measure(item, usage, _is_copy(item, usage, items, usages, known), known, inputs)
        for item, usage in zip(items, usages, strict=True)
    ]
    findings: list[Finding] = []
    for item, usage, report in zip(items, usages, layers, strict=True):
        findings += _spread_findings(item, usage, report, layers)
        findings += _optimizer_findings(item, usage, report)
        findings += _phase_findings(report, with_inputs=bool(inputs))
        findings += _location_findings(item)
    findings += _shared_findings(items, layers)
    findings += agent_findings(parts, items, known)
    if not items:
        message = "no Fourier layer found; is this the object that holds the networks?"
        findings.append(Finding("layers", "", message))
    result = Audit(tuple(layers), tuple(findings))
    if show:
        print(result)  # noqa: T201  an audit is for reading
    return result


def _is_copy(
    item: AuditedLayer,
    usage: Usage,
    items: Sequence[AuditedLayer],
    usages: Sequence[Usage],
    optimizers: Sequence[Optimizer],
) -> bool:
    """Return whether a network is a target: by its name, or untrained beside a trained one."""
    if item.is_target:
        return True
    if usage.groups or not optimizers or is_trained(item.locations[0].parent, optimizers):
        return False
    return any(
        theirs.groups and other.B.shape == item.B.shape and type(other.layer) is type(item.layer)
        for other, theirs in zip(items, usages, strict=True)
    )


def _measure(
    item: AuditedLayer,
    usage: Usage,
    is_copy: bool,  # noqa: FBT001
    optimizers: Sequence[Optimizer],
    inputs: Sequence[Tensor],
) -> LayerReport:
    layer = item.layer
    x = next((x for x in inputs if count_points(layer, x) >= FEWEST_POINTS), None)
    return LayerReport(
        name=item.name,
        kind=type(layer).__name__,
        in_features=getattr(layer, "in_channels", layer.in_features),
        wave_features=layer.wave_features,
        trainable=layer.trainable,
        spread=measure(layer, item.B),
        in_optimizers=usage.groups if optimizers and layer.trainable else None,
        steps=usage.steps,
        is_target=is_copy,
        phases=None if x is None else measure_phases(layer, x),
    )


def _spread_findings(
    item: AuditedLayer, usage: Usage, report: LayerReport, layers: Sequence[LayerReport]
) -> list[Finding]:
    spread = report.spread
    change = f"spread of B is {spread.actual:.3g}, σ is {spread.expected:.3g}"

    def problem(reason: str) -> list[Finding]:
        return [Finding("spread", item.name, f"{change}: {reason}")]

    law = _damage(item, usage, spread)
    if law is not None:
        return problem(f"B was overwritten by {law}")
    if report.is_target and any(layer.steps != 0 for layer in layers if not layer.is_target):
        online = [x.spread.actual for x in layers if not x.is_target and x.kind == report.kind]
        between = (spread.expected, *online)
        follows = 0.5 * min(between) <= spread.actual <= 2 * max(between)
        return [] if follows else problem("it does not follow its online network")
    law = other_law(item.B, expected=spread.expected) if item.layer.random_law else None
    if usage.steps == 0 and law is not None:
        return problem(f"B was overwritten by {law}")
    if spread.fits:
        return []
    if usage.steps is None:
        message = f"{change}: trained or overwritten, its optimizer counts no updates"
        return [Finding("spread", item.name, message, problem=False)]
    if usage.steps and spread.actual <= spread.expected + usage.reach:
        message = f"{change}: B has moved over {usage.steps} updates"
        return [Finding("spread", item.name, message, problem=False)]
    if usage.steps:
        return problem(f"{usage.steps} updates cannot have moved B so far: {law or 'overwritten'}")
    return problem("overwritten, or trained by an unknown optimizer (pass optimizers=)")


def _damage(item: AuditedLayer, usage: Usage, spread: Spread) -> str | None:
    """Name the trace of an overwritten B; a B that is not random must be as built."""
    if item.layer.random_law:
        return damage(item.B, expected=spread.expected)
    if not bool(item.B.isfinite().all()):
        return "non-finite values (a diverged update)"
    start = item.layer.draw().to(item.B)
    same = torch.allclose(item.B.detach(), start, rtol=1e-3, atol=1e-6)
    return None if same or usage.steps != 0 else "something else than it was built with"


def _optimizer_findings(item: AuditedLayer, usage: Usage, report: LayerReport) -> list[Finding]:
    def problem(message: str) -> list[Finding]:
        return [Finding("optimizer", item.name, message)]

    if item.is_target and usage.groups:
        return problem("a target network is in an optimizer: it should only follow")
    if report.is_target or not report.trainable:
        return []
    learns = any(p.requires_grad for p in item.layer.parameters())
    if not learns:
        return problem("trainable=True but B.requires_grad is False: B will not learn")
    if report.in_optimizers == 0:
        return problem(
            "B is in no optimizer: it will not learn; make the optimizer after the layer"
        )
    if report.in_optimizers is not None and report.in_optimizers > 1:
        count = report.in_optimizers
        return problem(f"B is in {count} parameter groups: it moves {count} times per step")
    return []


def _phase_findings(report: LayerReport, *, with_inputs: bool) -> list[Finding]:
    phases = report.phases
    if phases is None:
        if not with_inputs:
            return []
        message = f"no batch of {FEWEST_POINTS} inputs or more of width {report.in_features} given"
        return [Finding("phase", report.name, message, problem=False)]
    share = phases.linear_share + phases.constant_share
    if share < 0.5:
        return []
    message = (
        f"{share:.0%} of the Fourier features are effectively linear or constant on these "
        "inputs; raise σ if you want waves"
    )
    return [Finding("phase", report.name, message, problem=False)]


def _location_findings(item: AuditedLayer) -> list[Finding]:
    """Judge one layer with several locations."""
    pairs = _pairs(item.locations)
    judged = ((_judge_locations(one, other), one, other) for one, other in pairs)
    findings = [
        Finding("shared", f"{one.name} and {other.name}", message, problem=bad)
        for (message, bad), one, other in judged
        if message
    ]
    return sorted(findings, key=lambda finding: not finding.problem)[:1]


def _judge_locations(one: Location, other: Location) -> tuple[str, bool]:
    """Return the message about one B in two locations, and whether it is a problem."""
    if one.is_target != other.is_target:
        return "the target's B is the online B itself, not a copy: the target does not lag", True
    if one.is_actor != other.is_actor:
        return "actor and critic share one B, as with a shared encoder", False
    siblings = one.stem == other.stem
    if one.parent is not other.parent or siblings:
        return "share one B: two critics would not be independent", True
    return "", False  # one network under two names


def _shared_findings(items: Sequence[AuditedLayer], layers: Sequence[LayerReport]) -> list[Finding]:
    """Compare every two layers: one tensor in both, or two tensors with one draw."""
    findings = []
    for (one, first), (other, second) in _pairs(list(zip(items, layers, strict=True))):
        where = f"{one.name} and {other.name}"
        if one.B.shape != other.B.shape:
            continue
        if one.B.data_ptr() == other.B.data_ptr():
            message, bad = _judge_locations(one.locations[0], other.locations[0])
            findings.append(Finding("shared", where, message, problem=bad))
        elif first.is_target or second.is_target or not one.layer.random_law:
            continue
        elif bool(one.B.any()) and torch.equal(one.B, other.B):
            message = "have equal B in two tensors: drawn from the same seed"
            findings.append(Finding("shared", where, message))
    return findings


def _pairs(items: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    return ((one, other) for i, one in enumerate(items) for other in items[i + 1 :])


def _inputs(obs: Any) -> list[Tensor]:
    """Return the batches to try: all inputs joined, where that is possible, and each alone."""
    if obs is None:
        return []
    values = list(obs.values()) if isinstance(obs, Mapping) else obs
    values = values if isinstance(values, list | tuple) else [values]
    parts = [torch.as_tensor(x) for x in values]
    parts = [x.float() / 255 if x.dtype == torch.uint8 else x.float() for x in parts]
    joinable = len(parts) > 1 and len({tuple(x.shape[:-1]) for x in parts}) == 1
    return [torch.cat(parts, dim=-1), *parts] if joinable and parts[0].ndim else parts


_HEADER = (
    "layer",
    "in",
    "waves",
    "σ",
    "spread",
    "×",
    "trained by",
    "|2πBx| 5/50/95 %",
    "lin",
    "const",
)


def _row(layer: LayerReport) -> tuple[str, ...]:
    spread, phases = layer.spread, layer.phases
    if not layer.trainable:
        trained = "frozen"
    elif layer.is_target:
        trained = "target"
    elif layer.in_optimizers is None:
        trained = "?"
    else:
        trained = f"{layer.in_optimizers} optimizer" + "s" * (layer.in_optimizers != 1)
    quantiles = "/".join(f"{q:.2g}" for q in phases.quantiles) if phases else "-"
    shares = (
        (f"{phases.linear_share:.0%}", f"{phases.constant_share:.0%}") if phases else ("-", "-")
    )
    return (
        layer.name,
        str(layer.in_features),
        str(layer.wave_features),
        f"{spread.expected:.3g}",
        f"{spread.actual:.3g}",
        f"{spread.ratio:.2f}",
        trained,
        quantiles,
        *shares,
    )


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in rows]
    return [line.rstrip() for line in (lines[0], "  ".join("-" * w for w in widths), *lines[1:])]
