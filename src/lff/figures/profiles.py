"""Performance profiles: how many of the runs reach how much."""

from collections.abc import Mapping
from typing import Any

from lff.figures.style import color_of
from lff.stats import Profile


def draw_profile(axis: Any, profiles: Mapping[str, Profile], *, score: str = "return") -> None:
    """Draw the share of runs above each threshold, one line per variant, with pointwise bands."""
    names = list(profiles)
    for name, profile in profiles.items():
        color = color_of(name, names)
        axis.plot(profile.thresholds, profile.share, color=color, label=name)
        axis.fill_between(
            profile.thresholds, profile.low, profile.high, color=color, alpha=0.2, linewidth=0
        )
    axis.set(xlabel=f"{score} τ", ylabel="share of runs above τ", ylim=(-0.02, 1.02))
    axis.legend(
        frameon=False, fontsize=8, title="95 % interval", title_fontsize=8, alignment="left"
    )
