"""``lff compare RUN RUN ...``: the config fields in which runs differ, and their results."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console
from rich.table import Table

from lff.cli.files import check_out, require_figures
from lff.core.errors import BadInputError
from lff.runs.read import Run, area, differences, names_of, read_run, shared_range


def compare(
    runs: tyro.conf.Positional[tuple[Path, ...]],
    /,
    *,
    plot: Path | None = None,
    json_: Annotated[bool, tyro.conf.arg(name="json")] = False,
    force: bool = False,
) -> None:
    """Print the config fields in which runs differ, and their results side by side.

    Args:
        runs: two run directories or more; they may still be going on.
        plot: also draw the evaluation curves into this .png (needs the extra figures).
        json_: print one JSON object instead of tables.
        force: replace the figure if it is there.
    """
    if len(runs) < 2:
        remedy = "name another; lff show RUN shows one"
        raise BadInputError("runs", [str(run) for run in runs], "two or more", remedy)
    if plot is not None:
        check_out(plot, force=force, suffix=".png")
    found = [read_run(run, name=name) for run, name in zip(runs, names_of(runs), strict=True)]
    if plot is not None:
        _draw(found, plot)
    if json_:
        print(json.dumps(_data(found), indent=2, allow_nan=False))  # noqa: T201
    else:
        _print(found)


def _results(run: Run, span: tuple[int, int] | None) -> dict[str, Any]:
    """Return the results of a run; None where there is nothing yet."""
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


def _data(found: Sequence[Run]) -> dict[str, Any]:
    span = shared_range(found)
    results = [
        {"run": run.name, "env": run.env}
        | {name: _finite(value) for name, value in _results(run, span).items()}
        for run in found
    ]
    return {
        "same_env": len({run.env for run in found}) == 1,
        "auc_range": span,
        "differences": differences(found),
        "results": results,
    }


def _print(found: Sequence[Run]) -> None:
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 10_000  # a file has no edge to cut a table at
    names, differ = [run.name for run in found], differences(found)
    _table(console, "config", names, differ)
    if not differ:
        console.print("the configs are equal")
    envs = list(dict.fromkeys(run.env for run in found))
    if len(envs) > 1:
        console.print(f"different tasks ({', '.join(envs)}): their returns do not compare")
    span = shared_range(found)
    labels = {
        "last_return": "last eval/return",
        "best_return": "best eval/return",
        "auc": f"AUC, mean return over steps {span[0]:,} to {span[1]:,}" if span else "AUC",
        "q_max": "largest |Q|",
        "actor_B_std": "std of the actor's B",
        "critic_B_std": "std of the critics' B",
        "steps": "steps",
        "steps_per_second": "steps per second",
    }
    results = [_results(run, span) for run in found]
    lines = {label: [one[key] for one in results] for key, label in labels.items()}
    _table(console, "result", names, lines)


def _table(console: Console, title: str, names: Sequence[str], rows: dict[str, list[Any]]) -> None:
    if not rows:
        return
    table = Table(box=None, pad_edge=False)
    table.add_column(title)
    for name in names:
        table.add_column(name, justify="right", overflow="fold")
    for name, values in rows.items():
        table.add_row(name, *map(_text, values))
    console.print(table)


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, list):
        return " ".join(map(_text, value))
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def _finite(value: float | None) -> float | None:
    """Return None for infinity, which JSON lacks."""
    return value if value is not None and math.isfinite(value) else None


def _draw(found: Sequence[Run], path: Path) -> None:
    require_figures("plot")
    from lff.report import draw_curves, new_figure, run_colors, save_figure
    from lff.stats import Row

    rows = [
        Row("compare", run.name, run.env, run.seed, step, "eval/return", value)
        for run in found
        for step, value in run.returns
        if math.isfinite(value)
    ]
    colors = run_colors([run.name for run in found])
    figure, (axis,) = new_figure(1, width=6, height=4)
    draw_curves(axis, rows, metric="eval/return", variants=[*colors], colors=colors)
    axis.set_xlabel("environment steps")
    save_figure(figure, path)
