"""SAC of SBX, in JAX, on Pendulum-v1, with LFF or its own MLP of equal size."""

from functools import partial

from host_sb3 import train
from hosts import played
from sbx import SAC

from lff.plugins.flax import LFFSACPolicy

run = played(partial(train, SAC, LFFSACPolicy))
