"""Curves over steps: one line per variant, with its band over seeds."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lff.report.style import variant_colors
from lff.stats import Curves, Metric, Row, stratified_bootstrap, t_interval

FEW = 3
"""A curve of no more points than this shows them."""
FEWEST = 3
"""Runs from which on there is a 95 % band: Student's of two runs is 18 standard errors wide."""


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
        scores = [np.log(table) for table in scores] if log else scores
        mean = np.array([table.mean() for table in scores])
        bands = np.array([_band(table, as_paper=as_paper) for table in scores]).reshape(-1, 2)
        mean, bands = (np.exp(mean), np.exp(bands)) if log else (mean, bands)
        color, marker = colors[name], "o" if len(steps) <= FEW else ""
        axis.plot(steps, mean, color=color, label=name, marker=marker, markersize=4)
        axis.fill_between(steps, *bands.T, color=color, alpha=0.2, linewidth=0)
        banded = banded or bool((bands[:, 0] < bands[:, 1]).any())
        _mark_lost(axis, [row for row in rows if row.variant == name], color)
    axis.set_ylabel(metric)
    if not legend:
        return
    title = "mean, 95 % interval" if banded and not as_paper else None
    axis.legend(frameon=False, fontsize=8, title=title, title_fontsize=8, alignment="left")


def center_and_band(
    values: Sequence[float], *, as_paper: bool = False, log: bool = False
) -> tuple[float, float, float]:
    """Return the mean of the finite values of one task and its band, as the curves have them.

    >>> center_and_band([0.0, 2.0], as_paper=True)
    (1.0, 0.0, 2.0)
    """
    finite = [v for v in values if math.isfinite(v) and (v > 0 or not log)]
    if not finite:
        return math.nan, math.nan, math.nan
    taken = np.array(finite)[:, None]
    taken = np.log(taken) if log else taken
    found = (float(taken.mean()), *_band(taken, as_paper=as_paper))
    return (math.exp(found[0]), math.exp(found[1]), math.exp(found[2])) if log else found


def _mark_lost(axis: Any, rows: Sequence[Row], color: str) -> None:
    lost = sorted({row.step for row in rows if not math.isfinite(row.value)})
    if lost:
        edge = axis.get_xaxis_transform()
        axis.plot(
            lost, [0.985] * len(lost), "x", color=color, transform=edge, markersize=5, clip_on=False
        )


def _scores(curves: Curves, name: str) -> tuple[list[int], list[NDArray[np.float64]]]:
    """Return the steps and, for each, the values (run, task) of the tasks that are that far.

    Tasks with unequal numbers of runs are cut to the fewest.
    """
    by_step: dict[int, dict[str, list[float]]] = {}
    for task in curves.tasks:
        for seed in curves.seeds(name, task):
            for step, value in curves.carried(name, task, seed).items():
                by_step.setdefault(step, {}).setdefault(task, []).append(value)
    steps = sorted(by_step)
    tables = []
    for step in steps:
        columns = by_step[step].values()
        runs = min(len(column) for column in columns)
        tables.append(np.array([column[:runs] for column in columns]).T)
    return steps, tables


def _band(scores: NDArray[np.float64], *, as_paper: bool) -> tuple[float, float]:
    runs, tasks = scores.shape
    mean = float(scores.mean())
    if as_paper:
        error = float(scores.std(ddof=1)) / scores.size**0.5 if scores.size > 1 else 0.0
        return mean - error, mean + error
    if runs < FEWEST:
        return mean, mean
    if tasks == 1:
        interval = t_interval(scores[:, 0].tolist())
    else:
        interval = stratified_bootstrap(scores, lambda x: float(x.mean()), resamples=500)
    return interval.low, interval.high
