"""One page for one run or several: results, figures, config, and the command to repeat it."""

import math
import shlex
from collections.abc import Callable, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from lff.report import style
from lff.report.drawing import FEW, LOGARITHMIC, draw_curves, draw_floor, draw_histograms
from lff.report.experiment_figure import LegendEntry
from lff.report.html import draw, number, png, render, show
from lff.runs.read import RETURN, Run, as_number, differences
from lff.stats import Row


def _both(title: str, metric: str) -> dict[str, str]:
    """Return a metric of the actor and the same of the critics."""
    names = {"actor": "actor", "critics": "critic"}
    return {f"{title}, {who}": metric.format(name) for who, name in names.items()}


GROUPS = {
    "Return": (
        "Mean of the evaluation's episodes; the band is one standard deviation over them, the dots "
        "are the episodes, the dotted line is the random policy.",
        {"evaluation": RETURN, "training episodes": "train/episode_return"},
    ),
    "Q-values": (
        "The bias is what the critics expected at the first step minus the discounted return that "
        "followed. × on the upper edge: not finite there.",
        {
            "largest |Q|": "train/q_max",
            "mean Q": "train/q_mean",
            "Q minus return": "eval/q_minus_return",
            "critic loss": "train/critic_loss",
        },
    ),
    "Drift of B": (
        "Standard deviation of the entries, and their histogram in units of it, at the first row "
        "(dotted) and the last.",
        _both("std of B", "lff/{}_B_std") | _both("entries of B", "lff/{}_B_histogram"),
    ),
    "Phases": (
        "Median of |2πBx| in radians, with the band from the 5 % to the 95 % quantile; share of "
        "the features that are neither linear nor constant.",
        _both("phases", "lff/{}_phase_q50") | _both("share of waves", "lff/{}_wave_share"),
    ),
    "Features": (
        "Effective rank of the input of the last layer, and the share of dormant hidden units.",
        _both("effective rank", "net/{}_effective_rank") | _both("dormant units", "net/{}_dormant"),
    ),
}
"""By heading: a note, and the metrics of its charts by their titles."""


def run_page(runs: Sequence[Run]) -> str:
    """Return the page as HTML, made from the runs' files alone; the same files, the same bytes."""
    names = [run.name for run in runs]
    fields = list(dict.fromkeys(name for run in runs for name in run.config))
    values = {name: [name, *(show(run.config.get(name)) for run in runs)] for name in fields}
    differ, colors = differences(runs), style.run_colors(runs)
    return render(
        "runs.html",
        title=names[0] if len(runs) == 1 else f"{len(runs)} runs: {', '.join(names)}",
        names=names,
        runs=runs,
        chips=_chips(runs),
        warnings=_warnings(runs),
        results=_results(runs),
        groups=_groups(runs),
        colors=[*dict.fromkeys(colors.values())],
        legend=[LegendEntry(name, color) for name, color in colors.items()],
        sheets={r.name: source for r in runs if r.sheet and (source := png(r.sheet))},
        evaluations=_evaluations(runs),
        differ=[values[name] for name in differ],
        alike=[line for name, line in values.items() if name not in differ],
        again=[shlex.join(["lff", "rerun", n, "--dir", f"{n}-again"]) for n in names],
        origins=[_origin(run) for run in runs],
    )


def _chips(runs: Sequence[Run]) -> list[str]:
    seeds = dict.fromkeys(str(run.seed) for run in runs)
    going = sum(not run.finished for run in runs)
    status = "not finished" if going else "finished"
    if len(runs) > 1:
        status = f"{going} of {len(runs)} not finished" if going else "all finished"
    seed = f"seed{'' if len(seeds) == 1 else 's'} {', '.join(seeds)}"
    return [*dict.fromkeys(run.env for run in runs), seed, status]


def _warnings(runs: Sequence[Run]) -> list[str]:
    found = []
    envs = dict.fromkeys(run.env for run in runs)
    if len(envs) > 1:
        found.append(f"Different tasks ({', '.join(envs)}): their returns do not compare.")
    for run in runs:
        curves = {name: run.curve(name) for name in ("train/q_max", "train/critic_loss")}
        lost = [n for n, curve in curves.items() if not all(math.isfinite(v) for _, v in curve)]
        if lost:
            found.append(f"{run.name}: not finite at some step: {', '.join(lost)}.")
    return found


def _results(runs: Sequence[Run]) -> list[list[str]]:
    returns = [[value for _, value in run.returns] for run in runs]
    lines = {
        "steps": [f"{run.steps:,} of {show(run.config.get('steps'))}" for run in runs],
        "last return": [number(values[-1] if values else None) for values in returns],
        "best return": [number(max(values, default=None)) for values in returns],
        "random policy": [number(run.reference_mean("random")) for run in runs],
        "zero policy": [number(run.reference_mean("zero")) for run in runs],
        "largest |Q|": [number(run.q_max) for run in runs],
        "std of B, actor": [number(run.last("lff/actor_B_std")) for run in runs],
        "std of B, critics": [number(run.last("lff/critic_B_std")) for run in runs],
    }
    return [[name, *values] for name, values in lines.items()]


def _groups(runs: Sequence[Run]) -> list[dict[str, Any]]:
    names = ", ".join(run.name for run in runs)
    there = {name for run in runs for row in run.rows for name in row if row[name] is not None}
    found = []
    for title, (note, charts) in GROUPS.items():
        figures = [
            draw(draw_chart(metric, runs), title=name, label=f"{name}: {names}")
            for name, metric in charts.items()
            if metric in there
        ]
        found += [{"title": title, "note": note, "figures": figures}] if figures else []
    return found


def _played(run: Run) -> list[tuple[int, list[float]]]:
    """Return the step of every evaluation and the returns of its episodes."""
    returns = [[as_number(value) for value in one.get("returns") or ()] for one in run.evaluations]
    steps = [int(one.get("env_step", 0)) for one in run.evaluations]
    return [*zip(steps, returns, strict=True)]


def _evaluations(runs: Sequence[Run]) -> list[list[str]]:
    lines = []
    for run in runs:
        errors = dict(run.curve("eval/q_minus_return"))
        for step, returns in _played(run):
            if returns:
                mean = sum(returns) / len(returns)
                shown = [mean, min(returns), max(returns), errors.get(step)]
                lines.append([run.name, f"{step:,}", str(len(returns)), *map(number, shown)])
    return lines


def _origin(run: Run) -> dict[str, str]:
    versions, restarts = run.info.get("versions"), run.info.get("restarts")
    stored = {"versions": show(versions)} if versions else {}
    return stored | ({"restarts": str(len(restarts))} if restarts else {})


def draw_chart(metric: str, runs: Sequence[Run]) -> Figure:
    """Draw a metric with a line for each run."""
    colors = style.run_colors(runs)
    kind = metric.rpartition("_")[2]
    with mpl.rc_context(style.SETTINGS):
        figure = style.blank_figure(style.WIDTH, style.HEIGHT)
        axis = figure.subplots()
        for run in runs if kind in ONE_RUN else ():
            ONE_RUN[kind](axis, metric, run, colors[run.name])
        if metric == RETURN:
            floors = {run.env: run.reference_mean("random") for run in runs}
            if len(floors) == 1 and all(map(math.isfinite, floors.values())):
                draw_floor(axis, *floors.values())
        log = metric.endswith(LOGARITHMIC)
        if kind not in ("q50", "histogram"):
            rows = [
                Row("run", run.name, run.env, run.seed, step, metric, value)
                for run in runs
                for step, value in run.curve(metric)
            ]
            shown: dict[str, Any] = {"variants": [*colors], "colors": colors, "legend": False}
            draw_curves(axis, rows, metric=metric, log=log, **shown)
        axis.set_ylabel("")
        if kind == "histogram":
            axis.set_xlabel("standard deviations")
        else:
            axis.set_xlabel("environment steps")
            axis.set_xlim(left=0)
            style.plain_ticks(axis.xaxis)
        style.dress(axis, log=log)
    return figure


def _episodes(axis: Any, metric: str, run: Run, color: str) -> None:
    steps, means = _finite(run.curve(metric))
    spread = dict(run.curve("eval/return_std"))
    reach = np.array([spread.get(int(step), 0.0) for step in steps])
    axis.fill_between(steps, means - reach, means + reach, color=color, alpha=0.2, linewidth=0)
    for step, returns in _played(run):
        dots = {"color": color, "markersize": 2.5, "alpha": 0.4, "markeredgewidth": 0}
        axis.plot([step] * len(returns), returns, "o", **dots)


def _phases(axis: Any, metric: str, run: Run, color: str) -> None:
    steps, middle = _finite(run.curve(metric))
    low, high = (dict(run.curve(metric.replace("q50", q))) for q in ("q05", "q95"))
    band = [[ends.get(int(step), math.nan) for step in steps] for ends in (low, high)]
    marker = "o" if len(steps) <= FEW else ""
    axis.plot(steps, middle, color=color, marker=marker, markersize=4)
    axis.fill_between(steps, *band, color=color, alpha=0.2, linewidth=0)


def _histograms(axis: Any, metric: str, run: Run, color: str) -> None:
    found = [row[metric] for row in run.rows if isinstance(row.get(metric), list)]
    for bins in [*found[:-1][:1], *found[-1:]]:  # the first and the last
        counts = {run.name: [as_number(value) for value in bins]}
        draw_histograms(axis, counts, colors={run.name: color}, faint=bins is not found[-1])


ONE_RUN: dict[str, Callable[[Any, str, Run, str], None]] = {
    RETURN: _episodes,
    "q50": _phases,
    "histogram": _histograms,
}


def _finite(curve: Sequence[tuple[int, float]]) -> tuple[Any, Any]:
    kept = np.array([point for point in curve if math.isfinite(point[1])]).reshape(-1, 2)
    return kept[:, 0], kept[:, 1]
