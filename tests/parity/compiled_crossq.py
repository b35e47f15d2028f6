"""Compiled against eager updates of CrossQ, in a process without the test run's shape checks.

    python -m tests.parity.compiled_crossq aot_eager|inductor

Fails unless four compiled updates, the actor's delayed, give the eager agent's tensors within
tolerance, running statistics included.  "inductor" is the compiler as training uses it; it takes a
minute, and is given the plain agent.
"""

import sys

from lff import Fourier, MLPTrunk, NetConfig
from lff.algos.crossq import CrossQConfig
from lff.regularizers import LayerNorm, SpectralNorm, WeightDecay
from tests.parity.agents import check_updates

LFF = NetConfig(Fourier(fourier_dim=8, sigma=0.1), MLPTrunk((16, 16)))
MLP = NetConfig(trunk=MLPTrunk((16, 16)))
EXTRA = (WeightDecay(coefficient=1e-2), SpectralNorm(where="both"), LayerNorm())
VARIANTS = {
    "inductor": {"actor": MLP, "critic": MLP},
    "aot_eager": {
        "actor": MLP,
        "critic": LFF,
        "target_noise": 1.0,
        "regularizers": EXTRA,
        "normalize_obs": True,
    },
}


def main(backend):
    config = CrossQConfig(batch_size=32, critic_lr=1e-3, **VARIANTS[backend])
    check_updates(config, backend, steps=4)


if __name__ == "__main__":
    main(sys.argv[1])
