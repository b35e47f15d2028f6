"""Compiled against eager TD3 updates, in a process without the test run's shape checks.

    python -m tests.parity.compiled_td3 aot_eager|inductor

Fails unless six compiled updates, the actor's delayed, give the eager agent's tensors within
tolerance.  "inductor" is the compiler as training uses it.
"""

import sys

import torch

from lff import Fourier, MLPTrunk, NetConfig
from lff.algos import NoTarget, PolyakTarget, Spaces
from lff.algos.td3 import TD3Config
from lff.regularizers import Dropout, LayerNorm, SpectralNorm, WeightDecay
from tests.algos.batches import random_batch
from tests.parity.agents import check_metrics, check_states, compiled

OBS, ACT, SIZE = 5, 2, 32
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
        config = TD3Config(batch_size=SIZE, critic_lr=1e-3, **options)
        one, other = (
            config.build(Spaces((OBS,), ACT), generator=torch.Generator().manual_seed(0))
            for _ in "ab"
        )
        alive.append(other)
        update = compiled(other.update, backend)
        g = torch.Generator().manual_seed(1)
        for step in range(6):
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
