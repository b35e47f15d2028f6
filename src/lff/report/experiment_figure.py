"""Figures of an experiment, from its table alone: a row for a panel, a column for a task."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lff.core.errors import BadInputError
from lff.experiments.spec import Experiment, Panel
from lff.report.bars import draw_bars, draw_histograms
from lff.report.curves import draw_curves
from lff.report.published import draw_published
from lff.report.style import (
    DOTTED,
    GREY,
    HEIGHT,
    SETTINGS,
    WIDTH,
    blank_figure,
    dress,
    log_ticks,
    plain_ticks,
    short_number,
    variant_colors,
)
from lff.report.summaries import values_of
from lff.report.surfaces import draw_tiles, tile_shape
from lff.stats import RANDOM, ZERO, Curves, Field, Published, Row
from lff.stats.fields import of_panel

POLICIES = (RANDOM, ZERO)
"""Variants of a table that learn nothing: floors to compare with."""
NARROWEST = 5.5
"""Inches of a figure: its legend must fit."""
ACROSS = 4
"""Tasks side by side; further ones are a block of rows below."""
TILE = 1.1
"""Inches that a row of four surfaces is high."""


@dataclass(frozen=True)
class TaskPanel:
    """One panel of one task."""

    panel: Panel
    task: str
    rows: tuple[Row, ...]
    """The rows of this task and metric."""
    variants: tuple[str, ...]
    """The variants drawn."""
    colors: Mapping[str, str]
    """The colour of every variant."""
    published: tuple[Published, ...] = ()
    """Scores of others on this task."""
    fields: tuple[Field, ...] = ()
    """The surfaces of this task."""

    @property
    def label(self) -> str:
        """Description for readers who cannot see the figure."""
        return f"{self.panel.metric.title} on {self.task}: {', '.join(self.variants)}"

    @property
    def height(self) -> float:
        """Inches."""
        if self.panel.kind != "grid":
            return HEIGHT
        rows, columns = tile_shape(len(self.fields))
        lines = 1.05 if any(", " in one.title for one in self.fields) else 1.0
        return rows * TILE * lines * 4 / columns

    def draw(self, axis: Any, *, as_paper: bool = False) -> None:
        """Draw it."""
        panel, colors = self.panel, self.colors
        if panel.kind == "grid":
            draw_tiles(axis, {one.title: one.values for one in self.fields})
            return
        rows = [row for row in self.rows if row.variant in self.variants]
        match panel.kind:
            case "curves":
                draw_curves(
                    axis,
                    rows,
                    metric=panel.metric.title,
                    variants=self.variants,
                    colors=colors,
                    as_paper=as_paper,
                    log=panel.log,
                    legend=False,
                )
                axis.set_xlabel(panel.x or _steps_label(self.task))
                if panel.log_x:
                    axis.set_xscale("log")
                    log_ticks(axis.xaxis, *axis.get_xlim(), form=short_number)
                else:
                    plain_ticks(axis.xaxis)
            case "bars":
                curves = Curves(rows, metric=panel.metric)
                ends = {n: values_of(curves, n, self.task, "last") for n in self.variants}
                draw_bars(axis, ends, colors=colors, as_paper=as_paper, log=panel.log)
            case "histogram":
                for step, faint in _first_and_last(rows, panel.metric.title):
                    counts = {n: _counts(rows, n, panel.metric.title, step) for n in self.variants}
                    draw_histograms(axis, counts, colors=colors, faint=faint)
                axis.set_xlabel("standard deviations; dotted: at the start")
            case "fit":
                for name in self.variants:
                    heights = _heights(rows, name, "curve")
                    axis.plot(*heights, color=colors[name], linewidth=1.4)
                axis.plot(*_heights(rows, self.variants[0], "points"), "k.", markersize=5)
                axis.set_xlabel("x; dots: the points of the first draw")
        axis.set_ylabel(panel.metric.title)
        self._lines(axis)
        if self.published:
            self._others(axis)
        dress(axis, log=panel.log)

    def _lines(self, axis: Any) -> None:
        title = self.panel.metric.title
        floor = [r.value for r in self.rows if r.variant == RANDOM and r.metric == title]
        finite = [value for value in floor if np.isfinite(value)]
        if finite:
            axis.axhline(np.mean(finite), color=GREY, linewidth=1.2, linestyle=(0, DOTTED))
        if self.panel.line is not None:
            axis.axhline(self.panel.line, color="black", linewidth=0.8, linestyle=(0, (4, 3)))
            axis.annotate(
                self.panel.line_label,
                (1, self.panel.line),
                xycoords=("axes fraction", "data"),
                xytext=(-2, 3),
                textcoords="offset points",
                ha="right",
                va="bottom",
                fontsize=8,
            )

    def _others(self, axis: Any) -> None:
        """Draw published scores, with a legend of their own: that of the variants is shared."""
        draw_published(
            axis, self.published, task=self.task, until=max(row.step for row in self.rows)
        )
        marks = zip(*axis.get_legend_handles_labels(), strict=True)
        theirs = [(mark, name) for mark, name in marks if name.endswith("(published)")]
        axis.get_legend().remove()
        if theirs:
            axis.legend(*zip(*theirs, strict=True), frameon=False, fontsize=7, loc="best")


def task_panels(
    panel: Panel,
    rows: Sequence[Row],
    colors: Mapping[str, str],
    published: Sequence[Published] = (),
    fields: Sequence[Field] = (),
) -> list[TaskPanel]:
    """Return a panel for each task that has its metric."""
    if panel.kind == "grid":
        return _surfaces(panel, colors, fields)
    scores = tuple(published) if panel.metric.policies and panel.kind == "curves" else ()
    own: dict[str, list[Row]] = {}
    for row in rows:
        if _base(row.metric) == panel.metric.title:
            own.setdefault(row.task, []).append(row)
    found = []
    for task, there in own.items():
        names = {row.variant for row in there}
        drawn = tuple(name for name in panel.variants or variants_of(rows) if name in names)
        if drawn:
            found.append(TaskPanel(panel, task, tuple(there), drawn, colors, scores))
    return found


def _surfaces(panel: Panel, colors: Mapping[str, str], fields: Sequence[Field]) -> list[TaskPanel]:
    """Return a panel for each task that has surfaces for it."""
    found = []
    for task in dict.fromkeys(one.task for one in fields):
        shown = tuple(
            one
            for one in of_panel(fields, panel.metric.title, task)
            if one.name or not panel.variants or one.variant in panel.variants
        )
        if shown:
            titles = tuple(one.title for one in shown)
            found.append(TaskPanel(panel, task, (), titles, colors, fields=shown))
    return found


def draw_experiment(
    experiment: Experiment,
    rows: Sequence[Row],
    *,
    as_paper: bool = False,
    published: Sequence[Published] = (),
    fields: Sequence[Field] = (),
) -> Figure:
    """Draw an experiment's panels: a column for each task, a row for each panel, one legend.

    More than four tasks are folded into blocks of rows.

    Bands are 95 % t-intervals over seeds; ``as_paper`` draws one standard error instead.
    ``published``: scores of others to draw beside the returns; ``fields``: surfaces.
    """
    colors = variant_colors(variants_of(rows), experiment.roles)
    found = {
        panel: task_panels(panel, rows, colors, published, fields) for panel in experiment.panels
    }
    found = {panel: drawn for panel, drawn in found.items() if drawn}
    if not found:
        remedy = f"make its table: lff experiment run {experiment.name}"
        raise BadInputError("panels", experiment.name, "drawn from a table", remedy)
    tasks = list(dict.fromkeys(row.task for row in rows))
    with mpl.rc_context(SETTINGS):
        blocks = [tasks[i : i + ACROSS] for i in range(0, len(tasks), ACROSS)]
        columns = len(blocks[0])
        width = max(WIDTH * columns, NARROWEST)
        heights = [
            max(one.height for one in drawn)
            * (width / columns / WIDTH if panel.kind == "grid" else 1)  # tiles stay square
            for panel, drawn in found.items()
        ]
        size = (width, sum(heights) * len(blocks) + 0.9)
        figure = blank_figure(*size)
        axes = figure.subplots(
            len(found) * len(blocks), columns, squeeze=False, height_ratios=heights * len(blocks)
        )
        lines = iter(axes)
        for block in blocks:
            for i, drawn in enumerate(found.values()):
                line = next(lines)
                _draw_line(line, block, drawn, as_paper=as_paper)
                for axis, task in zip(line, block if i == 0 else (), strict=False):
                    axis.set_title(task, fontsize=10)
        _legend(figure, legend_entries(rows, colors))
    return figure


def _draw_line(
    line: Sequence[Any], tasks: Sequence[str], drawn: Sequence[TaskPanel], *, as_paper: bool
) -> None:
    """Draw one panel of some tasks side by side."""
    by_task = {one.task: one for one in drawn}
    for axis, task in zip_longest(line, tasks):
        if task in by_task:
            by_task[task].draw(axis, as_paper=as_paper)
        else:
            axis.set_axis_off()
        if axis is not line[0]:
            axis.set_ylabel("")


def _heights(rows: Sequence[Row], variant: str, part: str) -> tuple[Any, list[float]]:
    """Return evenly spaced x on [-1, 1] and the heights there."""
    own = {
        int(row.metric.rpartition(" ")[2].rstrip("]")): row.value
        for row in rows
        if row.variant == variant and f"[{part} " in row.metric
    }
    return np.linspace(-1, 1, len(own)), [own[i] for i in sorted(own)]


def draw_panel(panel: TaskPanel) -> Figure:
    """Draw one panel of one task alone."""
    with mpl.rc_context(SETTINGS):
        figure = blank_figure(WIDTH, panel.height)
        panel.draw(figure.subplots())
    return figure


class LegendEntry(NamedTuple):
    """The line of a variant."""

    name: str
    color: str
    dash: tuple[float, ...] = ()


def legend_entries(rows: Sequence[Row], colors: Mapping[str, str]) -> list[LegendEntry]:
    """Return the lines of a table's figures."""
    found = [LegendEntry(name, colors[name]) for name in variants_of(rows)]
    if any(row.variant == RANDOM for row in rows):
        found.append(LegendEntry(RANDOM, GREY, DOTTED))
    return found


def variants_of(rows: Sequence[Row]) -> list[str]:
    """Return the variants of a table in its order, without the policies that learn nothing."""
    return [name for name in dict.fromkeys(row.variant for row in rows) if name not in POLICIES]


def _legend(figure: Figure, entries: Sequence[LegendEntry]) -> None:
    handles = [
        Line2D(
            [], [], color=one.color, linestyle=(0, one.dash) if one.dash else "-", label=one.name
        )
        for one in entries
    ]
    columns = max(1, min(len(handles), int(figure.get_figwidth() // 2.4)))
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False)


def _steps_label(task: str) -> str:
    return "environment steps" if "/" in task else "steps"


def _base(metric: str) -> str:
    """Return a metric's title without the number of a bin."""
    return metric.partition("[")[0] if metric.endswith("]") else metric


def _first_and_last(rows: Sequence[Row], metric: str) -> list[tuple[int, bool]]:
    steps = sorted({row.step for row in rows if _base(row.metric) == metric})
    return [(steps[0], True), (steps[-1], False)] if len(steps) > 1 else [(steps[0], False)]


def _counts(rows: Sequence[Row], variant: str, metric: str, step: int) -> list[float]:
    """Return the counts of each bin, summed over seeds."""
    bins: dict[int, float] = {}
    for row in rows:
        if row.variant == variant and row.step == step and _base(row.metric) == metric:
            place = int(row.metric[len(metric) + 1 : -1] or 0)
            bins[place] = bins.get(place, 0.0) + row.value
    return [bins.get(i, 0.0) for i in range(max(bins, default=0) + 1)]
