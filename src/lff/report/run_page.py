"""One page for one run or several: results, figures, config, and the command to repeat it."""

import math
import shlex
from collections.abc import Sequence
from typing import Any

from lff.report.experiment_figure import LegendEntry
from lff.report.html import draw, png, render
from lff.report.run_figure import GROUPS, draw_chart, has_data
from lff.report.style import PALETTE, run_colors
from lff.report.summaries import number, show
from lff.runs.read import Run, as_number, differences


def run_page(runs: Sequence[Run]) -> str:
    """Return the page as HTML, made from the runs' files alone; the same files, the same bytes."""
    names = [run.name for run in runs]
    fields = list(dict.fromkeys(name for run in runs for name in run.config))
    values = {name: [name, *(show(run.config.get(name)) for run in runs)] for name in fields}
    differ = differences(runs)
    return render(
        "runs.html",
        title=names[0] if len(runs) == 1 else f"{len(runs)} runs: {', '.join(names)}",
        names=names,
        runs=runs,
        chips=_chips(runs),
        warnings=_warnings(runs),
        results=_results(runs),
        groups=_groups(runs),
        colors=PALETTE,
        legend=[LegendEntry(name, color) for name, color in run_colors(names).items()],
        sheets={r.name: source for r in runs if r.sheet and (source := png(r.sheet))},
        evaluations=_evaluations(runs),
        differ=[values[name] for name in differ],
        alike=[line for name, line in values.items() if name not in differ],
        again=[shlex.join(["lff", "rerun", n, "--dir", f"{n}-again"]) for n in names],
        origins=[_origin(run) for run in runs],
    )


def _chips(runs: Sequence[Run]) -> list[str]:
    envs = dict.fromkeys(run.env for run in runs)
    seeds = dict.fromkeys(str(run.seed) for run in runs)
    chips = [*envs, f"seed{'' if len(seeds) == 1 else 's'} {', '.join(seeds)}"]
    going = sum(not run.finished for run in runs)
    if going:
        chips.append("not finished" if len(runs) == 1 else f"{going} of {len(runs)} not finished")
    else:
        chips.append("finished" if len(runs) == 1 else "all finished")
    return chips


def _warnings(runs: Sequence[Run]) -> list[str]:
    found = []
    envs = dict.fromkeys(run.env for run in runs)
    if len(envs) > 1:
        found.append(f"Different tasks ({', '.join(envs)}): their returns do not compare.")
    for run in runs:
        lost = [name for name in ("train/q_max", "train/critic_loss") if _lost(run, name)]
        if lost:
            found.append(f"{run.name}: not finite at some step: {', '.join(lost)}.")
    return found


def _lost(run: Run, metric: str) -> bool:
    return any(not math.isfinite(value) for _, value in run.curve(metric))


def _results(runs: Sequence[Run]) -> list[list[str]]:
    returns = [[value for _, value in run.returns] for run in runs]
    lines = {
        "steps": [f"{run.steps:,} of {show(run.config.get('steps'))}" for run in runs],
        "last return": [number(values[-1] if values else None) for values in returns],
        "best return": [number(max(values, default=None)) for values in returns],
        "random policy": [number(run.reference_mean("random")) for run in runs],
        "zero policy": [number(run.reference_mean("zero")) for run in runs],
        "largest |Q|": [number(run.q_max) for run in runs],
        "std of the actor's B": [number(run.last("lff/actor_B_std")) for run in runs],
        "std of the critics' B": [number(run.last("lff/critic_B_std")) for run in runs],
    }
    return [[name, *values] for name, values in lines.items()]


def _groups(runs: Sequence[Run]) -> list[dict[str, Any]]:
    names = ", ".join(run.name for run in runs)
    found = []
    for group in GROUPS:
        figures = [
            draw(draw_chart(chart, runs), title=chart.title, label=f"{chart.title}: {names}")
            for chart in group.charts
            if has_data(chart, runs)
        ]
        if figures:
            found.append({"title": group.title, "note": group.note, "figures": figures})
    return found


def _evaluations(runs: Sequence[Run]) -> list[list[str]]:
    lines = []
    for run in runs:
        biases = dict(run.curve("eval/q_bias"))
        for evaluation in run.evaluations:
            step = int(evaluation.get("env_step", 0))
            returns = [as_number(value) for value in evaluation.get("returns") or ()]
            if returns:
                mean = sum(returns) / len(returns)
                shown = [mean, min(returns), max(returns), biases.get(step)]
                lines.append([run.name, f"{step:,}", str(len(returns)), *map(number, shown)])
    return lines


def _origin(run: Run) -> dict[str, str]:
    versions, restarts = run.info.get("versions"), run.info.get("restarts")
    stored = {"versions": show(versions)} if versions else {}
    return stored | ({"restarts": str(len(restarts))} if restarts else {})
