"""``lff spectrum RUN``: which detail a run's critic learns, and how rough its Q has become."""

import csv
from pathlib import Path

import tyro

from lff.cli.output import print_table, require_figures
from lff.core.errors import BadInputError
from lff.runs.read import names_of
from lff.runs.spectra import HIGH, Snapshot, read_spectra

SMALLEST = 1e-9
"""Shares below it are rounding, and not drawn."""


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
    print("figure:", draw_spectra(found, out / "spectrum.png"))


def write_spectra(path: Path, found: dict[str, list[Snapshot]]) -> None:
    """Write every number, one a row."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["run", "step", "metric", "index", "value"])
        for run, snapshots in found.items():
            for snap in snapshots:
                rows = [
                    (metric, 0, getattr(snap, metric)) for metric in ("tail", "frequency", "high")
                ]
                rows += [("eigenvalue", i, value) for i, value in enumerate(snap.shares, 1)]
                rows += [("waves", i, value) for i, value in enumerate(snap.waves, 1)]
                writer.writerows([run, snap.step, *row[:2], repr(row[2])] for row in rows)


def draw_spectra(found: dict[str, list[Snapshot]], path: Path) -> Path:
    """Draw spectra before (dotted) and after training, and the roughness of Q over it."""
    require_figures("spectrum")
    from lff.report import new_figure, run_colors, save_figure

    figure, (kernel, lines, rough) = new_figure(3, width=11, height=3.2)
    colors = run_colors([*found])
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
