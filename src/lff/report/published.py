"""Published scores of other code, drawn beside curves."""

from collections.abc import Sequence
from itertools import cycle
from typing import Any

from lff.report.style import PUBLISHED
from lff.stats import Published

MARKERS = "osD^v"


def draw_published(axis: Any, scores: Sequence[Published], *, task: str, until: float) -> None:
    """Draw what others have published on ``task`` (``dmc/cheetah-run`` or ``cheetah-run``).

    One marker per score at its environment steps, with one standard deviation where it is known.
    Of an algorithm whose first score is later than ``until``, our last step, a dotted line that
    ends in its marker shows that first score, and its label says when it was reached.
    """
    own = [score for score in scores if score.task == task.rpartition("/")[2]]
    algorithms = dict.fromkeys(score.algorithm for score in own)
    for name, marker in zip(algorithms, cycle(MARKERS), strict=False):
        theirs = sorted((s for s in own if s.algorithm == name), key=lambda s: s.env_steps)
        reached = [s for s in theirs if s.env_steps <= until]
        style = {"color": PUBLISHED, "marker": marker, "markerfacecolor": "white", "markersize": 5}
        if reached:
            axis.errorbar(
                [s.env_steps for s in reached],
                [s.score for s in reached],
                yerr=[s.spread or 0.0 for s in reached] if any(s.spread for s in reached) else None,
                linestyle="none",
                elinewidth=1,
                capsize=2,
                label=f"{name} (published)",
                **style,
            )
        else:
            label = f"{name} at {theirs[0].env_steps:,} (published)"
            axis.axhline(theirs[0].score, color=PUBLISHED, linestyle=":", linewidth=1)
            axis.plot([until], [theirs[0].score], linestyle=":", label=label, **style)
    title = axis.get_legend().get_title().get_text() if axis.get_legend() else None
    legend = axis.legend(fontsize=8, title=title, title_fontsize=8, alignment="left")
    legend.get_frame().set(edgecolor="none", alpha=0.8)
