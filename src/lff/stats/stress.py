"""The numbers of a stress report: how a critic behaves under each stress, beside references."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from lff.core.errors import BadInputError
from lff.stats.intervals import Interval, contrast

Grade = Literal["good", "fair", "poor"]
"""Like the best reference, between, or like the worst (``lff.experiments.stress.grading``)."""
SCHEMA = 1
"""Of the report as plain data."""


@dataclass(frozen=True)
class Measured:
    """A number with its 95 % interval over seeds."""

    estimate: float
    low: float
    high: float
    values: tuple[float, ...]
    """One per seed."""

    @staticmethod
    def of(values: Sequence[float]) -> "Measured":
        """Return Student's interval of these values."""
        interval: Interval = contrast([(1.0, values)]).interval()
        return Measured(interval.estimate, interval.low, interval.high, tuple(values))


def references_overlap(references: Mapping[str, Measured]) -> bool:
    """Return whether the intervals of the best and the worst reference overlap.

    Then the references do not show what is good, and a grade by them says little.

    >>> low, high, wide = Measured(1, 0, 2, ()), Measured(5, 4, 6, ()), Measured(3, 1, 5, ())
    >>> references_overlap({"a": low, "b": wide, "c": high})
    False
    >>> references_overlap({"a": low, "b": wide})
    True
    """
    ordered = sorted(references.values(), key=lambda one: one.estimate)
    return len(ordered) > 1 and not ordered[0].high < ordered[-1].low


@dataclass(frozen=True)
class Line:
    """One network's curve in the figure of a stress, with its 95 % band."""

    x: tuple[float, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Stress:
    """The result of one stress."""

    key: str
    """A word for programs: ``noise``."""
    title: str
    """What the number is: ``Share of target noise fitted``."""
    question: str
    """What it tells, in one plain sentence."""
    better: Literal["lower", "higher"]
    log: bool = False
    """Whether the number spans orders of magnitude."""
    unit: str = ""
    """Printed behind the number: ``%``, ``times``."""
    measured: Measured
    references: Mapping[str, Measured]
    """The same number of the reference networks, by name."""
    grade: Grade
    advice: str = ""
    """What to do if the grade is poor, in one sentence."""
    lines: Mapping[str, Line] = field(default_factory=dict)
    """The figure: the network under test and the references by name; empty if there is none."""
    x_title: str = ""
    y_title: str = ""
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True, kw_only=True)
class StressReport:
    """How one critic network behaves under all stresses."""

    name: str
    """The network under test: ``my_package.nets:make_critic``, ``LFF, sigma 0.01``."""
    lr: float
    is_quick: bool
    """Whether it was made with ``--quick``: fewer seeds and steps, so wider intervals."""
    seeds: int
    parameters: int
    """Of one network of the SAC stress."""
    made: Mapping[str, str]
    """Where and with what it was made: date, version, processor, torch."""
    references_made: Mapping[str, str]
    """The same for the references."""
    stresses: tuple[Stress, ...]
    summary: str
    """What to do, in one sentence."""

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {"schema": SCHEMA, **asdict(self)}

    @staticmethod
    def from_json(data: Any) -> "StressReport":
        """Return the report that :meth:`to_json` or ``lff stress --json`` wrote."""
        try:
            fields = {**data}
            if fields.pop("schema") != SCHEMA:
                raise ValueError("schema")
            fields["stresses"] = tuple(_stress(one) for one in fields["stresses"])
            return StressReport(**fields)
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            remedy = f"write it with lff stress --json: {type(error).__name__} {error}"
            raise BadInputError("data", type(data).__name__, "a stress report", remedy) from None


def _stress(data: Mapping[str, Any]) -> Stress:
    if data["grade"] not in get_args(Grade) or data["better"] not in ("lower", "higher"):
        raise ValueError("grade or better")
    lines = {name: Line(**_tuples(one)) for name, one in data["lines"].items()}
    references = {name: _measured(one) for name, one in data["references"].items()}
    made = {"measured": _measured(data["measured"]), "references": references, "lines": lines}
    return Stress(**{**data, **made})


def _measured(data: Mapping[str, Any]) -> Measured:
    estimate, low, high = (float(data[name]) for name in ("estimate", "low", "high"))
    return Measured(estimate, low, high, tuple(map(float, data["values"])))


def _tuples(data: Mapping[str, Any]) -> dict[str, tuple[float, ...]]:
    return {name: tuple(map(float, values)) for name, values in data.items()}
