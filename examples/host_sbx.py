"""SAC of SBX, in JAX, on Pendulum-v1, with LFF or its own MLP of equal size."""

from host_sb3 import train
from sbx import SAC

from lff.plugins.flax import LFFSACPolicy


def run(variant, seed, **schedule):
    yield from train(SAC, LFFSACPolicy, variant, seed, **schedule)
