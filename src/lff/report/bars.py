"""One number per variant, and counts in bins."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lff.report.curves import center_and_band


def draw_bars(
    axis: Any,
    values: Mapping[str, Sequence[float]],
    *,
    colors: Mapping[str, str],
    as_paper: bool = False,
    log: bool = False,
) -> None:
    """Draw each variant's mean over seeds as a point with its band, and the seeds beside it."""
    names = [*values]
    if log:
        axis.set_yscale("log")
    for place, name in enumerate(names):
        center, low, high = center_and_band(values[name], as_paper=as_paper, log=log)
        color = colors[name]
        seeds = [v for v in values[name] if math.isfinite(v)]
        axis.plot([place + 0.18] * len(seeds), seeds, "o", color=color, markersize=3, alpha=0.45)
        axis.plot([place, place], [low, high], color=color, linewidth=2)
        axis.plot([place], [center], "s", color=color, markersize=6)
    axis.set_xticks(range(len(names)), [""] * len(names))
    axis.set_xlim(-0.6, len(names) - 0.4)


def draw_histograms(
    axis: Any,
    counts: Mapping[str, Sequence[float]],
    *,
    colors: Mapping[str, str],
    faint: bool = False,
    low: float = -4.0,
    high: float = 4.0,
) -> None:
    """Draw each variant's share of entries in equal bins from ``low`` to ``high``, as outlines."""
    for name, found in counts.items():
        share = np.asarray(found, dtype=np.float64)
        share = share / max(share.sum(), 1e-300)
        edges = np.linspace(low, high, len(share) + 1)
        style = {"linestyle": (0, (1.0, 1.5))} if faint else {}
        axis.stairs(share, edges, color=colors[name], linewidth=1.4, **style)
