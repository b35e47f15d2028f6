"""Drawing on one axis: curves with bands, bars, histograms, published scores, surfaces."""

import math
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lff.report.style import DOTTED, GREY, PUBLISHED, variant_colors
from lff.stats import (
    Curves,
    Metric,
    Published,
    Row,
    interquartile_mean,
    stratified_bootstrap,
    t_interval,
)

FEW = 3  # a curve of no more points than this shows them
FEWEST = 3
"""Runs from which on there is a 95 % band: Student's of two runs is 18 standard errors wide."""
LOGARITHMIC = ("train/q_max", "train/critic_loss", "_B_std", "_B_norm")
"""Ends of the names of metrics that are drawn on a logarithmic scale."""
MARKERS = "osD^v"
BAR = 0.12  # the share of a figure that its colour bar takes
TITLE = 0.22  # the share of a tile that its title takes, two lines at most


def draw_curves(
    axis: Any,
    rows: Sequence[Row],
    *,
    metric: str,
    variants: Sequence[str] | None = None,
    as_paper: bool = False,
    colors: Mapping[str, str] | None = None,
    log: bool = False,
    legend: bool = True,
) -> None:
    """Draw the mean of ``metric`` over the runs against steps, and a band around it.

    The band is the mean's 95 % interval: Student's over the seeds of one task, as in the verdicts;
    with several tasks the bootstrap that draws seeds within each.  ``as_paper``: one standard
    error.  A run that diverged stays at its last finite value as long as its variant has others;
    a cross on the upper edge is where it did.  On a ``log`` scale mean and band are of the
    logarithms.  ``colors``: by variant; by its role if left out.
    """
    rows = [row for row in rows if row.metric == metric and not (log and row.value <= 0)]
    names = list(variants or dict.fromkeys(row.variant for row in rows))
    colors = colors or variant_colors(names)
    banded = False
    if log:
        axis.set_yscale("log")
    for name in names:
        steps, scores = _scores(Curves(rows, metric=Metric(metric), variants=[name]), name)
        found = [center_and_band(table, as_paper=as_paper, log=log) for table in scores]
        mean, low, high = np.array(found).reshape(-1, 3).T
        color, marker = colors[name], "o" if len(steps) <= FEW else ""
        axis.plot(steps, mean, color=color, label=name, marker=marker, markersize=4)
        axis.fill_between(steps, low, high, color=color, alpha=0.2, linewidth=0)
        banded = banded or bool((low < high).any())
        lost = {row.step for row in rows if row.variant == name and not math.isfinite(row.value)}
        if lost:
            edge = {"transform": axis.get_xaxis_transform(), "clip_on": False}
            axis.plot([*sorted(lost)], [0.985] * len(lost), "x", color=color, markersize=5, **edge)
    axis.set_ylabel(metric)
    if legend:
        seeds = len({(row.task, row.seed) for row in rows})
        title = f"mean of {seeds} runs, 95 % interval" if banded and not as_paper else None
        axis.legend(frameon=False, fontsize=8, title=title, title_fontsize=8, alignment="left")


def _scores(curves: Curves, name: str) -> tuple[list[int], list[NDArray[np.float64]]]:
    """Return the steps and, for each, the values (run, task) of the tasks that are that far.

    Tasks with unequal numbers of runs are cut to the fewest.
    """
    by_step: dict[int, dict[str, list[float]]] = {}
    for task in curves.tasks:
        for seed in curves.seeds(name, task):
            for step, value in curves.carried(name, task, seed).items():
                by_step.setdefault(step, {}).setdefault(task, []).append(value)
    tables = [
        np.array([*zip(*columns.values(), strict=False)]) for _, columns in sorted(by_step.items())
    ]
    return sorted(by_step), tables


def center_and_band(
    scores: NDArray[np.float64], *, as_paper: bool = False, log: bool = False
) -> NDArray[np.float64]:
    """Return the mean of values (run, task) and both ends of its band, if ``log`` by logarithms.

    >>> center_and_band(np.array([[0.0], [2.0]]), as_paper=True).tolist()
    [1.0, 0.0, 2.0]
    """
    if log:
        return np.exp(center_and_band(np.log(scores), as_paper=as_paper))
    mean = scores.mean()
    error = 0.0
    if as_paper and scores.size > 1:
        error = scores.std(ddof=1) / scores.size**0.5
    elif not as_paper and len(scores) >= FEWEST:
        if scores.shape[1] == 1:
            interval = t_interval(scores[:, 0].tolist())
        else:
            interval = stratified_bootstrap(scores, lambda x: float(x.mean()), resamples=500)
        return np.array([mean, interval.low, interval.high])
    return np.array([mean, mean - error, mean + error])


def draw_floor(axis: Any, value: float) -> None:
    """Draw the return of a policy that learns nothing."""
    axis.axhline(value, color=GREY, linewidth=1.2, linestyle=(0, DOTTED))


def draw_bars(
    axis: Any,
    values: Mapping[str, Sequence[float]],
    *,
    colors: Mapping[str, str],
    as_paper: bool = False,
    log: bool = False,
) -> None:
    """Draw each variant's mean over seeds as a point with its band, and the seeds beside it."""
    if log:
        axis.set_yscale("log")
    for place, (name, found) in enumerate(values.items()):
        color = colors[name]
        seeds = np.array([v for v in found if math.isfinite(v)])
        axis.plot([place + 0.18] * len(seeds), seeds, "o", color=color, markersize=3, alpha=0.45)
        drawn = seeds[seeds > 0] if log else seeds
        if drawn.size:
            center, *ends = center_and_band(drawn[:, None], as_paper=as_paper, log=log)
            axis.plot([place, place], ends, color=color, linewidth=2)
            axis.plot([place], [center], "s", color=color, markersize=6)
    axis.set_xticks(range(len(values)), [""] * len(values))
    axis.set_xlim(-0.6, len(values) - 0.4)


def draw_ends(
    axis: Any,
    values: Mapping[str, Sequence[Sequence[float]]],
    *,
    colors: Mapping[str, str],
    as_paper: bool = False,
    log: bool = False,
) -> None:
    """Draw each variant's mean over seeds at each place of the x-axis, with its band.

    ``values``: by variant, the seeds' values at each place.  Points stand side by side.
    """
    if log:
        axis.set_yscale("log")
    for i, (name, places) in enumerate(values.items()):
        shift = 0.5 * ((i + 0.5) / len(values) - 0.5)
        points = []
        for place, found in enumerate(places):
            kept = np.array([v for v in found if math.isfinite(v) and (v > 0 or not log)])
            if kept.size:
                center, *ends = center_and_band(kept[:, None], as_paper=as_paper, log=log)
                points.append((place + shift, center))
                axis.plot([place + shift] * 2, ends, color=colors[name], linewidth=1.6, alpha=0.6)
        line = {"color": colors[name], "linewidth": 0.8, "marker": "o", "markersize": 3.5}
        axis.plot(*zip(*points, strict=True), label=name, **line)


def draw_profile(
    axis: Any, scores: Mapping[str, NDArray[np.float64]], *, colors: Mapping[str, str]
) -> None:
    """Draw the share of runs whose score (run, task) is above τ, with bootstrap bands."""
    levels = np.linspace(0, max(table.max() for table in scores.values()), 101)
    for name, table in scores.items():
        rng = np.random.default_rng(0)
        drawn = rng.integers(len(table), size=(500, *table.shape))
        samples = np.take_along_axis(table[None], drawn, axis=1)
        shares = (samples[..., None] > levels).mean(axis=(1, 2))
        low, high = np.percentile(shares, [2.5, 97.5], axis=0)
        center = (table[..., None] > levels).mean(axis=(0, 1))
        axis.plot(levels, center, color=colors[name], linewidth=1.6)
        axis.fill_between(levels, low, high, color=colors[name], alpha=0.18, linewidth=0)
    axis.set_ylabel("share of runs above")


def draw_middle(
    axis: Any, scores: Mapping[str, NDArray[np.float64]], *, colors: Mapping[str, str]
) -> None:
    """Draw the interquartile mean of scores (run, task) with its stratified bootstrap interval."""
    for place, (name, table) in enumerate(scores.items()):
        found = stratified_bootstrap(table, interquartile_mean)
        axis.plot([place, place], [found.low, found.high], color=colors[name], linewidth=3)
        axis.plot([place], [found.estimate], "s", color=colors[name], markersize=7)
    axis.set_xticks(range(len(scores)), [*scores])
    axis.set_xlim(-0.6, len(scores) - 0.4)


def draw_histograms(
    axis: Any,
    counts: Mapping[str, Sequence[float]],
    *,
    colors: Mapping[str, str],
    faint: bool = False,
) -> None:
    """Draw each variant's share of entries in equal bins from -4 to 4, as outlines."""
    style = {"linestyle": (0, (1.0, 1.5))} if faint else {}
    for name, found in counts.items():
        share = np.asarray(found) / max(sum(found), 1e-300)
        edges = np.linspace(-4, 4, len(share) + 1)
        axis.stairs(share, edges, color=colors[name], linewidth=1.4, **style)


def draw_published(axis: Any, scores: Sequence[Published], *, task: str, until: float) -> None:
    """Draw what others have published on ``task`` (``dmc/cheetah-run`` or ``cheetah-run``).

    One marker per score at its environment steps, with one standard deviation where it is known.
    Of an algorithm whose first score is later than ``until``, our last step, a dotted line that
    ends in its marker shows that first score, and its label says when it was reached.  They have a
    legend of their own.
    """
    own = [score for score in scores if score.task == task.rpartition("/")[2]]
    algorithms = dict.fromkeys(score.algorithm for score in own)
    for name, marker in zip(algorithms, cycle(MARKERS), strict=False):
        theirs = sorted((s for s in own if s.algorithm == name), key=lambda s: s.env_steps)
        reached = [s for s in theirs if s.env_steps <= until]
        style: dict[str, Any] = {"color": PUBLISHED, "marker": marker, "markersize": 5}
        style["markerfacecolor"] = "white"
        if reached:
            columns = ((s.env_steps, s.score, s.spread) for s in reached)
            steps, means, spreads = zip(*columns, strict=True)
            bars = [spread or 0.0 for spread in spreads] if any(spreads) else None
            style |= {"linestyle": "none", "elinewidth": 1, "capsize": 2}
            axis.errorbar(steps, means, yerr=bars, label=f"{name} (published)", **style)
        else:
            label = f"{name} at {theirs[0].env_steps:,} (published)"
            axis.axhline(theirs[0].score, color=PUBLISHED, linestyle=":", linewidth=1)
            axis.plot([until], [theirs[0].score], linestyle=":", label=label, **style)
    marks = zip(*axis.get_legend_handles_labels(), strict=True)
    shown = [(mark, name) for mark, name in marks if name.endswith("(published)")]
    if shown:
        axis.legend(*zip(*shown, strict=True), frameon=False, fontsize=7, loc="best")


def draw_tiles(axis: Any, grids: Mapping[str, ArrayLike]) -> tuple[float, float]:
    """Draw named grids as tiles inside one axis, rows from top to bottom, with a colour bar.

    One scale for all: from the 0.5 % to the 99.5 % point of all values, so that a single cell does
    not take the colours of the others.  Cells without a value stay empty.  Returns the scale.
    """
    axis.set_axis_off()
    values = {title: np.asarray(grid, dtype=np.float64) for title, grid in grids.items()}
    rows, columns = tile_shape(len(values))
    finite = np.concatenate([grid[np.isfinite(grid)] for grid in values.values()])
    low, high = np.percentile(finite, (0.5, 99.5)) if finite.size else (0.0, 1.0)
    width, height = (1 - BAR) / columns, 1 / rows
    title = TITLE * (1.3 if any(", " in name for name in values) else 1)  # of two lines
    image = None
    for i, (name, grid) in enumerate(values.items()):
        down, across = divmod(i, columns)
        box = (across * width, 1 - (down + 1) * height, 0.95 * width, (1 - title) * height)
        tile = axis.inset_axes(box, xticks=[], yticks=[], anchor="N")
        image = tile.imshow(grid, vmin=low, vmax=high, interpolation="none")
        tile.set_title(name.replace(", ", ",\n"), fontsize=6.5, pad=2, linespacing=0.95)
    if image is not None:
        bar = axis.figure.colorbar(image, cax=axis.inset_axes((1 - 0.6 * BAR, 0.1, 0.02, 0.75)))
        bar.ax.tick_params(labelsize=7, length=2)
        bar.outline.set_linewidth(0.5)
    return float(low), float(high)


def tile_shape(count: int) -> tuple[int, int]:
    """Return rows and columns of so many tiles.

    >>> [tile_shape(count) for count in (1, 3, 4, 5, 8, 9)]
    [(1, 1), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)]
    """
    rows = -(-count // 4)
    return rows, -(-count // max(rows, 1)) if rows < 3 else 4
