"""Sizes, colours, ticks and files of every figure."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, Locator, LogLocator, MaxNLocator, NullFormatter

from lff.runs.read import Run
from lff.stats.metrics import Role, colors_of, from_hls, role_of, to_hls

# Okabe and Ito's palette, which colour-blind readers can distinguish too
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Colours of parts of a figure; variants and runs have those of ``lff.stats.metrics``."""
GREY = "#6b7280"
"""Grids and references."""
PUBLISHED = "#444444"
"""The colour of published scores."""
DOTTED = (1.0, 1.8)
WIDTH, HEIGHT = 3.9, 2.6  # inches of one panel
SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "lff",
    "text.parse_math": False,  # a name with two dollars is not a formula
    "axes.unicode_minus": True,
}
_POWERS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def variant_colors(names: Iterable[str], roles: Mapping[str, Role] | None = None) -> dict[str, str]:
    """Return the colour of every variant, from its role in the experiment or from its name."""
    return colors_of({**(roles or {}), **{name: role_of(name, roles) for name in names}})


def run_colors(runs: Sequence[Run]) -> dict[str, str]:
    """Return the colour of every run, by the role of its network."""
    return colors_of({run.name: run.role for run in runs})


def dark_of(color: str) -> str:
    """Return a colour for a dark background: the same hue, light where it was dark.

    >>> dark_of("#000000"), dark_of("#0072B2")
    ('#e6e6e6', '#76ceff')
    """
    hue, light, saturation = to_hls(color)
    return from_hls(hue, min(max(1.08 - light, 0.42), 0.9), saturation)


def blank_figure(width: float, height: float) -> Figure:
    """Return a figure without axes; no window, no global state."""
    figure = Figure(figsize=(width, height), layout="constrained", dpi=200)
    FigureCanvasAgg(figure)
    return figure


def new_figure(columns: int, *, width: float, height: float) -> tuple[Figure, list[Any]]:
    """Return a figure with a row of axes."""
    figure = blank_figure(width, height)
    axes = figure.subplots(1, columns, squeeze=False)[0]
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
        axis.title.set_fontsize(10)
    return figure, list(axes)


def save_figure(figure: Figure, path: Path) -> Path:
    """Write the figure, making its folder, and return the path.

    The same figure gives the same file: no software version is written into it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Software": None})
    return path


def dress(axis: Any, *, log: bool = False) -> None:
    """Remove what is not read, and write numbers short."""
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(axis="y", color=GREY, alpha=0.2, linewidth=0.6)
    axis.tick_params(labelsize=8, length=3)
    for label in (axis.xaxis.label, axis.yaxis.label):
        label.set_fontsize(9)
    if log:
        log_ticks(axis.yaxis, *axis.get_ylim(), form=power_of_ten)
    else:
        plain_ticks(axis.yaxis)


def plain_ticks(axis: Any) -> None:
    """Set about five short ticks at round numbers."""
    axis.set_major_formatter(FuncFormatter(short_number))
    axis.set_major_locator(_round_ticks())


def log_ticks(axis: Any, low: float, high: float, *, form: Any) -> None:
    """Set ticks that can be read also where the axis has few powers of ten."""
    locator: Locator = _round_ticks()
    if low > 0 and high / low >= 8:
        locator = LogLocator(subs=(1, 2, 5) if high / low < 100 else (1,), numticks=7)
    axis.set_major_locator(locator)
    axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(form))


def short_number(value: float, _: object = None) -> str:
    """Write a tick.

    >>> short_number(24000), short_number(1.5e6), short_number(0.25), short_number(-1000)
    ('24k', '1.5M', '0.25', '−1k')
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.4g}{letter}".replace("-", "−")
    return f"{value:.4g}".replace("-", "−")


def power_of_ten(value: float, _: object = None) -> str:
    """Write a tick of a logarithmic axis.

    >>> power_of_ten(100), power_of_ten(1e6), power_of_ten(0.001), power_of_ten(5e-4)
    ('100', '10⁶', '0.001', '5·10⁻⁴')
    """
    if 0.001 <= value < 10_000:
        return f"{value:.4g}"
    exponent = int(np.floor(np.log10(value) + 1e-9)) if value > 0 else 0
    first = f"{value / 10.0**exponent:.3g}" if value > 0 else "1"
    power = f"10{str(exponent).translate(_POWERS)}"
    return power if first == "1" else f"{first}·{power}"


def _round_ticks() -> MaxNLocator:
    return MaxNLocator(5, steps=[1, 2, 2.5, 5, 10])
