"""The kinds of jobs, by name: each is imported where one is run, and nothing else with it.

A job is a frozen dataclass.  Its directory holds ``job.json``, ``log.txt``, ``table.csv`` and,
last, ``outcome.json``.
"""

import importlib
from collections.abc import Mapping
from typing import Any

from lff.core.checks import nearest
from lff.core.config import TYPE_KEY, from_dict
from lff.core.errors import BadInputError
from lff.core.experiment import Job

HOMES = {
    "TrainJob": "training",
    "PPOJob": "ppo",
    "NoiseTestJob": "after_training",
    "ReplayKernelJob": "after_training",
    "FitJob": "fits",
    "SurfaceJob": "regression",
    "DynamicsJob": "dynamics",
    "PauseJob": "pause",
    "MonteCarloJob": "kernels",
    "CircleKernelJob": "kernels",
    "HighestFrequencyJob": "kernels",
    "CirculantJob": "kernels",
    "ConcatShareJob": "kernels",
    "DeepKernelJob": "deep_kernels",
    "NetKernelJob": "deep_kernels",
    "LazyJob": "lazy",
    "ContractionJob": "bellman",
    "FQIJob": "fqi",
    "MazeFitJob": "mazes",
    "PixelRegressionJob": "pixel_regression",
}
"""The module of this room that each kind lives in."""


def job_from_dict(data: Mapping[str, Any]) -> Job:
    """Rebuild a job from ``to_dict``'s data."""
    name = data.get(TYPE_KEY)
    if name not in HOMES:
        raise BadInputError("job", name, f"one of {', '.join(HOMES)}", nearest(name, [*HOMES]))
    kind = getattr(importlib.import_module(f"lff.experiments.{HOMES[name]}"), name)
    job: Job = from_dict(kind, dict(data))
    return job
