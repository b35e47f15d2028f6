"""Curves over steps: one line per variant, with its band over seeds."""

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Literal, assert_never

import numpy as np

from lff.figures.style import color_of, dash_of
from lff.stats import Row, paired_t_interval

Band = Literal["standard error", "interval"]
"""Around the mean over seeds: one standard error, or the 95 % t-interval."""
FEW = 3
"""A curve of this many points shows them."""


def draw_curves(
    axis: Any,
    rows: Sequence[Row],
    *,
    metric: str,
    variants: Sequence[str] | None = None,
    among: Sequence[str] | None = None,
    band: Band = "standard error",
    log: bool = False,
    legend: bool = True,
) -> None:
    """Draw the mean of ``metric`` over seeds against steps, and the band around it.

    On a ``log`` scale both are taken of the logarithms.  Seeds that are not finite at a step are
    left out there, and a cross on the upper edge says so.  ``among`` are the names that share the
    colours, if there are more than the ones drawn.
    """
    found: defaultdict[str, defaultdict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row.metric == metric:
            found[row.variant][row.step].append(row.value)
    names = list(variants or found)
    if log:
        axis.set_yscale("log")
    for name in names:
        if name not in found:
            continue
        steps = sorted(found[name])
        parts = [center_and_band(found[name][step], band=band, log=log) for step in steps]
        center, low, high = np.array(parts).T
        color = color_of(name, list(among or names))
        dash = dash_of(name, list(among or names))
        style = {"linestyle": (0, dash)} if dash else {}
        marker = "o" if len(steps) <= FEW else ""
        axis.plot(steps, center, color=color, label=name, marker=marker, markersize=4, **style)
        axis.fill_between(steps, low, high, color=color, alpha=0.2, linewidth=0)
        lost = [step for step in steps if not np.isfinite(found[name][step]).all()]
        if lost:
            top = axis.get_xaxis_transform()
            heights = np.full(len(lost), 0.985)
            axis.plot(lost, heights, "x", color=color, transform=top, markersize=5, clip_on=False)
    axis.set_ylabel(metric)
    if legend:
        axis.legend(frameon=False, fontsize=8)


def center_and_band(
    values: Sequence[float], *, band: Band, log: bool = False
) -> tuple[float, float, float]:
    """Return the mean of the finite values and its band; of their logarithms if ``log``.

    >>> center_and_band([0.0, 2.0], band="standard error")
    (1.0, 0.0, 2.0)
    """
    finite = [v for v in values if math.isfinite(v) and (v > 0 or not log)]
    if not finite:
        return math.nan, math.nan, math.nan
    taken = np.log(finite) if log else np.asarray(finite)
    center = float(taken.mean())
    reach = 0.0
    if len(finite) > 1:
        match band:
            case "standard error":
                reach = float(taken.std(ddof=1)) / len(finite) ** 0.5
            case "interval":
                reach = paired_t_interval(taken.tolist(), [0.0] * len(finite)).high - center
            case _:
                assert_never(band)
    low, high = center - reach, center + reach
    return (math.exp(center), math.exp(low), math.exp(high)) if log else (center, low, high)
