"""How every figure of the project looks: sizes, colours, saving."""

from pathlib import Path
from typing import Any

from lff.core.errors import BadInputError

try:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
except ImportError as error:
    message = "figures need matplotlib: pip install 'learned-fourier-features[figures]'"
    raise ImportError(message) from error

# Okabe and Ito's palette, told apart by colour-blind readers too
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
BASELINE = "#6b6b6b"
"""The MLP is grey in every figure: it is what the others are compared with."""
DASHES: tuple[tuple[float, ...], ...] = ((), (5, 2), (1.5, 1.5), (7, 2, 1.5, 2))
"""Lengths of dashes and gaps in line widths: they tell variants apart when colours come again."""


def new_figure(
    columns: int, *, width: float, height: float, ratios: tuple[float, ...] | None = None
) -> tuple[Figure, list[Any]]:
    """Return a figure with a row of axes; no window, no global state."""
    if ratios is not None and len(ratios) != columns:
        raise BadInputError("ratios", ratios, f"{columns} long", "give one width per column")
    figure = Figure(figsize=(width, height), layout="constrained", dpi=150)
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, columns, squeeze=False, width_ratios=ratios)[0]
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
        axis.title.set_fontsize(10)
    return figure, list(axes)


def color_of(variant: str, variants: list[str]) -> str:
    """Return a variant's colour: grey for the MLP, else by its place among the others."""
    others = [name for name in variants if name != "MLP"]
    return BASELINE if variant == "MLP" else PALETTE[others.index(variant) % len(PALETTE)]


def dash_of(variant: str, variants: list[str]) -> tuple[float, ...]:
    """Return a variant's dashes: none for the first of each colour."""
    others = [name for name in variants if name != "MLP"]
    turn = 0 if variant == "MLP" else others.index(variant) // len(PALETTE)
    return DASHES[turn % len(DASHES)]


def save_figure(figure: Figure, path: Path) -> Path:
    """Write the picture, making its folder, and return where it is.

    The same figure gives the same file: no software version is written into it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Software": None})
    return path
