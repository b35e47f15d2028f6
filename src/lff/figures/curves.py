"""Curves over steps: one line per variant, with its band over seeds."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lff.figures.style import color_of
from lff.stats import Row


def draw_curves(
    axis: Any, rows: Sequence[Row], *, metric: str, variants: Sequence[str] | None = None
) -> None:
    """Draw the mean of ``metric`` over seeds against steps, and one standard error around it."""
    rows = [row for row in rows if row.metric == metric]
    names = list(variants or dict.fromkeys(row.variant for row in rows))
    for name in names:
        own = [row for row in rows if row.variant == name]
        steps = sorted({row.step for row in own})
        values = [[row.value for row in own if row.step == step] for step in steps]
        mean = np.array([np.mean(v) for v in values])
        error = np.array([np.std(v, ddof=1) / len(v) ** 0.5 if len(v) > 1 else 0 for v in values])
        color = color_of(name, names)
        axis.plot(steps, mean, color=color, label=name)
        axis.fill_between(steps, mean - error, mean + error, color=color, alpha=0.2, linewidth=0)
    axis.set_ylabel(metric)
    axis.legend(frameon=False, fontsize=8)
