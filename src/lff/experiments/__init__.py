"""Experiments as data, one file each; jobs, which do the work; tables, which hold what came of it.

The files of experiments import no torch: their grids do, when they are asked for.
"""

from lff.experiments.registry import find_experiment as find_experiment
from lff.experiments.registry import list_experiments as list_experiments
