"""``lff spectrum RUN``: which detail a run's critic learns, and how rough its Q has become."""

import csv
from pathlib import Path
from typing import Any

import tyro
from rich.console import Console
from rich.table import Table

from lff.cli.files import require_figures
from lff.core.errors import BadInputError
from lff.runs.read import names_of
from lff.runs.spectra import HIGH, Snapshot, read_spectra

SMALLEST = 1e-9
"""Shares below it are rounding, and not drawn."""


def spectrum(
    runs: tyro.conf.Positional[tuple[Path, ...]],
    /,
    *,
    points: int = 256,
    lines: int = 64,
    out: Path = Path("runs/spectrum"),
) -> None:
    """Look at the critics of runs before and after training, on their own replay.

    Writes a table and a figure: the spectrum of the empirical kernel, and the energy of Q along
    random lines between replayed points.

    Args:
        runs: run directories, an LFF run beside an MLP's, say.
        points: points of the replay.
        lines: lines between them.
        out: folder for spectrum.csv and spectrum.png.
    """
    if not runs:
        raise BadInputError("runs", runs, "one or more run directories", "lff spectrum runs/mine")
    named = zip(names_of(runs), runs, strict=True)
    found = {name: read_spectra(run, points=points, lines=lines) for name, run in named}
    out.mkdir(parents=True, exist_ok=True)
    write_spectra(out / "spectrum.csv", found)
    _print(found)
    print("table:", out / "spectrum.csv")  # noqa: T201
    print("figure:", draw_spectra(found, out / "spectrum.png"))  # noqa: T201


def write_spectra(path: Path, found: dict[str, list[Snapshot]]) -> None:
    """Write every number, one a row."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["run", "step", "metric", "index", "value"])
        for name, snapshots in found.items():
            for snap in snapshots:
                for metric in ("tail", "frequency", "high"):
                    writer.writerow([name, snap.step, metric, 0, repr(getattr(snap, metric))])
                for metric, values in (("eigenvalue", snap.shares), ("waves", snap.waves)):
                    for index, value in enumerate(values, start=1):
                        writer.writerow([name, snap.step, metric, index, repr(value)])


def _print(found: dict[str, list[Snapshot]]) -> None:
    table = Table(box=None, pad_edge=False)
    headings = ("run", "step", "first eigenvalue", "beyond 16", "frequency", f"{HIGH}+ waves")
    for heading in headings:
        table.add_column(heading)
    for name, snapshots in found.items():
        for snap in snapshots:
            numbers = (snap.shares[0], snap.tail, snap.frequency, snap.high)
            table.add_row(name, f"{snap.step:,}", *(f"{number:.3g}" for number in numbers))
    Console().print(table)


def draw_spectra(found: dict[str, list[Snapshot]], path: Path) -> Path:
    """Draw spectra before (dotted) and after training, and the roughness of Q over it."""
    require_figures("spectrum")
    from lff.report import new_figure, run_colors, save_figure

    figure, axes = new_figure(3, width=11, height=3.2)
    kernel, lines, rough = axes
    colors = run_colors([*found])
    for name, snapshots in found.items():
        color = colors[name]
        for snap, style, label in ((snapshots[0], ":", None), (snapshots[-1], "-", name)):
            _loglog(kernel, snap.shares, style, color, label)
            _loglog(lines, snap.waves, style, color, label)
        rough.plot(
            [snap.step for snap in snapshots],
            [snap.high for snap in snapshots],
            marker=".",
            color=color,
        )
    kernel.set(title="kernel on the replay", xlabel="eigenvalue", ylabel="share (dotted: start)")
    lines.set(title="Q along lines", xlabel="waves on the line", ylabel="share of energy")
    rough.set(title=f"Q in {HIGH} waves or more", xlabel="environment steps", ylim=(0, None))
    for axis in (kernel, lines):
        axis.set_ylim(bottom=max(SMALLEST, axis.get_ylim()[0]))
    rough.locator_params(axis="x", nbins=4)
    kernel.legend(frameon=False, fontsize=8)
    return save_figure(figure, path)


def _loglog(
    axis: Any, values: tuple[float, ...], style: str, color: str, label: str | None
) -> None:
    axis.loglog(range(1, len(values) + 1), values, style, color=color, label=label)
