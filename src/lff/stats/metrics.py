"""Metrics with their keys and titles, variants with their roles and colours."""

import colorsys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

RANDOM, ZERO = "random policy", "zero policy"
"""Variants whose rows are returns at step 0, one per seed: references for every return."""
POLICIES = {"random return": RANDOM, "zero return": ZERO}
"""Keys of a job's rows that are returns of the reference policies, and their variants."""


@dataclass(frozen=True)
class Metric:
    """A measured quantity."""

    key: str
    """Name in the rows of a job: ``eval/return``."""
    title: str = ""
    """Name in tables, verdicts and figures; the key if empty."""
    better: Literal["higher", "lower"] = "higher"
    policies: bool = False
    """Whether the random and the zero policy have it too, as references: the return has."""

    peak: bool = False
    """Whether each value is the largest since the step before."""

    def __post_init__(self) -> None:
        if not self.title:
            object.__setattr__(self, "title", self.key)

    @property
    def sign(self) -> Literal[1, -1]:
        """1 if more is better, -1 if less is."""
        return 1 if self.better == "higher" else -1


RETURN = Metric("eval/return", "return", policies=True)

SPANS = {
    "Pendulum-v1": 1_000.0,
    "Hopper-v5": 1_000.0,
    "Walker2d-v5": 1_000.0,
    "HalfCheetah-v5": 2_000.0,
    "Ant-v5": 1_000.0,
    "Humanoid-v5": 1_000.0,
}
"""About what lies between a random policy and what small agents reach; fixed on 2026-11-18."""


def span_of(task: str) -> float | None:
    """Return the span of a task's returns; 1,000 in the Control Suite, None if it is not known.

    >>> span_of("dmc/cheetah-run"), span_of("gym/Pendulum-v1"), span_of("sine")
    (1000.0, 1000.0, None)
    """
    if task.startswith(("dmc/", "dmc-pixels/")):
        return 1_000.0
    return SPANS.get(task.rpartition("/")[2])


Role = Literal["baseline", "ours", "control", "rival"]
"""The arm to compare with; the method under study; its placebo; another method."""
COLORS: dict[Role, tuple[str, ...]] = {
    "baseline": ("#6b7280", "#9ca3af", "#4b5563", "#b8bcc4", "#374151"),
    "ours": ("#0b6bcb", "#38a3e8", "#0a3d7a", "#7cc4f5", "#5b5bd6", "#8e8cf0", "#2e2a8f"),
    "control": ("#d97706", "#f0b44c", "#92500b", "#f5d08a"),
    "rival": ("#0f9d6e", "#b0309a", "#5fc9a5", "#dc4c64", "#0b6148", "#d98ccb", "#8c2f3f"),
}
"""Colours of a role: the first for its first variant."""
CONTROLS = ("linear control", "constant control")
BASELINES = ("MLP", "CNN")


def role_of(variant: str, roles: Mapping[str, Role] | None = None) -> Role:
    """Return the role of a variant: as its experiment says, else by its name.

    >>> role_of("MLP"), role_of("MLP + layer norm"), role_of("LFF σ=0.01")
    ('baseline', 'rival', 'ours')
    """
    if roles and variant in roles:
        return roles[variant]
    if variant in BASELINES:
        return "baseline"
    if variant.startswith(CONTROLS):
        return "control"
    return "rival" if variant.startswith(BASELINES) else "ours"


def colors_of(roles: Mapping[str, Role]) -> dict[str, str]:
    """Return the colour of every variant of an experiment, from its role and place in it."""
    counts: dict[Role, int] = {}
    colors = {}
    for variant, role in roles.items():
        place = counts.get(role, 0)
        counts[role] = place + 1
        shades = COLORS[role]
        colors[variant] = shades[place] if place < len(shades) else _spread(shades[0], place)
    return colors


def _spread(color: str, place: int) -> str:
    """Return a colour of another hue, as bright: for more variants than a role has shades."""
    hue, light, saturation = to_hls(color)
    return from_hls((hue + 0.381966 * place) % 1, light, max(saturation, 0.4))


def to_hls(color: str) -> tuple[float, float, float]:
    """Return hue, lightness and saturation of ``#rrggbb``."""
    return colorsys.rgb_to_hls(*(int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)))


def from_hls(*parts: float) -> str:
    """Return ``#rrggbb`` of hue, lightness and saturation."""
    return "#" + "".join(f"{round(255 * part):02x}" for part in colorsys.hls_to_rgb(*parts))
