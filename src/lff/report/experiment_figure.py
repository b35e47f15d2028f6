"""Figures of an experiment, from its table alone: a row for a panel, a column for a task."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product, zip_longest
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from lff.core.errors import BadInputError
from lff.experiments.spec import Experiment, Panel
from lff.report import style
from lff.report.drawing import (
    draw_bars,
    draw_curves,
    draw_floor,
    draw_histograms,
    draw_middle,
    draw_profile,
    draw_published,
    draw_tiles,
    tile_shape,
)
from lff.stats import RANDOM, ZERO, Curves, Field, Published, Row
from lff.stats.fields import of_panel
from lff.stats.metrics import span_of

POLICIES = (RANDOM, ZERO)
"""Variants of a table that learn nothing: floors to compare with."""
NARROWEST = 5.5
"""Inches of a figure: its legend must fit."""
ACROSS = 4
"""Tasks side by side; further ones are a block of rows below."""
OVER_TASKS = {"profile": "performance profile", "middle": "interquartile mean"}
"""Kinds of panels that are drawn once, over all tasks, and their titles."""
TILE = 1.1
"""Inches that a row of four surfaces is high."""


@dataclass(frozen=True)
class TaskPanel:
    """One panel of one task."""

    panel: Panel
    task: str
    rows: Sequence[Row]
    """The rows of this task and metric."""
    variants: Sequence[str]
    """The variants drawn."""
    colors: Mapping[str, str]
    published: Sequence[Published] = ()
    fields: Sequence[Field] = ()
    """The surfaces of this task."""

    @property
    def label(self) -> str:
        """Description for readers who cannot see the figure."""
        return f"{self.panel.metric.title} on {self.task}: {', '.join(self.variants)}"

    @property
    def height(self) -> float:
        """Inches."""
        if self.panel.kind != "grid":
            return style.HEIGHT
        rows, columns = tile_shape(len(self.fields))
        lines = 1.05 if any(", " in one.title for one in self.fields) else 1.0
        return rows * TILE * lines * 4 / columns

    def draw(self, axis: Any, *, as_paper: bool = False) -> None:
        """Draw it."""
        if self.panel.kind == "grid":
            draw_tiles(axis, {one.title: one.values for one in self.fields})
        elif self.panel.kind in OVER_TASKS:
            self._draw_scores(axis)
        else:
            self._draw_rows(axis, as_paper=as_paper)

    def _draw_rows(self, axis: Any, *, as_paper: bool) -> None:
        panel, colors, title = self.panel, self.colors, self.panel.metric.title
        drawn: dict[str, Any] = {"colors": colors, "as_paper": as_paper, "log": panel.log}
        rows = [row for row in self.rows if row.variant in self.variants]
        match panel.kind:
            case "curves":
                draw_curves(axis, rows, metric=title, variants=self.variants, legend=False, **drawn)
                unit = "environment steps" if "/" in self.task else "steps"
                axis.set_xlabel(panel.x or unit)
                if panel.log_x:
                    axis.set_xscale("log")
                    style.log_ticks(axis.xaxis, *axis.get_xlim(), form=style.short_number)
                else:
                    style.plain_ticks(axis.xaxis)
            case "bars":
                curves = Curves(rows, metric=panel.metric)
                ends = {n: curves.values(n, self.task, "last") for n in self.variants}
                draw_bars(axis, ends, **drawn)
            case "histogram":
                steps = sorted({row.step for row in rows})
                for step in dict.fromkeys((steps[0], steps[-1])):
                    counts = {n: _bins(rows, n, step=step) or [0.0] for n in self.variants}
                    draw_histograms(axis, counts, colors=colors, faint=step != steps[-1])
                axis.set_xlabel("standard deviations; dotted: at the start")
            case "fit":
                for name in self.variants:
                    heights = _bins(rows, name, part="curve ")
                    x = np.linspace(-1, 1, len(heights))
                    axis.plot(x, heights, color=colors[name], linewidth=1.4)
                points = _bins(rows, self.variants[0], part="points ")
                axis.plot(np.linspace(-1, 1, len(points)), points, "k.", markersize=5)
                axis.set_xlabel("x; dots: the points of the first draw")
        axis.set_ylabel(title)
        self._lines(axis)
        if self.published:
            last = max(row.step for row in self.rows)
            draw_published(axis, self.published, task=self.task, until=last)
        style.dress(axis, log=panel.log)

    def _draw_scores(self, axis: Any) -> None:
        measured = f"mean {self.panel.metric.title} over the curve, share of the task's span"
        draw = draw_profile if self.panel.kind == "profile" else draw_middle
        draw(axis, self._scores(), colors=self.colors)
        axis.set_xlabel(measured)
        axis.set_ylim(bottom=0)
        style.dress(axis)

    def _scores(self) -> dict[str, NDArray[np.float64]]:
        """Return each variant's scores (run, task), cut to the fewest runs of a task."""
        curves = Curves(self.rows, metric=self.panel.metric)
        found = {}
        for name in self.variants:
            columns = [
                np.divide(curves.values(name, task, "mean"), span_of(task) or 1.0)
                for task in curves.tasks
            ]
            fewest = min(len(column) for column in columns)
            found[name] = np.stack([column[:fewest] for column in columns], axis=1)
        return found

    def _lines(self, axis: Any) -> None:
        title = self.panel.metric.title
        floor = [r.value for r in self.rows if r.variant == RANDOM and r.metric == title]
        finite = [value for value in floor if np.isfinite(value)]
        if finite:
            draw_floor(axis, float(np.mean(finite)))
        if self.panel.line is not None:
            axis.axhline(self.panel.line, color="black", linewidth=0.8, linestyle=(0, (4, 3)))
            place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "xytext": (-2, 3)}
            place |= {"textcoords": "offset points", "ha": "right", "va": "bottom"}
            axis.annotate(self.panel.line_label, (1, self.panel.line), fontsize=8, **place)


def task_panels(
    panel: Panel,
    rows: Sequence[Row],
    colors: Mapping[str, str],
    published: Sequence[Published] = (),
    fields: Sequence[Field] = (),
) -> list[TaskPanel]:
    """Return a panel for each task that has its metric."""
    found = []
    if panel.kind == "grid":
        for task in dict.fromkeys(one.task for one in fields):
            drawn = [*panel.variants] or [one.variant for one in fields]
            surfaces = of_panel(fields, panel.metric.title, task)
            shown = [one for one in surfaces if one.name or one.variant in drawn]
            titles = [one.title for one in shown]
            found.append(TaskPanel(panel, task, (), titles, colors, fields=shown))
    elif panel.kind in OVER_TASKS:
        own = [row for row in rows if row.metric == panel.metric.title]
        shared = [v for v in variants_of(own) if len({r.task for r in own if r.variant == v}) > 1]
        found.append(TaskPanel(panel, OVER_TASKS[panel.kind], own, shared, colors))
    else:
        scores = published if panel.metric.policies and panel.kind == "curves" else ()
        own = [row for row in rows if row.metric.partition("[")[0] == panel.metric.title]
        for task in dict.fromkeys(row.task for row in own):
            there = [row for row in own if row.task == task]
            names = {row.variant for row in there}
            drawn = [name for name in panel.variants or variants_of(rows) if name in names]
            found.append(TaskPanel(panel, task, there, drawn, colors, scores))
    return [one for one in found if one.variants]


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
    colors = style.variant_colors(variants_of(rows), experiment.roles)
    found = {
        panel: task_panels(panel, rows, colors, published, fields) for panel in experiment.panels
    }
    found = {panel: drawn for panel, drawn in found.items() if drawn}
    if found:  # what is over all tasks stands behind the tasks of the first panel
        first = next(iter(found))
        for panel in [one for one in found if one.kind in OVER_TASKS and one is not first]:
            found[first] = [*found[first], *found.pop(panel)]
    if not found:
        remedy = f"make its table: lff experiment run {experiment.name}"
        raise BadInputError("panels", experiment.name, "drawn from a table", remedy)
    tasks = [row.task for row in rows] + [one.task for drawn in found.values() for one in drawn]
    tasks = list(dict.fromkeys(tasks))
    blocks = [tasks[i : i + ACROSS] for i in range(0, len(tasks), ACROSS)]
    columns = len(blocks[0])
    width = max(style.WIDTH * columns, NARROWEST)
    heights = [
        max(one.height for one in drawn)
        * (width / columns / style.WIDTH if panel.kind == "grid" else 1)  # tiles stay square
        for panel, drawn in found.items()
    ] * len(blocks)
    with mpl.rc_context(style.SETTINGS):
        figure = style.blank_figure(width, sum(heights) + 0.9)
        lines = figure.subplots(len(heights), columns, squeeze=False, height_ratios=heights)
        for line, (block, panel) in zip(lines, product(blocks, found), strict=True):
            by_task = {one.task: one for one in found[panel]}
            for axis, task in zip_longest(line, block):
                if task in by_task:
                    by_task[task].draw(axis, as_paper=as_paper)
                else:
                    axis.set_axis_off()
                if panel is next(iter(found)):
                    axis.set_title(task or "", fontsize=10)
            for axis in line[1:]:
                axis.set_ylabel("")
        _legend(figure, legend_entries(rows, colors))
    return figure


def draw_panel(panel: TaskPanel) -> Figure:
    """Draw one panel of one task alone."""
    with mpl.rc_context(style.SETTINGS):
        figure = style.blank_figure(style.WIDTH, panel.height)
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
        found.append(LegendEntry(RANDOM, style.GREY, style.DOTTED))
    return found


def variants_of(rows: Sequence[Row]) -> list[str]:
    """Return the variants of a table in its order, without the policies that learn nothing."""
    return [name for name in dict.fromkeys(row.variant for row in rows) if name not in POLICIES]


def _legend(figure: Figure, entries: Sequence[LegendEntry]) -> None:
    handles = [
        Line2D([], [], color=e.color, label=e.name, linestyle=(0, e.dash) if e.dash else "-")
        for e in entries
    ]
    columns = max(1, min(len(handles), int(figure.get_figwidth() // 2.4)))
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False)


def _bins(
    rows: Sequence[Row], variant: str, *, part: str = "", step: int | None = None
) -> list[float]:
    """Return the values of ``metric[part 0]``, ``metric[part 1]``, ..., summed over seeds."""
    bins: dict[int, float] = {}
    for row in rows:
        label = row.metric.partition("[")[2].rstrip("]")
        if row.variant == variant and step in (None, row.step) and label.startswith(part):
            place = int(label.removeprefix(part) or 0)
            bins[place] = bins.get(place, 0.0) + row.value
    return [bins.get(i, 0.0) for i in range(max(bins, default=-1) + 1)]
