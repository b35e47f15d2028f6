"""``lff compare RUN RUN ...``: the config fields in which runs differ, and their results."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tyro

from lff.cli.output import Force, Json, cell, check_out, print_table
from lff.core.errors import BadInputError
from lff.runs.read import RETURN, Run, area, differences, read_runs, shared_range
from lff.store.atomic import understood

LABELS = {
    "last_return": "last eval/return",
    "best_return": "best eval/return",
    "auc": "AUC",
    "q_max": "largest |Q|",
    "actor_B_std": "std of the actor's B",
    "critic_B_std": "std of the critics' B",
    "steps": "steps",
    "steps_per_second": "steps per second",
}


def compare_command(
    runs: tyro.conf.Positional[tuple[Path, ...]],
    /,
    *,
    plot: Path | None = None,
    as_json: Json = False,
    force: Force = False,
) -> None:
    """Print the config fields in which runs differ, and their results side by side.

    Args:
        runs: two run directories or more; they may still be going on.
        plot: also draw the evaluation curves into this .png.
    """
    if len(runs) < 2:
        remedy = "name another; lff show RUN shows one"
        raise BadInputError("runs", [str(run) for run in runs], "two or more", remedy)
    if plot is not None:
        check_out(plot, force=force, suffix=".png")
    with understood(", ".join(map(str, runs))):
        _compare(read_runs(runs), plot, as_json=as_json)


def _compare(found: Sequence[Run], plot: Path | None, *, as_json: bool) -> None:
    if plot is not None:
        _draw(found, plot)
    span = shared_range(found)
    results = [_results(run, span) for run in found]
    differ, envs = differences(found), list(dict.fromkeys(run.env for run in found))
    if as_json:
        data = {
            "same_env": len(envs) == 1,
            "auc_range": span,
            "differences": differ,
            "results": [
                {"run": run.name, "env": run.env}
                | {name: _finite(value) for name, value in values.items()}
                for run, values in zip(found, results, strict=True)
            ],
        }
        print(json.dumps(data, indent=2, allow_nan=False))
        return
    names = [run.name for run in found]
    if differ:
        _print(["config", *names], differ)
    else:
        print("the configs are equal")
    if len(envs) > 1:
        print(f"different tasks ({', '.join(envs)}): their returns do not compare")
    labels = LABELS.copy()
    if span:
        labels["auc"] = f"AUC, mean return over steps {span[0]:,} to {span[1]:,}"
    _print(["result", *names], {v: [one[k] for one in results] for k, v in labels.items()})


def _results(run: Run, span: tuple[int, int] | None) -> dict[str, Any]:
    curve = run.returns
    return {
        "last_return": curve[-1][1] if curve else None,
        "best_return": max((value for _, value in curve), default=None),
        "auc": None if span is None else area(curve, *span),
        "q_max": run.q_max,
        "actor_B_std": run.last("lff/actor_B_std"),
        "critic_B_std": run.last("lff/critic_B_std"),
        "steps": run.steps,
        "steps_per_second": run.steps_per_second,
    }


def _print(headings: Sequence[str], rows: dict[str, list[Any]]) -> None:
    cells = [[name, *map(cell, values)] for name, values in rows.items()]
    print_table(headings, cells, justify="right")


def _finite(value: float | None) -> float | None:
    """Return None for infinity, which JSON lacks."""
    return value if value is not None and math.isfinite(value) else None


def _draw(found: Sequence[Run], path: Path) -> None:
    # here, because matplotlib and scipy take a second to import
    from lff.report import draw_curves, new_figure, run_colors, save_figure
    from lff.stats import Row

    rows = [
        Row("compare", run.name, run.env, run.seed, step, RETURN, value)
        for run in found
        for step, value in run.returns
        if math.isfinite(value)
    ]
    colors = run_colors(found)
    figure, (axis,) = new_figure(1, width=6, height=4)
    draw_curves(axis, rows, metric=RETURN, variants=[*colors], colors=colors)
    axis.set_xlabel("environment steps")
    save_figure(figure, path)
