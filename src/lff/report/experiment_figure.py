"""Figures of an experiment, from its table alone, two panels wide."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    draw_ends,
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

POLICIES = (RANDOM, ZERO)  # variants of a table that learn nothing: floors to compare with
ACROSS = 2  # panels side by side: more could not be read on a phone or in a column of a paper
PANEL = (2.9, 2.05)  # inches of one panel of a figure
OVER_TASKS = {"profile": "performance profile", "middle": "interquartile mean"}
"""Kinds of panels that are drawn once, over all tasks, and their titles."""
TILE = 1.1  # inches that a row of four surfaces is high, in a panel of a page


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
    def title(self) -> str:
        """The task, or what is drawn over several."""
        if self.panel.kind != "ends":
            return OVER_TASKS.get(self.panel.kind, self.task)
        return ", ".join(("at the end", *_pieces(self.panel.tasks)[0]))

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
            case "ends":
                self._draw_ends(axis, Curves(rows, metric=panel.metric), **drawn)
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

    def _draw_ends(self, axis: Any, curves: Curves, **drawn: Any) -> None:
        names = [task for task in self.panel.tasks or curves.tasks if task in curves.tasks]
        points = {n: [curves.values(n, t, "last") for t in names] for n in self.variants}
        draw_ends(axis, points, **drawn)
        axis.set_xticks(range(len(names)), _pieces(names)[1])
        axis.set_xlabel(self.panel.x or "task")

    def _draw_scores(self, axis: Any) -> None:
        score = f"mean {self.panel.metric.title} / task's span"
        if self.panel.kind == "profile":
            draw_profile(axis, self._scores(), colors=self.colors)
            axis.set_xlabel(score)
        else:
            draw_middle(axis, self._scores(), colors=self.colors)
            axis.set_ylabel(score)
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
            left = self.panel.kind == "ends"  # where curves have not risen yet
            place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "xytext": (0, 3)}
            place |= {"textcoords": "offset points", "ha": "left" if left else "right"}
            at = (0.02 if left else 0.98, self.panel.line)
            axis.annotate(self.panel.line_label, at, fontsize=8, va="bottom", **place)


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
    elif panel.kind in (*OVER_TASKS, "ends"):
        own = [row for row in rows if row.metric == panel.metric.title]
        if panel.tasks:
            own = [row for row in own if row.task in panel.tasks]
        shared = [v for v in variants_of(own) if len({r.task for r in own if r.variant == v}) > 1]
        tasks = dict.fromkeys(row.task for row in own)
        found.append(TaskPanel(panel, ", ".join(tasks), own, shared, colors))
    else:
        scores = published if panel.metric.policies and panel.kind == "curves" else ()
        own = [row for row in rows if row.metric.partition("[")[0] == panel.metric.title]
        for task in dict.fromkeys(row.task for row in own):
            there = [row for row in own if row.task == task]
            names = {row.variant for row in there}
            drawn = [name for name in panel.variants or variants_of(rows) if name in names]
            found.append(TaskPanel(panel, task, there, drawn, colors, scores))
    return [one for one in found if one.variants and _is_drawn(panel, one.task)]


def draw_experiment(
    experiment: Experiment,
    rows: Sequence[Row],
    *,
    as_paper: bool = False,
    published: Sequence[Published] = (),
    fields: Sequence[Field] = (),
    across: int = ACROSS,
) -> Figure:
    """Draw an experiment's panels, ``across`` in a row, with one legend.

    Bands are 95 % t-intervals over seeds; ``as_paper`` draws one standard error instead.
    ``published``: scores of others to draw beside the returns; ``fields``: surfaces.
    """
    colors = style.variant_colors(variants_of(rows), experiment.roles)
    found = [task_panels(panel, rows, colors, published, fields) for panel in experiment.panels]
    lines = _lines([drawn for drawn in found if drawn], across)
    if not lines:
        remedy = f"make its table: lff experiment run {experiment.name}"
        raise BadInputError("panels", experiment.name, "drawn from a table", remedy)
    width, height = PANEL[0] * across, PANEL[1]
    heights = [
        line[0].height * width / len(line) / style.WIDTH if line[0].panel.kind == "grid" else height
        for line in lines
    ]
    with mpl.rc_context(style.SETTINGS):
        figure = style.blank_figure(width, sum(heights) + 0.9)
        places = figure.add_gridspec(len(lines), across, height_ratios=heights)
        titles: set[str] = set()
        for i, line in enumerate(lines):
            whole = len(line) == 1 and (line[0].panel.kind == "grid" or len(lines) == 1)
            for j, one in enumerate(line):
                axis = figure.add_subplot(places[i, :] if whole else places[i, j])
                one.draw(axis, as_paper=as_paper)
                if len({one.task for line in lines for one in line}) > 1 or not titles:
                    axis.set_title(one.title, fontsize=9)
                titles.add(one.title)
                if j and line[0].panel is one.panel:
                    axis.set_ylabel("")
        holes = len(lines) > 1 and len(lines[-1]) < across and not whole
        _legend(
            figure,
            legend_entries(rows, colors),
            title=caption(rows, as_paper=as_paper),
            beside=figure.add_subplot(places[-1, -1]) if holes else None,
        )
    return figure


def _lines(found: Sequence[Sequence[TaskPanel]], across: int) -> list[list[TaskPanel]]:
    """Return panels in lines of a figure, surfaces before the others.

    Several panels of the same tasks stand below one another, block by block; all else one after
    the other.
    """
    many = [[*drawn] for drawn in found if len(drawn) > 1]
    lines = []
    if len(many) > 1:
        starts = range(0, max(map(len, many)), across)
        lines = [drawn[i : i + across] for i in starts for drawn in many if drawn[i : i + across]]
    rest = [one for drawn in found if len(drawn) == 1 or len(many) < 2 for one in drawn]
    tiles = [[one] for one in rest if one.panel.kind == "grid"]
    others = [one for one in rest if one.panel.kind != "grid"]
    return [*tiles, *lines, *(others[i : i + across] for i in range(0, len(others), across))]


def caption(rows: Sequence[Row], *, as_paper: bool = False) -> str:
    """Return what lines and bands of a table's figures are.

    >>> caption([Row("x", "LFF", "t", seed, 0, "return", 1.0) for seed in range(5)])
    'mean of 5 seeds, band: 95 % interval'
    """
    seeds: dict[tuple[str, str], set[int]] = {}
    for row in rows:
        if row.variant not in POLICIES:
            seeds.setdefault((row.variant, row.task), set()).add(row.seed)
    counts = sorted({len(found) for found in seeds.values()}) or [0]
    if counts[-1] == 1:
        return "one seed"
    ends = "" if counts[0] == counts[-1] else f"{counts[0]} to "
    band = "one standard error" if as_paper else "95 % interval"
    return f"mean of {ends}{counts[-1]} seeds, band: {band}"


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


def _legend(figure: Figure, entries: Sequence[LegendEntry], *, title: str, beside: Any) -> None:
    """Write the legend and what bands are into an empty place of the figure, or below it."""
    handles = [
        Line2D([], [], color=e.color, label=e.name, linestyle=(0, e.dash) if e.dash else "-")
        for e in entries
    ]
    style_: dict[str, Any] = {"frameon": False, "fontsize": 8, "title": title, "title_fontsize": 8}
    if beside is not None:
        beside.set_axis_off()
        beside.legend(handles=handles, loc="center", alignment="left", **style_)
        return
    columns = max(1, min(len(handles), int(figure.get_figwidth() // 1.8)))
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, **style_)


def _pieces(tasks: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return what the names of tasks share, and what is left of each.

    >>> _pieces(["ridge, white", "ridge, 2 cells"])
    (['ridge'], ['white', '2 cells'])
    """
    parts = [task.split(", ") for task in tasks]
    shared = [piece for piece in parts[0] if all(piece in other for other in parts)]
    left = [", ".join(piece for piece in part if piece not in shared) for part in parts]
    return (shared, left) if len(tasks) > 1 else ([], [*tasks])


def _is_drawn(panel: Panel, task: str) -> bool:
    return not panel.tasks or task in panel.tasks or panel.kind in (*OVER_TASKS, "ends")


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
