"""Training: runs, loops, evaluation, diagnostics, presets."""

from lff.training.loop import Loop
from lff.training.run import Compute, RunConfig, Schedule, train, worth_compiling
