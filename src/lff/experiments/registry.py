"""Discovery of experiments: ``EXPERIMENTS`` of every module in ``paper`` and ``beyond``."""

import functools
import importlib
import pkgutil

from lff.core.checks import nearest
from lff.core.errors import BadInputError
from lff.core.imports import check_module
from lff.experiments.spec import Experiment

ROOMS = ("paper", "beyond")


@functools.cache
def list_experiments() -> dict[str, Experiment]:
    """Return all experiments by name: those of the paper first, figures in their order."""
    known: dict[str, Experiment] = {}
    for room in ROOMS:
        package = importlib.import_module(f"lff.experiments.{room}")
        names = [module.name for module in pkgutil.iter_modules(package.__path__)]
        for name in sorted(names, key=lambda name: (not name.startswith("fig"), name)):
            for experiment in importlib.import_module(f"{package.__name__}.{name}").EXPERIMENTS:
                if experiment.name in known:
                    raise BadInputError("name", experiment.name, "used once", "rename one")
                known[experiment.name] = experiment
    return known


def find_experiment(name: str) -> Experiment:
    """Return the experiment of this name; ``package.module:NAME`` is imported from there.

    Only a name that the user typed may come here: a module is code.
    """
    if ":" in name:
        return _import_experiment(name)
    known = list_experiments()
    if name not in known:
        raise BadInputError("experiment", name, "a known one", nearest(name, [*known]))
    return known[name]


def _import_experiment(path: str) -> Experiment:
    check_module("experiment", path)
    module, _, name = path.partition(":")
    try:
        inner = importlib.import_module(module)
    except ImportError as error:
        remedy = f"install it, put it on PYTHONPATH, or add --path and its folder: {error}"
        raise BadInputError("experiment", path, "importable", remedy) from None
    made = getattr(inner, name, None)
    if isinstance(made, Experiment):
        return made
    named: dict[str, Experiment] = {one.name: one for one in getattr(inner, "EXPERIMENTS", ())}
    if name not in named:
        remedy = "name an Experiment of that module, or one in its EXPERIMENTS"
        raise BadInputError("experiment", path, f"an Experiment of {module}", remedy)
    return named[name]
