"""Compiled against eager updates of CrossQ, in a process without the test run's shape checks.

    python -m tests.parity.compiled_crossq aot_eager|inductor

Fails unless four compiled updates, the actor's delayed, give the eager agent's tensors within
tolerance, running statistics included.  "inductor" is the compiler as training uses it; it takes a
minute, and is given the plain agent.
"""

import sys

import torch

from lff import Fourier, MLPTrunk, NetConfig
from lff.algos import Spaces
from lff.algos.crossq import CrossQConfig
from lff.regularizers import LayerNorm, SpectralNorm, WeightDecay
from tests.algos.batches import random_batch
from tests.parity.agents import check_metrics, check_states, compiled

OBS, ACT, SIZE = 5, 2, 32
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
    config = CrossQConfig(batch_size=SIZE, critic_lr=1e-3, **VARIANTS[backend])
    one, other = (
        config.build(Spaces((OBS,), ACT), generator=torch.Generator().manual_seed(0)) for _ in "ab"
    )
    update = compiled(other.update, backend)
    g = torch.Generator().manual_seed(1)
    for step in range(4):
        actor = step % config.actor_period == 0
        batch = random_batch(g, size=SIZE, obs=OBS, act=ACT)
        noise = one.draw(g, SIZE)
        one.observe(batch.obs.numpy())
        other.observe(batch.obs.numpy())
        expected = one.update(batch, noise, actor=actor)
        check_metrics(update(batch, noise, actor=actor), expected)
    check_states(other, one)


if __name__ == "__main__":
    main(sys.argv[1])
