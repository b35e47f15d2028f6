"""Experiments as data, one file each; the engine that runs them; the jobs that do the work.

The files of experiments do not import torch: their grids do, when they are planned.
"""

from lff.experiments.engine import Result as Result
from lff.experiments.engine import load as load
from lff.experiments.engine import run as run
from lff.experiments.registry import find_experiment as find_experiment
from lff.experiments.registry import list_experiments as list_experiments
