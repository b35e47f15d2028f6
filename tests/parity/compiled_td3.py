"""Compiled against eager TD3 updates, in a process without the test run's shape checks.

    python -m tests.parity.compiled_td3 aot_eager|inductor

Fails unless six compiled updates, the actor's delayed, give the eager agent's tensors within
tolerance.  "inductor" is the compiler as training uses it.
"""

import sys

import torch

from lff import Fourier, MLPTrunk, NetConfig
from lff.algos import NoTarget, PolyakTarget
from lff.algos.td3 import TD3Config
from lff.regularizers import Dropout, LayerNorm, SpectralNorm, WeightDecay
from tests.parity.agents import check_updates

LFF = NetConfig(Fourier(fourier_dim=8, sigma=0.1), MLPTrunk((16, 16)))
MLP = NetConfig(trunk=MLPTrunk((16, 16)))
EXTRA = (WeightDecay(coefficient=1e-2), Dropout(p=0.2), SpectralNorm(where="both"), LayerNorm())
VARIANTS = (
    {"actor": LFF, "critic": LFF},
    {"actor": MLP, "critic": MLP, "target": NoTarget(), "target_noise": 1.0},
    {
        "actor": MLP,
        "critic": LFF,
        "target": PolyakTarget(tau=0.1, period=2),
        "regularizers": EXTRA,
        "normalize_obs": True,
    },
)


def main(backend):
    alive = []
    for options in VARIANTS:
        if backend != "inductor":
            torch.compiler.reset()
        config = TD3Config(batch_size=32, critic_lr=1e-3, **options)
        alive.append(check_updates(config, backend, steps=6))


if __name__ == "__main__":
    main(sys.argv[1])
