"""Audit of every Fourier layer in a network or an agent.

Host libraries silently re-initialise layers, leave parameters out of an optimizer, or share what
should be separate.  ``audit`` checks the finished object:

- whether the spread of B still fits σ, and if not, what probably overwrote it;
- whether B is in an optimizer exactly once;
- whether two critics share a B, or a target aliases its online network;
- whether the waves of a critic q(s, a) change with the action, by running it, and whether the
  critic's loss trains B;
- on given observations, or on those of the host's buffer: the quantiles of |2πBx|, and the share of
  the embedding that is effectively linear or constant, hence not a wave.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from lff.auditing.basis_law import measure
from lff.auditing.findings import Finding, find_faults
from lff.auditing.layers import AuditedLayer, LayerReport, Location, find_layers, groups_of, join
from lff.auditing.probing import find_critics
from lff.auditing.unpack import Parts, unpack
from lff.nn.phases import FEWEST_POINTS, count_points, measure_phases

_ABOUT_B = ("layer", "in", "waves", "σ", "spread", "×", "trained by")
_ON_INPUTS = ("|2πBx| 5/50/95 %", "lin", "const")


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
        rows = [(*_ABOUT_B, *_ON_INPUTS), *(_row(layer) for layer in self.layers)]
        lines = _table(rows) if self.layers else []
        for finding in self.findings:
            mark = "PROBLEM" if finding.problem else "note"
            where = f" {finding.layer}:" if finding.layer else ""
            lines.append(f"{mark:>7} [{finding.check}]{where} {finding.message}")
        if self.ok and self.layers:
            lines.append(f"ok: {len(self.layers)} Fourier layer(s), nothing wrong")
        return "\n".join(lines)


def audit(
    module_or_agent: Any, obs: Any = None, *, optimizers: Any = None, show: bool = True
) -> Audit:
    """Audit every Fourier layer of a network or agent; print a table and return the data.

    Args:
        module_or_agent: an ``nn.Module``, or any object, dict or list that holds modules and
            optimizers in its attributes.
        obs: a batch of observations; ``(obs, action)`` for critics that take both; a dict of them.
            None: those in the replay or rollout buffer of a host's model, where it keeps one.
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
    items = find_layers(parts.modules, known)
    inputs = _inputs(obs)
    _ask_critics(parts, _pair(obs))
    for item in items:
        kept = [parts.inputs[at.name] for at in item.locations if at.name in parts.inputs]
        batches, is_copy = inputs or kept, _is_copy(item, items, known)
        item.report = _measure(item, batches, optimizers=known, is_copy=is_copy)
    findings = [*find_faults(parts, items, known, with_inputs=bool(inputs))]
    if not items:
        message = "no Fourier layer found; is this the object that holds the networks?"
        findings.append(Finding("layers", "", message))
    result = Audit(tuple(item.report for item in items), tuple(findings))
    if show:
        print(result)  # noqa: T201  an audit is for reading
    return result


def _ask_critics(parts: Parts, batch: tuple[Tensor, ...]) -> None:
    """Add the critics that no plug-in has reported; targets are copies of one that is."""
    for path, reads in find_critics(parts.modules, batch):
        if path not in parts.critics and not Location(path, None).is_target:
            named = reads and {join(path, name): read for name, read in reads.items()}
            parts.critics[path] = named


def _is_copy(
    item: AuditedLayer, items: Sequence[AuditedLayer], optimizers: Sequence[Optimizer]
) -> bool:
    """Return whether a network is a target: by its name, or untrained beside a trained one."""
    if item.is_target:
        return True
    held = {id(p) for _, group in groups_of(optimizers) for p in group["params"]}
    parent = item.locations[0].parent
    trained = parent is not None and any(id(p) in held for p in parent.parameters())
    if item.groups or not optimizers or trained:
        return False
    return any(
        other.groups and other.B.shape == item.B.shape and type(other.layer) is type(item.layer)
        for other in items
    )


def _measure(
    item: AuditedLayer, inputs: Sequence[Tensor], *, optimizers: Sequence[Optimizer], is_copy: bool
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
        in_optimizers=item.groups if optimizers and layer.trainable else None,
        steps=item.steps,
        is_target=is_copy,
        phases=None if x is None else measure_phases(layer, x),
    )


def _pair(obs: Any) -> tuple[Tensor, ...]:
    """Return (obs, action) for critics, if that was given; discrete actions stay integers."""
    values = obs if isinstance(obs, tuple | list) and len(obs) == 2 else ()
    pair = (torch.as_tensor(x) for x in values)
    return tuple(x.float() if x.is_floating_point() else x for x in pair)


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


def _row(layer: LayerReport) -> tuple[str, ...]:
    spread, phases, count = layer.spread, layer.phases, layer.in_optimizers
    trained = "?" if count is None else f"{count} optimizer" + "s" * (count != 1)
    if not layer.trainable or layer.is_target:
        trained = "target" if layer.trainable else "frozen"
    shares = ["-", "-", "-"]
    if phases is not None:
        quantiles = "/".join(f"{q:.2g}" for q in phases.quantiles)
        shares = [quantiles, f"{phases.linear_share:.0%}", f"{phases.constant_share:.0%}"]
    sizes = (layer.name, str(layer.in_features), str(layer.wave_features))
    spreads = (f"{spread.expected:.3g}", f"{spread.actual:.3g}", f"{spread.ratio:.2f}")
    return (*sizes, *spreads, trained, *shares)


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in rows]
    return [line.rstrip() for line in (lines[0], "  ".join("-" * w for w in widths), *lines[1:])]
