"""What an experiment is, as plain data: a question, a grid of jobs, claims and pictures.

An :class:`Experiment` says which :class:`Cell` of work it has at each scale; a cell is a job and
the place of its numbers in the table.  Launchers know jobs alone.  Tables, verdicts, figures and
pages need none of the code that the jobs run.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from lff.core.config import digest

ScaleName = Literal["smoke", "laptop", "paper"]
SCALES: dict[ScaleName, str] = {
    "smoke": "seconds a job: does it run?",
    "laptop": "minutes a job: small networks, few steps, enough seeds for a verdict",
    "paper": "the paper's sizes, tasks and steps: days on many machines",
}


@dataclass(frozen=True)
class Cell:
    """A job and where its numbers belong."""

    variant: str
    task: str
    job: Any

    @property
    def digest(self) -> str:
        """The name of the job's directory: equal jobs of several experiments are run once."""
        return digest(self.job)


class Judged(Protocol):
    """What a claim's judgement says."""

    @property
    def outcome(self) -> str:
        """Confirmed, refuted, inconclusive at this scale, no signal."""
        ...

    @property
    def because(self) -> str:
        """The numbers that decided it."""
        ...


class Claim(Protocol):
    """A sentence that a table can confirm or refute; the kinds are in ``lff.stats``."""

    @property
    def name(self) -> str:
        """A short name, as in the inventory of claims: C-8a."""
        ...

    @property
    def text(self) -> str:
        """The claim in one sentence."""
        ...

    def judge(self, rows: Sequence[Any]) -> Judged:
        """Judge it by the rows of a table."""
        ...


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One kind of picture, drawn once for each task."""

    metric: str
    """The metric's title in the table."""
    kind: Literal["curves", "bars", "histogram", "fit", "grid"] = "curves"
    """Against steps with a band over seeds; the end of the curve per variant; counts in bins; a
    fitted function and its points on [-1, 1]; surfaces side by side, from the fields beside the
    table (``lff.stats.fields``)."""
    log: bool = False
    """Whether the values span orders of magnitude."""
    variants: tuple[str, ...] = ()
    """Which to draw; all if empty."""
    line: float | None = None
    """A horizontal line to compare with."""
    line_label: str = ""
    x: str = ""
    """What the steps are, where they are not steps: a width, a frequency."""
    log_x: bool = False
    """Whether these span orders of magnitude."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A figure, table or claim of the paper, or a question beyond it."""

    name: str
    """The name on the command line: fig8, lem1, new-normalization."""
    title: str
    """The question, in one sentence."""
    source: str
    """Where the paper has it, or that it does not."""
    cells: Callable[[ScaleName], tuple[Cell, ...]]
    """The grid at a scale."""
    metrics: tuple[tuple[str, str], ...]
    """Which of the jobs' metrics the table holds, and under which title."""
    claims: tuple[Claim, ...] = ()
    """What is judged."""
    panels: tuple[Panel, ...] = ()
    """What is drawn."""
    notes: str = ""
    """What a reader must know: how the small scale differs, what was left out."""
    whole_at: ScaleName = "paper"
    """The least scale that is the whole experiment; below it, numbers are not the paper's."""

    def is_small(self, scale: ScaleName) -> bool:
        """Tell whether a scale is smaller than the whole."""
        order = [*SCALES]
        return order.index(scale) < order.index(self.whole_at)
