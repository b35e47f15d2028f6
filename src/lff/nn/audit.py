"""Is σ still what you asked for?  An audit of every Fourier layer in a network or an agent.

Host libraries re-initialise layers, leave parameters out of an optimizer, or share what should be
apart, and say nothing.  ``audit`` looks at the finished object:

- does the spread of B still fit σ, and if not, what probably overwrote it;
- is B in an optimizer exactly once;
- do two critics share a B, does a target alias its online network;
- on given observations: the quantiles of |2πBx|, and the share of the embedding that is
  effectively linear or constant, hence no wave at all.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from lff.nn.basis_law import Spread, measure, signature
from lff.nn.ensemble import StackedByVmap
from lff.nn.fourier import BasisLayer, LearnedFourierFeatures2d
from lff.nn.phases import FEWEST_POINTS, Phases, measure_phases
from lff.nn.unpack import unpack

Check = Literal["found", "spread", "optimizer", "shared", "phase"]
TARGET = re.compile(r"target|lagged|(^|[._])(old|ema)([._]|$)|_old")
ACTOR = re.compile(r"actor|policy|(^|[._])pi([._]|$)")


@dataclass(frozen=True)
class Finding:
    """One thing the audit has to say."""

    check: Check
    layer: str
    """Where: the path of the layer."""
    message: str
    problem: bool = True
    """True if something is wrong; False for a remark."""


@dataclass(frozen=True)
class LayerAudit:
    """What was measured on one Fourier layer (one member of it, in an ensemble)."""

    name: str
    kind: str
    in_features: int
    wave_features: int
    trainable: bool
    spread: Spread
    in_optimizers: int | None
    """How often B is in an optimizer; None if no optimizer was seen or B is not trained."""
    steps: int
    """Updates that an optimizer has made to B."""
    is_target: bool
    """Named like a target network: it follows another and is in no optimizer."""
    phases: Phases | None
    """Statistics on the given observations; None without any of the right width."""


@dataclass(frozen=True)
class Audit:
    """The layers found, and the findings about them.  ``print`` it for a table."""

    layers: tuple[LayerAudit, ...]
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


@dataclass(frozen=True)
class _Found:
    """A layer, one member's B of it, and the tensor that an optimizer would hold."""

    name: str
    layer: BasisLayer
    B: Tensor
    held: Tensor

    @property
    def is_target(self) -> bool:
        return bool(TARGET.search(self.name.lower()))

    @property
    def is_actor(self) -> bool:
        return bool(ACTOR.search(self.name.lower()))


def audit(
    module_or_agent: Any,
    obs: Tensor | Sequence[Tensor] | None = None,
    *,
    optimizers: Sequence[Optimizer] | Optimizer | None = None,
    show: bool = True,
) -> Audit:
    """Audit every Fourier layer of a network or agent; print a table and return the data.

    Args:
        module_or_agent: an ``nn.Module``, or any object, dict or list that holds modules and
            optimizers in its attributes.
        obs: a batch of observations; ``(obs, action)`` for critics that take both.
        optimizers: optimizers that the object itself does not hold.
        show: print the table.

    >>> from lff import LFF
    >>> q = LFF(3, 1, sigma=0.01, generator=torch.Generator().manual_seed(0))
    >>> report = audit({"q": q, "optimizer": torch.optim.Adam(q.parameters())}, show=False)
    >>> report.ok, round(report.layers[0].spread.ratio, 1)
    (True, 1.0)
    """
    parts = unpack(module_or_agent)
    extra = [optimizers] if isinstance(optimizers, Optimizer) else list(optimizers or ())
    known = list({id(o): o for o in (*parts.optimizers.values(), *extra)}.values())
    found = [f for path, module in parts.modules.items() for f in _find(path, module)]
    inputs = _inputs(obs)
    layers, findings = [], []
    for item in found:
        report = _measure_layer(item, known, inputs)
        layers.append(report)
    trained = any(layer.steps > 0 for layer in layers)
    for item, report in zip(found, layers, strict=True):
        if not (report.is_target and trained):  # a trained agent's target has moved along
            findings += _spread_findings(item, report)
        findings += [*_optimizer_findings(item, report), *_phase_findings(report, inputs)]
    findings += _shared(found, known)
    if not found:
        message = "no Fourier layer found; is this the object that holds the networks?"
        findings.append(Finding("found", "", message))
    result = Audit(tuple(layers), tuple(findings))
    if show:
        print(result)  # noqa: T201  an audit is for reading
    return result


def _find(path: str, module: nn.Module) -> Iterator[_Found]:
    """Yield every basis layer below ``module``, members of an ensemble one by one."""
    for name, layer in module.named_modules(remove_duplicate=False):
        full = ".".join(filter(None, (path, name)))
        if isinstance(layer, BasisLayer):
            yield from _members(full or type(layer).__name__, layer)
        elif isinstance(layer, StackedByVmap):
            for inner, hidden in layer.basis_layers():
                yield from _members(".".join(filter(None, (full, inner))), hidden)


def _members(name: str, layer: BasisLayer) -> Iterator[_Found]:
    if layer.B.ndim == 2:
        yield _Found(name, layer, layer.B, layer.B)
    else:
        for i, B in enumerate(layer.B.detach()):
            yield _Found(f"{name}[{i}]", layer, B, layer.B)


def _measure_layer(item: _Found, optimizers: list[Optimizer], inputs: list[Tensor]) -> LayerAudit:
    layer = item.layer
    count, steps = _usage(item.held, optimizers)
    x = next((x for x in inputs if x.shape[_axis(layer)] == _width(layer)), None)
    phases = None if x is None or len(x) < FEWEST_POINTS else measure_phases(layer, x)
    return LayerAudit(
        name=item.name,
        kind=type(layer).__name__,
        in_features=_width(layer),
        wave_features=layer.wave_features,
        trainable=layer.trainable,
        spread=measure(layer, item.B),
        in_optimizers=count if optimizers and layer.trainable else None,
        steps=steps,
        is_target=item.is_target,
        phases=phases,
    )


def _spread_findings(item: _Found, report: LayerAudit) -> list[Finding]:
    spread, steps = report.spread, report.steps
    # the log-uniform basis is no random draw: only its spread can be compared
    law = signature(item.B, expected=spread.expected) if hasattr(item.layer, "sigma") else None
    change = f"spread of B is {spread.actual:.3g}, σ is {spread.expected:.3g}"
    if law is not None and steps == 0:
        return [Finding("spread", item.name, f"{change}: B was overwritten by {law}")]
    if spread.fits:
        return []
    if steps > 0:
        message = f"{change}: B has moved over {steps} updates"
        return [Finding("spread", item.name, message, problem=False)]
    message = f"{change}: overwritten, or trained by an optimizer not seen (pass optimizers=)"
    return [Finding("spread", item.name, message)]


def _optimizer_findings(item: _Found, report: LayerAudit) -> list[Finding]:
    count = report.in_optimizers
    if item.is_target or not report.trainable:
        return []
    if not item.held.requires_grad:
        message = "trainable=True but B.requires_grad is False: B will not learn"
        return [Finding("optimizer", item.name, message)]
    if count == 0:
        message = "B is in no optimizer: it will not learn; create the optimizer after the layer"
        return [Finding("optimizer", item.name, message)]
    if count is not None and count > 1:
        message = f"B is in {count} parameter groups: it moves {count} times per step"
        return [Finding("optimizer", item.name, message)]
    return []


def _phase_findings(report: LayerAudit, inputs: list[Tensor]) -> list[Finding]:
    phases = report.phases
    if phases is None:
        if not inputs:
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


def _shared(found: list[_Found], optimizers: list[Optimizer]) -> list[Finding]:
    """Compare every two layers: one tensor in two places, or two tensors with one draw."""
    findings = []
    for i, one in enumerate(found):
        for other in found[i + 1 :]:
            message = _compare(one, other, optimizers)
            if message is not None:
                findings.append(replace(message, layer=f"{one.name} and {other.name}"))
    return findings


def _compare(one: _Found, other: _Found, optimizers: list[Optimizer]) -> Finding | None:
    alias = one.B.data_ptr() == other.B.data_ptr() and one.B.shape == other.B.shape
    if alias and one.is_target != other.is_target:
        message = "the target's B is the online B itself, not a copy: there is no target network"
        return Finding("shared", "", message)
    if alias and one.is_actor != other.is_actor:
        message = "actor and critic share one B, as with a shared encoder"
        return Finding("shared", "", message, problem=False)
    if alias:
        return Finding("shared", "", "share one B: two critics would not be independent")
    if one.B.shape != other.B.shape or not one.B.any() or not torch.equal(one.B, other.B):
        return None
    if one.is_target or other.is_target or not hasattr(one.layer, "sigma"):
        return None
    if optimizers and not all(_usage(item.held, optimizers)[0] for item in (one, other)):
        return None  # one of them is not trained: a lagged copy under another name
    return Finding("shared", "", "have equal B in two tensors: drawn from the same seed")


def _usage(held: Tensor, optimizers: list[Optimizer]) -> tuple[int, int]:
    """Return in how many parameter groups a tensor is, and how many steps it has taken."""
    count, steps = 0, 0
    for optimizer in optimizers:
        count += sum(p is held for group in optimizer.param_groups for p in group["params"])
        state = optimizer.state.get(held, {})
        steps += int(state.get("step", 1 if state else 0))
    return count, steps


def _inputs(obs: Tensor | Sequence[Tensor] | None) -> list[Tensor]:
    """Return the batches to try: each input alone, and all of them joined."""
    if obs is None:
        return []
    parts = [torch.as_tensor(x) for x in (obs if isinstance(obs, list | tuple) else (obs,))]
    parts = [x.float() / 255 if x.dtype == torch.uint8 else x.float() for x in parts]
    joined = [torch.cat(parts, dim=-1)] if len(parts) > 1 else []
    return joined + parts


def _axis(layer: BasisLayer) -> int:
    return -3 if isinstance(layer, LearnedFourierFeatures2d) else -1


def _width(layer: BasisLayer) -> int:
    return layer.in_channels if isinstance(layer, LearnedFourierFeatures2d) else layer.in_features


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


def _row(layer: LayerAudit) -> tuple[str, ...]:
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
