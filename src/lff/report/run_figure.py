"""Figures of runs: returns with their episodes, Q-values, B and features."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from lff.report.bars import draw_histograms
from lff.report.curves import draw_curves
from lff.report.style import (
    DOTTED,
    GREY,
    HEIGHT,
    SETTINGS,
    WIDTH,
    blank_figure,
    dress,
    plain_ticks,
    run_colors,
)
from lff.runs.read import RETURN, Run, as_number
from lff.stats import Row


@dataclass(frozen=True)
class Chart:
    """One figure over all runs."""

    title: str
    metric: str
    """Its name in the metrics file."""
    log: bool = False
    kind: str = "curves"


@dataclass(frozen=True)
class Group:
    """Charts under one heading."""

    title: str
    note: str
    charts: tuple[Chart, ...]


GROUPS = (
    Group(
        "Return",
        "Mean of the evaluation's episodes; the band is one standard deviation over them, the dots "
        "are the episodes, the dotted line is the random policy.",
        (
            Chart("evaluation", RETURN, kind="return"),
            Chart("training episodes", "train/episode_return"),
        ),
    ),
    Group(
        "Q-values",
        "The bias is what the critics expected at the first step minus the discounted return that "
        "followed. × on the upper edge: not finite there.",
        (
            Chart("largest |Q|", "train/q_max", log=True),
            Chart("mean Q", "train/q_mean"),
            Chart("bias of Q", "eval/q_bias"),
            Chart("critic loss", "train/critic_loss", log=True),
        ),
    ),
    Group(
        "Drift of B",
        "Standard deviation of the entries, and their histogram in units of it, at the first row "
        "(dotted) and the last.",
        (
            Chart("std of the actor's B", "lff/actor_B_std", log=True),
            Chart("std of the critics' B", "lff/critic_B_std", log=True),
            Chart("entries of the actor's B", "lff/actor_B_histogram", kind="histogram"),
            Chart("entries of the critics' B", "lff/critic_B_histogram", kind="histogram"),
        ),
    ),
    Group(
        "Phases",
        "Median of |2πBx| in radians, with the band from the 5 % to the 95 % quantile; share of "
        "the features that are neither linear nor constant.",
        (
            Chart("phases of the actor", "lff/actor_phase", kind="phase"),
            Chart("phases of the critics", "lff/critic_phase", kind="phase"),
            Chart("share of waves, actor", "lff/actor_wave_share"),
            Chart("share of waves, critics", "lff/critic_wave_share"),
        ),
    ),
    Group(
        "Features",
        "Effective rank of the input of the last layer, and the share of dormant hidden units.",
        (
            Chart("effective rank, actor", "net/actor_effective_rank"),
            Chart("effective rank, critics", "net/critic_effective_rank"),
            Chart("dormant units, actor", "net/actor_dormant"),
            Chart("dormant units, critics", "net/critic_dormant"),
        ),
    ),
)


def has_data(chart: Chart, runs: Sequence[Run]) -> bool:
    """Return whether any run has the chart's metric."""
    name = f"{chart.metric}_q50" if chart.kind == "phase" else chart.metric
    return any(row.get(name) is not None for run in runs for row in run.rows)


def draw_chart(chart: Chart, runs: Sequence[Run]) -> Figure:
    """Draw a chart with a line for each run."""
    kinds: dict[str, Callable[[Any, Chart, Sequence[Run]], None]] = {
        "curves": _curves,
        "return": _returns,
        "phase": _phases,
        "histogram": _histograms,
    }
    with mpl.rc_context(SETTINGS):
        figure = blank_figure(WIDTH, HEIGHT)
        axis = figure.subplots()
        kinds[chart.kind](axis, chart, runs)
        axis.set_ylabel("")
        if chart.kind != "histogram":
            axis.set_xlabel("environment steps")
            plain_ticks(axis.xaxis)
        dress(axis, log=chart.log)
    return figure


def _curves(axis: Any, chart: Chart, runs: Sequence[Run]) -> None:
    rows = [
        Row("run", run.name, run.env, run.seed, step, chart.metric, value)
        for run in runs
        for step, value in run.curve(chart.metric)
    ]
    colors = run_colors([run.name for run in runs])
    draw_curves(
        axis,
        rows,
        metric=chart.metric,
        variants=[*colors],
        colors=colors,
        log=chart.log,
        legend=False,
    )


def _returns(axis: Any, chart: Chart, runs: Sequence[Run]) -> None:
    colors = run_colors([run.name for run in runs])
    for run in runs:
        color = colors[run.name]
        steps, means = _finite(run.curve(chart.metric))
        spread = dict(run.curve("eval/return_std"))
        reach = np.array([spread.get(int(step), 0.0) for step in steps])
        axis.fill_between(steps, means - reach, means + reach, color=color, alpha=0.2, linewidth=0)
        for evaluation in run.evaluations:
            returns = [as_number(value) for value in evaluation.get("returns") or ()]
            finite = [value for value in returns if math.isfinite(value)]
            at = [int(evaluation.get("env_step", 0))] * len(finite)
            axis.plot(at, finite, "o", color=color, markersize=2.5, alpha=0.4, markeredgewidth=0)
    floors = {run.env: run.reference_mean("random") for run in runs}
    if len(floors) == 1 and all(map(math.isfinite, floors.values())):
        axis.axhline(*floors.values(), color=GREY, linewidth=1.2, linestyle=(0, DOTTED))
    _curves(axis, chart, runs)


def _phases(axis: Any, chart: Chart, runs: Sequence[Run]) -> None:
    colors = run_colors([run.name for run in runs])
    for run in runs:
        steps, middle = _finite(run.curve(f"{chart.metric}_q50"))
        low, high = (
            np.array([dict(run.curve(f"{chart.metric}_{q}")).get(int(s), math.nan) for s in steps])
            for q in ("q05", "q95")
        )
        color, marker = colors[run.name], "o" if len(steps) <= 3 else ""
        axis.plot(steps, middle, color=color, marker=marker, markersize=4)
        axis.fill_between(steps, low, high, color=color, alpha=0.2, linewidth=0)


def _histograms(axis: Any, chart: Chart, runs: Sequence[Run]) -> None:
    colors = run_colors([run.name for run in runs])
    for run in runs:
        found = [row[chart.metric] for row in run.rows if isinstance(row.get(chart.metric), list)]
        for counts, faint in ((found[:1], True), (found[-1:], False)):
            for bins in counts if len(found) > 1 or not faint else ():
                shown = {run.name: [as_number(value) for value in bins]}
                draw_histograms(axis, shown, colors=colors, faint=faint)
    axis.set_xlabel("standard deviations")


def _finite(curve: Sequence[tuple[int, float]]) -> tuple[Any, Any]:
    kept = [(step, value) for step, value in curve if math.isfinite(value)]
    return np.array([step for step, _ in kept]), np.array([value for _, value in kept])
