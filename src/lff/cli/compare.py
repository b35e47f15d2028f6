"""``lff compare RUN RUN ...``: where runs differ, and what came of it."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console
from rich.table import Table

from lff.cli.export import check_picture
from lff.core.errors import BadInputError
from lff.runs.read import Results, area, differences, read_results, shared_range


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
        force: replace the picture if it is there.
    """
    if len(runs) < 2:
        remedy = "name another; lff show RUN shows one"
        raise BadInputError("runs", [str(run) for run in runs], "two or more", remedy)
    if plot is not None:
        check_picture(plot, force=force)
    names = _names(runs)
    found = [read_results(run, name=name) for run, name in zip(runs, names, strict=True)]
    if plot is not None:
        _draw(found, plot)
    if json_:
        print(json.dumps(_data(found), indent=2, allow_nan=False))  # noqa: T201
    else:
        _print(found)


def _names(runs: Sequence[Path]) -> list[str]:
    """Call the runs by their folders' names, or by their paths where those are alike."""
    short = [run.resolve().name for run in runs]
    return short if len({*short}) == len(runs) else [str(run) for run in runs]


def _measured(found: Sequence[Results]) -> dict[str, list[float | None]]:
    span = shared_range(found)
    areas = [None if span is None else area(run.curve, *span) for run in found]
    label = "AUC" if span is None else f"AUC, mean return over steps {span[0]:,} to {span[1]:,}"
    return {
        "last eval/return": [run.last_return for run in found],
        "best eval/return": [run.best_return for run in found],
        label: areas,
        "largest |Q|": [run.q_max for run in found],
        "std of the actor's B": [run.actor_B_std for run in found],
        "std of the critics' B": [run.critic_B_std for run in found],
        "steps": [run.steps for run in found],
        "steps per second": [run.steps_per_second for run in found],
    }


def _data(found: Sequence[Results]) -> dict[str, Any]:
    span = shared_range(found)
    results = [
        {
            "run": run.name,
            "env": run.env,
            "last_return": _finite(run.last_return),
            "best_return": _finite(run.best_return),
            "auc": _finite(None if span is None else area(run.curve, *span)),
            "q_max": _finite(run.q_max),
            "actor_B_std": run.actor_B_std,
            "critic_B_std": run.critic_B_std,
            "steps": run.steps,
            "steps_per_second": run.steps_per_second,
        }
        for run in found
    ]
    same = len({run.env for run in found}) == 1
    return {
        "same_env": same,
        "auc_range": span,
        "differences": differences(found),
        "results": results,
    }


def _print(found: Sequence[Results]) -> None:
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 10_000  # a file has no edge to cut a table at
    differ = differences(found)
    _table(console, "config", [run.name for run in found], differ)
    if not differ:
        console.print("the configs are equal")
    envs = list(dict.fromkeys(run.env for run in found))
    if len(envs) > 1:
        console.print(f"different tasks ({', '.join(envs)}): their returns do not compare")
    _table(console, "result", [run.name for run in found], _measured(found))


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
    """JSON has no infinity."""
    return value if value is not None and math.isfinite(value) else None


def _draw(found: Sequence[Results], path: Path) -> None:
    try:
        from lff.figures import draw_curves, new_figure, save_figure
    except ImportError:
        remedy = "pip install 'learned-fourier-features[figures]'"
        raise BadInputError("plot", "no matplotlib", "drawn by matplotlib", remedy) from None
    from lff.stats import Row

    rows = [
        Row("compare", run.name, run.env, int(run.config["seed"]), step, "eval/return", value)
        for run in found
        for step, value in run.curve
        if math.isfinite(value)
    ]
    figure, (axis,) = new_figure(1, width=6, height=4)
    draw_curves(axis, rows, metric="eval/return", variants=[run.name for run in found])
    axis.set_xlabel("environment steps")
    save_figure(figure, path)
