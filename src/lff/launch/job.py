"""Jobs: frozen dataclasses that travel as JSON and run in a directory named by their digest.

Each kind has a tag, its name on disk, and is imported where one is run.  A kind of the user's own
package is written ``package.module:Class`` and decoded only if the command line names its package.
A job's directory holds ``job.json``, ``log.txt``, ``rows.csv.gz`` and, last, ``outcome.json``.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from lff.core.config import TYPE_KEY, Registry, from_dict, to_dict

Report = Callable[[float, str], None]
"""Takes a job's progress, from 0 to 1, and a short text beside it."""
DIVERGED = "diverged"
"""Metric of a row which says that a job's numbers became non-finite: a result, not a failure."""
_KINDS = {
    "train": "training:TrainJob",
    "noise-test": "after_training:NoiseTestJob",
    "replay-kernel": "after_training:ReplayKernelJob",
    "self-excitation": "after_training:SelfExcitationJob",
    "fit": "regression:FitJob",
    "surface": "regression:SurfaceJob",
    "host": "hosts:HostJob",
    "peer": "hosts:PeerJob",
    "dynamics": "dynamics:DynamicsJob",
    "pause": "pause:PauseJob",
    "monte-carlo": "kernels:MonteCarloJob",
    "circle-kernel": "kernels:CircleKernelJob",
    "highest-frequency": "kernels:HighestFrequencyJob",
    "circulant": "kernels:CirculantJob",
    "concat-share": "kernels:ConcatShareJob",
    "deep-kernel": "deep_kernels:DeepKernelJob",
    "net-kernel": "deep_kernels:NetKernelJob",
    "lazy": "convergence:LazyJob",
    "contraction": "convergence:ContractionJob",
    "fqi": "gridworlds:FQIJob",
    "maze-fit": "gridworlds:MazeFitJob",
    "stress-fit": "stress_fits:StressFitJob",
    "stress-fqi": "stress_fits:StressFQIJob",
    "stress-sac": "stress_sac:StressSACJob",
    "stress-cost": "stress_sac:StressCostJob",
    "pixel-regression": "pixel_regression:PixelRegressionJob",
}
JOBS = Registry("job", {tag: f"lff.experiments.jobs.{home}" for tag, home in _KINDS.items()})
"""The kinds of jobs by tag."""


class JobRow(NamedTuple):
    """One number that a job measured."""

    seed: int
    step: int
    metric: str
    value: float


class Job(Protocol):
    """A frozen dataclass with a ``run`` that can be interrupted.

    ``run`` returns the same rows whether it was interrupted or not: it is called again, in the same
    folder, until it returns.
    """

    def run(self, folder: Path, report: Report, /) -> Iterable[JobRow]:
        """Do the work and return its numbers."""
        ...


def packages_of(job: Any) -> list[str]:
    """Return the packages, other than ours, whose classes a job is made of.

    The job exists, so they have been imported here already: a worker may import them too.
    """
    return sorted({tag.partition(":")[0].partition(".")[0] for tag in _foreign(to_dict(job))})


def _foreign(data: Any) -> Iterator[str]:
    if isinstance(data, dict):
        tag = data.get(TYPE_KEY)
        if isinstance(tag, str) and ":" in tag:
            yield tag
        data = list(data.values())
    if isinstance(data, list):
        for value in data:
            yield from _foreign(value)


def has_diverged(rows: Iterable[JobRow]) -> bool:
    """Return whether a job's numbers became non-finite."""
    return any(row.metric == DIVERGED for row in rows)


def job_from_dict(data: Mapping[str, Any], *, trust: Collection[str] = ()) -> Job:
    """Rebuild a job from ``to_dict``'s data; ``trust`` names packages of the user's own kinds."""
    kind = JOBS.find(data.get(TYPE_KEY), trust=trust)
    job: Job = from_dict(kind, dict(data), trust=trust)
    return job
