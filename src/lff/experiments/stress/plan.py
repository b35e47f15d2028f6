"""The jobs of a stress report: the same seeds and settings for every network.

Two sizes: the default takes some five minutes of one core, and quick one and a half.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lff.experiments.jobs.stress_fits import StressFitJob, StressFQIJob
from lff.experiments.jobs.stress_sac import StressCostJob, StressSACJob
from lff.experiments.spec import Arm, Cell, Experiment, ScaleName
from lff.experiments.stress.networks import REFERENCES, Subject
from lff.stats.metrics import Metric

METRICS = (
    "signal error",
    "noise share",
    "scaled error",
    "shifted error",
    "blow-up",
    "|Q| over limit",
    "return",
    "rank",
    "input rank",
    "dormant",
    "learning time",
    "cost",
)
"""What the jobs measure; their docstrings define each."""
FIT, FQI, COST, FREE, HELD, NOISY = "fit", "fqi", "cost", "no target", "target", "target noise"
"""Tasks of the table: the last three are SAC without a target network, with one, and with one and
noise on the targets."""
NOISE = 10.0
"""Standard deviation of the noise on SAC's targets; rewards of the task are from -16 to 0."""
LR = 3e-4
"""Learning rate of the references' critics in SAC."""


@dataclass(frozen=True)
class Size:
    """Seeds and lengths of the stresses."""

    scale: ScaleName
    seeds: int
    fit: Mapping[str, Any] = field(default_factory=dict)
    fqi: Mapping[str, Any] = field(default_factory=dict)
    sac: Mapping[str, Any] = field(default_factory=dict)
    cost: Mapping[str, Any] = field(default_factory=dict)


DEFAULT = Size("laptop", seeds=5)
QUICK = Size(
    "smoke",
    seeds=3,
    fqi={"gradient_steps": (10, 30, 100), "iterations": 20},
    sac={"steps": 1_000, "warmup": 200, "evaluations": 4, "episodes": 2},
    cost={"turns": 3},
)


def size_of(*, quick: bool) -> Size:
    """Return the size of a report."""
    return QUICK if quick else DEFAULT


def cells_of(name: str, subject: Subject, lr: float, size: Size) -> tuple[Cell, ...]:
    """Return the jobs of one network, the longest first."""
    own: dict[str, Any] = {"net": subject.net, "regularizers": subject.regularizers}
    sac: dict[str, dict[str, Any]] = {
        FREE: {},
        HELD: {"target": True},
        NOISY: {"target": True, "noise": NOISE},
    }
    runs = [
        Cell(name, task, StressSACJob(**own, lr=lr, seed=seed, **size.sac, **fields), seed)
        for task, fields in sac.items()
        for seed in range(size.seeds)
    ]
    return (
        Cell(name, FQI, StressFQIJob(**own, seeds=size.seeds, **size.fqi)),
        *runs,
        Cell(name, FIT, StressFitJob(**own, seeds=size.seeds, **size.fit)),
        Cell(
            name,
            COST,
            StressCostJob(**own, other=REFERENCES["MLP"].net, rounds=size.seeds, **size.cost),
        ),
    )


def experiment_of(
    name: str,
    title: str,
    subjects: Mapping[str, Subject],
    *,
    lr: float,
    size: Size,
    command: str = "lff stress",
) -> Experiment:
    """Return the stresses of some networks as an experiment that the engine runs."""

    def grid(arms: Mapping[str, Arm], scale: ScaleName) -> tuple[Cell, ...]:  # noqa: ARG001
        each = (cells_of(own, one, lr, size) for own, one in subjects.items())
        return tuple(cell for cells in each for cell in cells)

    return Experiment(
        name=name,
        title=title,
        arms={own: Arm("control") for own in subjects},
        grid=grid,
        metrics=tuple(Metric(key) for key in METRICS),
        panels=(),
        command=command,
    )


def references(size: Size) -> Experiment:
    """Return the stresses of the reference networks."""
    command = "lff stress --net mlp --rerun-references --references results/stress"
    return experiment_of(
        "references",
        "The reference networks",
        REFERENCES,
        lr=LR,
        size=size,
        command=command + " --quick" * (size is QUICK),
    )
