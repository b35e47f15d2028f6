"""Training: runs, loops, evaluation, diagnostics, presets."""

from lff.training.loop import Loop as Loop
from lff.training.run import Compute as Compute
from lff.training.run import RunConfig as RunConfig
from lff.training.run import Schedule as Schedule
from lff.training.run import train as train
from lff.training.run import worth_compiling as worth_compiling
