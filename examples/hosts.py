"""One SAC per host library, with LFF or the host's own MLP of equal size, for Pendulum-v1.

Each ``run`` yields (environment steps, a function from observation to mean action).
"""

import importlib

from lff import Fourier, MLPTrunk, NetConfig
from lff.nn import matched_mlp

TASK, OBS, ACT = "Pendulum-v1", 3, 1
FOURIER, HIDDEN = Fourier(fourier_dim=64, sigma=0.01), (64, 64)
RATE, BATCH, WARMUP = 1e-3, 64, 200
HOSTS = ("sb3", "sbx", "torchrl", "tianshou")


def widths(variant, in_features, out_features):
    """Hidden widths: those behind the front, or those of an MLP with as many parameters."""
    net = NetConfig(FOURIER, MLPTrunk(HIDDEN))
    return HIDDEN if variant == "LFF" else matched_mlp(net, in_features, out_features).trunk.hidden


def run(host, variant, seed, *, steps, every):
    """Train one arm in one host, which is imported only now."""
    module = importlib.import_module(f"host_{host}")
    yield from module.run(variant, seed, steps=steps, every=every)
