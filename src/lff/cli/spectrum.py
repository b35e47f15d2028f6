"""``lff spectrum RUN``: which detail a run's critic learns, and how rough its Q has become."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tyro

from lff.cli.output import print_table
from lff.core.errors import BadInputError
from lff.report import new_figure, run_colors, save_figure
from lff.runs.read import Run, names_of, read_runs
from lff.runs.spectra import HIGH, Snapshot, read_spectra
from lff.store import csv_bytes, write_bytes

SMALLEST = 1e-9  # shares below it are rounding, and not drawn


def spectrum_command(
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
    headings = ("run", "step", "first eigenvalue", "beyond 16", "frequency", f"{HIGH}+ waves")
    rows = [
        (name, f"{s.step:,}", *(f"{n:.3g}" for n in (s.shares[0], s.tail, s.frequency, s.high)))
        for name, snapshots in found.items()
        for s in snapshots
    ]
    print_table(headings, rows)
    print("table:", out / "spectrum.csv")
    print("figure:", draw_spectra(found, read_runs(runs), out / "spectrum.png"))


def write_spectra(path: Path, found: dict[str, list[Snapshot]]) -> None:
    """Write every number, one a row."""
    rows: list[list[Any]] = []
    for run, snapshots in found.items():
        for snap in snapshots:
            numbers = [(name, 0, getattr(snap, name)) for name in ("tail", "frequency", "high")]
            numbers += [("eigenvalue", i, value) for i, value in enumerate(snap.shares, 1)]
            numbers += [("waves", i, value) for i, value in enumerate(snap.waves, 1)]
            rows += [[run, snap.step, name, i, repr(value)] for name, i, value in numbers]
    write_bytes(path, csv_bytes(["run", "step", "metric", "index", "value"], rows))


def draw_spectra(found: dict[str, list[Snapshot]], runs: Sequence[Run], path: Path) -> Path:
    """Draw spectra before (dotted) and after training, and the roughness of Q over it."""
    figure, (kernel, lines, rough) = new_figure(3, width=11, height=3.2)
    colors = run_colors(runs)
    for name, snapshots in found.items():
        color = colors[name]
        for snap, style, label in ((snapshots[0], ":", None), (snapshots[-1], "-", name)):
            for axis, values in ((kernel, snap.shares), (lines, snap.waves)):
                axis.loglog(range(1, len(values) + 1), values, style, color=color, label=label)
        steps, shares = zip(*((snap.step, snap.high) for snap in snapshots), strict=True)
        rough.plot(steps, shares, marker=".", color=color)
    kernel.set(title="kernel on the replay", xlabel="eigenvalue", ylabel="share (dotted: start)")
    lines.set(title="Q along lines", xlabel="waves on the line", ylabel="share of energy")
    rough.set(title=f"Q in {HIGH} waves or more", xlabel="environment steps", ylim=(0, None))
    for axis in (kernel, lines):
        axis.set_ylim(bottom=max(SMALLEST, axis.get_ylim()[0]))
    rough.locator_params(axis="x", nbins=4)
    kernel.legend(frameon=False, fontsize=8)
    return save_figure(figure, path)
