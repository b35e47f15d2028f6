"""Experiments as plain data: a question, arms, a grid of jobs, claims and panels.

A grid turns the arms into :class:`Cell` objects at each scale; a cell is a job and the place of its
numbers in the table.  Launchers know jobs alone.  Tables, verdicts, figures and pages need none of
the code that the jobs run.
"""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from lff.core.config import digest
from lff.core.errors import BadInputError
from lff.stats.claim import Kind, Whose
from lff.stats.metrics import RETURN, Metric, Role

ScaleName = Literal["smoke", "laptop", "paper"]
SCALES: dict[ScaleName, str] = {
    "smoke": "seconds a job: does it run?",
    "laptop": "minutes a job: small networks, few steps, enough seeds for a verdict",
    "paper": "the paper's sizes, tasks and steps: days on many machines",
}


@dataclass(frozen=True)
class Arm:
    """One variant of an experiment: its role, and how its jobs differ from the others'."""

    role: Role
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of the grid's job."""
    scales: tuple[ScaleName, ...] = get_args(ScaleName)
    """The scales that have it."""


def _arm(role: Role, scales: tuple[ScaleName, ...] = get_args(ScaleName), **fields: Any) -> Arm:
    return Arm(role, fields, scales)


baseline, ours, control, rival = (functools.partial(_arm, role) for role in get_args(Role))
"""An arm that others are compared with; of the method under study; with the shape of ours but
without what should matter; of another method."""


@dataclass(frozen=True)
class Cell:
    """A job and where its numbers belong."""

    variant: str
    task: str
    job: Any
    seed: int | None = None
    """None if the job makes all seeds."""

    @functools.cached_property
    def digest(self) -> str:
        """The name of the job's directory: equal jobs of several experiments are run once."""
        return digest(self.job)


Grid = Callable[[Mapping[str, Arm], ScaleName], tuple[Cell, ...]]
"""Returns the cells of an experiment's arms at a scale, in the order in which jobs start."""


@dataclass(frozen=True)
class Panel:
    """One kind of figure, drawn once for each task, or once over several."""

    metric: Metric
    kind: Literal["curves", "bars", "histogram", "fit", "grid", "ends", "profile", "middle"] = (
        "curves"
    )
    """Against steps with a band over seeds; the end of the curve per variant; counts in bins; a
    fitted function and its points on [-1, 1]; surfaces side by side, from the fields beside the
    table (``lff.stats.fields``).  Over several tasks: the end of the curve against the task; the
    share of runs above a score; the interquartile mean."""
    tasks: tuple[str, ...] = ()
    """Which tasks to draw; all if empty."""
    log: bool = False
    """Whether the values span orders of magnitude."""
    variants: tuple[str, ...] = ()
    """Which to draw; all if empty."""
    line: float | None = None
    """A horizontal line to compare with."""
    line_label: str = ""
    x: str = ""
    """Label of the x-axis where it does not show steps: a width, a frequency."""
    log_x: bool = False
    """Whether these span orders of magnitude."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A figure, table or claim of the paper, or a question beyond it."""

    name: str
    """The name on the command line: fig8, lem1, new-normalization."""
    title: str
    """The question, in one sentence."""
    source: str = "beyond the paper"
    """Where the paper has it, or that it does not."""
    whose: Whose = "ours"
    """Whose claims it tests, unless a claim says otherwise."""
    quote: str = ""
    """Where the paper says it, and its words, unless a claim of the paper says otherwise."""
    registered: str = ""
    """The date before the first run on which claims, arms, tasks and seeds were fixed."""
    arms: Mapping[str, Arm]
    """The variants by name."""
    grid: Grid
    """Their jobs at each scale."""
    metrics: tuple[Metric, ...] = (RETURN,)
    """The jobs' metrics that the table holds."""
    until: Mapping[ScaleName, int] = field(default_factory=dict)
    """The last step that the table holds at a scale, where some jobs go on."""
    sentences: Mapping[str, Kind] = field(default_factory=dict)
    """The sentences that are judged, ``"C-8c: LFF learns better."``, and the claim in each."""
    panels: tuple[Panel, ...] = (Panel(RETURN),)
    """The figures that are drawn."""
    command: str = ""
    """What makes its table; ``lff experiment run NAME --scale SCALE`` if empty."""
    notes: str = ""
    """How the small scale differs, what was left out."""
    whole_at: ScaleName | None = None
    """The least scale that is the whole experiment; the largest of the grid if None."""

    def __post_init__(self) -> None:
        if not self.arms:
            raise BadInputError("arms", self.arms, "one or more", "give each variant an Arm")

    def cells(self, scale: ScaleName) -> tuple[Cell, ...]:
        """Return the jobs at a scale and where their numbers belong."""
        return self.grid({n: a for n, a in self.arms.items() if scale in a.scales}, scale)

    @functools.cached_property
    def claims(self) -> tuple[Kind, ...]:
        """The claims, each with its name and text."""
        return tuple(
            replace(
                claim,
                name=sentence.partition(": ")[0],
                text=sentence.partition(": ")[2],
                whose=claim.whose or self.whose,
                quote=claim.quote or self.quote * ((claim.whose or self.whose) != "ours"),
                registered=self.registered if claim.registered is None else claim.registered,
            )
            for sentence, claim in self.sentences.items()
        )

    @property
    def roles(self) -> dict[str, Role]:
        """The role of every variant."""
        return {name: arm.role for name, arm in self.arms.items()}

    def is_small(self, scale: ScaleName) -> bool:
        """Return whether a scale is smaller than the whole: its numbers are not the paper's."""
        order: list[str] = [*SCALES]
        whole = self.whole_at or getattr(self.grid, "largest", "paper")
        return order.index(scale) < order.index(str(whole))
