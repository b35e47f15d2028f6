"""Finds the experiments: every module of this package that defines ``EXPERIMENTS``."""

import functools
import importlib
import pkgutil

from lff.core.checks import nearest
from lff.core.errors import BadInputError
from lff.core.experiment import Experiment

PREFIXES = ("fig", "claims", "new", "tab", "lem", "thm")
"""How files of experiments are named; the other modules of the package are the machinery."""


@functools.cache
def list_experiments() -> dict[str, Experiment]:
    """Return all experiments by name, figures of the paper first."""
    package = importlib.import_module("lff.experiments")
    found: dict[str, Experiment] = {}
    for module in sorted(pkgutil.iter_modules(package.__path__), key=lambda m: _order(m.name)):
        if module.name.startswith(PREFIXES):
            inner = importlib.import_module(f"lff.experiments.{module.name}")
            for experiment in inner.EXPERIMENTS:
                if experiment.name in found:
                    raise BadInputError("name", experiment.name, "used once", "rename one")
                found[experiment.name] = experiment
    return found


def find_experiment(name: str) -> Experiment:
    """Return the experiment of this name, or say which names are near."""
    known = list_experiments()
    if name not in known:
        raise BadInputError("experiment", name, "a known one", nearest(name, [*known]))
    return known[name]


def _order(name: str) -> tuple[int, int, str]:
    prefix = next((i for i, p in enumerate(PREFIXES) if name.startswith(p)), len(PREFIXES))
    digits = "".join(c for c in name if c.isdigit())
    return prefix, int(digits or 0), name
