"""Pages of stress reports: the card of one network, and one page that compares many."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple, get_args

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from lff.report import style
from lff.report.drawing import FEW
from lff.report.html import TEMPLATES, Drawn, draw, number, render, write_page
from lff.report.strip import Mark, Scale
from lff.stats.metrics import Role, colors_of, role_of
from lff.stats.stress import (
    Grade,
    Line,
    Measured,
    Stress,
    StressReport,
    references_overlap,
)

TESTED = "#111111"
"""The colour of the network under test; references have those of their roles."""
DASHES: tuple[tuple[float, ...], ...] = ((1.0, 1.8), (5.0, 2.0), (7.0, 2.0, 1.5, 2.0), (3.0, 1.2))
"""Lines of the references, so that a figure can be read without colours."""
SHAPES = ("circle", "triangle", "square", "hexagon")
"""Marks of the references in their order; the network under test is a filled diamond."""
GRADES: dict[Grade, tuple[str, str]] = {
    "good": ("✓", "confirmed"),
    "fair": ("~", "inconclusive"),
    "poor": ("✗", "refuted"),
}
"""Symbol and style class of each grade."""
NOT_FINITE = "not finite"
MISSING = "–"
THIS = "this network"
MEANINGS: dict[Grade, str] = {
    "good": "as good as the best reference",
    "fair": "between the references",
    "poor": "as bad as the worst, or worse",
}


class Key(NamedTuple):
    """A network in the legend."""

    name: str
    color: str
    shape: str
    dash: str = ""


class Row(NamedTuple):
    """A line of a strip plot: one network, references, or both."""

    title: str
    anchor: str
    grade: Grade | None
    value: str
    interval: str
    mark: Mark | None
    color: str
    references: list[Mark]
    keys: list[Key]
    """How the references look."""
    span: tuple[float, float]
    """From the worst to the best reference."""
    label: str
    """The numbers, for those who do not look at the plot."""
    is_open: bool
    """Whether the grade says little: :func:`is_open`."""


def write_stress_page(report: StressReport, path: Path) -> None:
    """Write the card of one network as a self-contained page, atomically."""
    write_page(path, stress_page(report))


def write_comparison(reports: Sequence[StressReport], path: Path) -> None:
    """Write one page that compares several networks, atomically."""
    write_page(path, comparison_page(reports))


def stress_page(report: StressReport) -> str:
    """Return the card of one network as HTML; the same report gives the same bytes."""
    keys = _keys(report.stresses)
    facts = ["quick run"] if report.is_quick else []
    facts += [f"{report.seeds} seeds", f"learning rate {report.lr:g}"]
    return _render(
        "stress.html",
        colors=[TESTED, *dict.fromkeys(key.color for key in keys.values())],
        title=f"{report.name}: stress report",
        report=report,
        facts=[*facts, f"{report.parameters:,} parameters"],
        meanings=MEANINGS,
        keys=[Key(THIS, TESTED, "diamond"), *keys.values()],
        counts=_counts(report),
        rows=[_own_row(one, keys) for one in report.stresses],
        sections=[_section(one, report.name, keys) for one in report.stresses],
        made=_made(report),
    )


def comparison_page(reports: Sequence[StressReport]) -> str:
    """Return one page that compares several networks as HTML."""
    heads: dict[str, Stress] = {}
    for one in (stress for report in reports for stress in report.stresses):
        heads.setdefault(one.key, one)
    keys = _keys([*heads.values()])
    given = colors_of({name: _role(name) for name in (*keys, *(one.name for one in reports))})
    colors = [given[report.name] for report in reports]
    return _render(
        "stresses.html",
        colors=[*dict.fromkeys([*colors, *(key.color for key in keys.values())])],
        title=f"{len(reports)} networks under stress",
        reports=reports,
        quick=[report.name for report in reports if report.is_quick],
        meanings=MEANINGS,
        keys=[*keys.values()],
        heads=[*heads.values()],
        cells=[[_cell(report, key) for key in heads] for report in reports],
        sections=[_compared(head, reports, colors, keys) for head in heads.values()],
        made=[_origin(report) for report in reports],
    )


def _render(template: str, **values: Any) -> str:
    css = TEMPLATES.get_template("stress.css").render()
    return render(template, css=css, grades=GRADES, **values)


def _role(name: str) -> Role:
    """Return the role of a network that no experiment names."""
    if name.lower().startswith("lff"):
        return "ours"
    return role_of(name) if name.startswith("MLP") else "rival"


def _keys(stresses: Sequence[Stress]) -> dict[str, Key]:
    """Return the colour, mark and line of every reference."""
    names = [*dict.fromkeys(name for one in stresses for name in one.references)]
    colors = colors_of({name: _role(name) for name in names})
    looks = zip(names, cycle(SHAPES), cycle(DASHES), strict=False)
    return {
        name: Key(name, colors[name], shape, " ".join(f"{2 * dash:g}" for dash in dashes))
        for name, shape, dashes in looks
    }


def _counts(report: StressReport) -> dict[Grade, int]:
    found = Counter(one.grade for one in report.stresses)
    return {grade: found[grade] for grade in get_args(Grade) if found[grade]}


def _made(report: StressReport) -> list[list[str]]:
    both = report.made, report.references_made
    return [[name, *(one.get(name, MISSING) for one in both)] for name in {**both[0], **both[1]}]


def _origin(report: StressReport) -> list[str]:
    quick = " (quick)" if report.is_quick else ""
    size = [f"{report.lr:g}", f"{report.parameters:,}", f"{report.seeds}{quick}"]
    both = (report.made, report.references_made)
    return [report.name, *size, *(", ".join(f"{k} {v}" for k, v in one.items()) for one in both)]


def short(value: float) -> str:
    """Write a number with three digits.

    >>> short(0.12345), short(12345.6), short(float("inf")), short(0.0)
    ('0.123', '12,300', 'not finite', '0')
    """
    return number(float(f"{value:.3g}")) if math.isfinite(value) else NOT_FINITE


def with_unit(value: float, unit: str) -> str:
    """Write a number with its unit.

    >>> with_unit(12.0, "%"), with_unit(float("nan"), "%")
    ('12 %', 'not finite')
    """
    return f"{short(value)} {unit}".rstrip() if math.isfinite(value) else NOT_FINITE


def interval(found: Measured) -> str:
    """Write an interval, or nothing if it is not known."""
    ends = (found.low, found.high)
    if not all(map(math.isfinite, ends)):
        return ""
    return f"[{short(ends[0])}, {short(ends[1])}]"


def _value(stress: Stress, found: Measured) -> str:
    return f"{with_unit(found.estimate, stress.unit)} {interval(found)}".rstrip()


def _seeds(found: Measured) -> str:
    lost = sum(not math.isfinite(value) for value in found.values)
    return f"{len(found.values)}, {lost} {NOT_FINITE}" if lost else str(len(found.values))


def _row(stress: Stress, scale: Scale, *, title: str, mark: Mark | None, color: str) -> Row:
    """Return a line without references."""
    dots = [one.dot for one in scale.marks(stress.references) if one.is_finite]
    return Row(
        title=title,
        anchor=stress.key,
        grade=stress.grade,
        value=with_unit(stress.measured.estimate, stress.unit),
        interval=interval(stress.measured),
        mark=mark,
        color=color,
        references=[],
        keys=[],
        span=(min(dots), max(dots)) if dots else (0.0, 0.0),
        label=_value(stress, stress.measured),
        is_open=references_overlap(stress.references),
    )


def _with_references(row: Row, stress: Stress, scale: Scale, keys: Mapping[str, Key]) -> Row:
    marks = scale.marks(stress.references)
    said = [f"{name} {_value(stress, found)}" for name, found in stress.references.items()]
    label = "; ".join([*([row.label] if row.label else []), *said])
    return row._replace(references=marks, keys=[keys[one.name] for one in marks], label=label)


def _own_row(stress: Stress, keys: Mapping[str, Key]) -> Row:
    numbers = [stress.measured, *stress.references.values()]
    scale = Scale.of(numbers, better=stress.better, log=stress.log)
    mark = scale.mark(THIS, stress.measured)
    row = _row(stress, scale, title=stress.title, mark=mark, color=TESTED)
    return _with_references(row, stress, scale, keys)


def _section(stress: Stress, name: str, keys: Mapping[str, Key]) -> dict[str, Any]:
    shown = {THIS: stress.measured, **stress.references}
    cells = [
        [who, with_unit(found.estimate, stress.unit), interval(found) or MISSING, _seeds(found)]
        for who, found in shown.items()
    ]
    figure = _figure(stress, name, keys)
    shared = {"stress": stress, "is_open": references_overlap(stress.references)}
    return {**shared, "cells": cells, "figure": figure}


def _figure(stress: Stress, name: str, keys: Mapping[str, Key]) -> Drawn | None:
    if not stress.lines:
        return None
    label = f"{stress.y_title or stress.title} over {stress.x_title}: {', '.join(stress.lines)}"
    return draw(draw_lines(stress, name, keys), title=stress.y_title or stress.title, label=label)


def draw_lines(stress: Stress, name: str, keys: Mapping[str, Key]) -> Figure:
    """Draw the curves of a stress with their bands; the network under test above the others."""
    with mpl.rc_context(style.SETTINGS):
        figure = style.blank_figure(style.WIDTH, style.HEIGHT)
        axis = figure.subplots()
        if stress.log_x:
            axis.set_xscale("log")
        if stress.log_y:
            axis.set_yscale("log")
        order = sorted(stress.lines, key=lambda one: one == name or one not in keys)
        for one in order:
            is_tested = one == name or one not in keys
            look: dict[str, Any] = {"color": TESTED, "linewidth": 2.2}
            if not is_tested:
                at = [*keys].index(one)
                look = {"color": keys[one].color, "linestyle": (0, DASHES[at % len(DASHES)])}
                look |= {"linewidth": 1.6}
            _draw_line(axis, stress.lines[one], look, log=stress.log_y)
        _widen(axis, stress)
        axis.set_xlabel(stress.x_title)
        _ticks(axis, log=stress.log_x)
        style.dress(axis, log=stress.log_y)
    return figure


def _draw_line(axis: Any, line: Line, look: dict[str, Any], *, log: bool) -> None:
    columns = zip(line.x, line.mean, line.low, line.high, strict=True)
    x, mean, low, high = np.array([*columns], dtype=np.float64).reshape(-1, 4).T
    kept = np.isfinite(mean) & ((mean > 0) | (not log))
    if log:  # a band that reaches zero ends at the smallest number that is drawn
        low = np.where(low > 0, low, mean[kept].min() if kept.any() else 1.0)
    marker = "o" if kept.sum() <= FEW else ""
    axis.plot(x, np.where(kept, mean, np.nan), marker=marker, markersize=4, **look)
    banded = kept & np.isfinite(low) & np.isfinite(high)
    axis.fill_between(x, low, high, where=banded, color=look["color"], alpha=0.15, linewidth=0)
    lost = x[~np.isfinite(mean)]
    if lost.size:
        edge = {"transform": axis.get_xaxis_transform(), "clip_on": False}
        axis.plot(lost, [0.985] * lost.size, "x", color=look["color"], markersize=5, **edge)


def _widen(axis: Any, stress: Stress) -> None:
    """Give an axis on which all curves are one level a range that is not rounding."""
    levels = {y for line in stress.lines.values() for ys in (line.low, line.high) for y in ys}
    if len(levels) == 1 and not stress.log_y and math.isfinite(level := levels.pop()):
        size = abs(level) or 1.0
        axis.set_ylim(level - 0.05 * size, level + size)


def _ticks(axis: Any, *, log: bool) -> None:
    if log:
        style.log_ticks(axis.xaxis, *axis.get_xlim(), form=style.power_of_ten)
    else:
        style.plain_ticks(axis.xaxis)


def _of(report: StressReport, key: str) -> Stress | None:
    return next((one for one in report.stresses if one.key == key), None)


def _cell(report: StressReport, key: str) -> tuple[str, Grade | None]:
    stress = _of(report, key)
    if stress is None:
        return MISSING, None
    return short(stress.measured.estimate), stress.grade


def _compared(
    head: Stress,
    reports: Sequence[StressReport],
    colors: Sequence[str],
    keys: Mapping[str, Key],
) -> dict[str, Any]:
    there = [
        (report, color, one)
        for report, color in zip(reports, colors, strict=True)
        if (one := _of(report, head.key))
    ]
    numbers = [one.measured for *_, one in there]
    scale = Scale.of([*numbers, *head.references.values()], better=head.better, log=head.log)
    empty = _row(head, scale, title="", mark=None, color="")
    empty = empty._replace(grade=None, value="", interval="", label="")
    rows = [
        _row(one, scale, title=report.name, mark=scale.mark("", one.measured), color=color)
        for report, color, one in there
    ]
    same = len({repr(one.references) for *_, one in there}) <= 1  # repr: nan equals nan
    first = [_with_references(empty, head, scale, keys)] if head.references else []
    is_unclear = references_overlap(head.references)
    return {"stress": head, "rows": [*first, *rows], "same": same, "is_open": is_unclear}
