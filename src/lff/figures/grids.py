"""Surfaces over a grid, side by side on one colour scale."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def draw_grids(
    axes: Sequence[Any], grids: Mapping[str, ArrayLike], *, low: float, high: float
) -> None:
    """Draw each named grid on its axis; one scale for all, so that colours can be compared."""
    image = None
    for axis, (title, grid) in zip(axes, grids.items(), strict=True):
        image = axis.imshow(
            np.asarray(grid).T, origin="lower", cmap="viridis", vmin=low, vmax=high, aspect="equal"
        )
        axis.set(title=title, xticks=[], yticks=[])
        axis.spines[["top", "right"]].set_visible(True)
    if image is not None:
        axes[-1].figure.colorbar(image, ax=list(axes), shrink=0.7, pad=0.01)
