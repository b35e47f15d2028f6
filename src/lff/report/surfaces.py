"""Surfaces over a grid, side by side on one colour scale."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

BAR = 0.12
"""The share of a figure that its colour bar takes."""
TITLE = 0.22
"""The share of a tile that its title takes, two lines at most."""


def draw_tiles(axis: Any, grids: Mapping[str, ArrayLike]) -> tuple[float, float]:
    """Draw named grids as tiles inside one axis, rows from top to bottom, with a colour bar.

    One scale for all: from the 0.5 % to the 99.5 % point of all values, so that a single cell does
    not take the colours of the others.  Cells without a value stay empty.  Returns the scale.
    """
    axis.set_axis_off()
    values = {title: np.asarray(grid, dtype=np.float64) for title, grid in grids.items()}
    rows, columns = tile_shape(len(values))
    finite = np.concatenate([grid[np.isfinite(grid)] for grid in values.values()])
    low, high = np.percentile(finite, (0.5, 99.5)) if finite.size else (0.0, 1.0)
    width, height = (1 - BAR) / columns, 1 / rows
    title = TITLE * (1.3 if any(", " in name for name in values) else 1)  # of two lines
    image = None
    for i, (name, grid) in enumerate(values.items()):
        down, across = divmod(i, columns)
        box = (across * width, 1 - (down + 1) * height, 0.95 * width, (1 - title) * height)
        tile = axis.inset_axes(box)
        image = tile.imshow(
            grid, cmap="viridis", vmin=low, vmax=high, aspect="equal", interpolation="none"
        )
        tile.set(xticks=[], yticks=[])
        tile.set_anchor("N")
        tile.set_title(name.replace(", ", ",\n"), fontsize=6.5, pad=2, linespacing=0.95)
    if image is not None:
        bar = axis.figure.colorbar(image, cax=axis.inset_axes((1 - 0.6 * BAR, 0.1, 0.02, 0.75)))
        bar.ax.tick_params(labelsize=7, length=2)
        bar.outline.set_linewidth(0.5)
    return float(low), float(high)


def tile_shape(count: int) -> tuple[int, int]:
    """Return rows and columns of so many tiles.

    >>> [tile_shape(count) for count in (1, 3, 4, 5, 8, 9)]
    [(1, 1), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)]
    """
    rows = -(-count // 4)
    return rows, -(-count // max(rows, 1)) if rows < 3 else 4
