"""Compiled against eager SAC updates, in a process without the test run's shape checks.

    python -m tests.parity.compiled_update aot_eager|inductor

Fails unless five compiled updates give the eager agent's tensors within tolerance.  "inductor" is
the compiler as training uses it; its agents are all alive at once, so that one's graph could be
mistaken for another's.
"""

import sys

import torch

from lff import Fourier, MLPTrunk, NetConfig
from lff.algos import NoTarget, SACConfig, Spaces
from lff.regularizers import (
    BasisRule,
    Dropout,
    FunctionalRegularization,
    LayerNorm,
    SpectralNorm,
    WeightDecay,
)
from tests.algos.batches import random_batch
from tests.parity.agents import check_metrics, check_states, compiled

OBS, ACT, SIZE = 5, 2, 32
NET = NetConfig(Fourier(fourier_dim=8, sigma=0.1), MLPTrunk((16, 16)))
ALL = (
    WeightDecay(coefficient=1e-2),
    BasisRule(lr=1e-2, decay=1e-2, anchor=0.1),
    Dropout(p=0.2),
    FunctionalRegularization(kappa=0.5, lag=2),
    SpectralNorm(where="both"),
    LayerNorm(),
)


def draw_batch(g):
    return random_batch(g, size=SIZE, obs=OBS, act=ACT)


def main(backend):
    variants = (
        {},
        {"target": NoTarget(), "target_noise": 1.0, "num_critics": 3},
        {"regularizers": ALL, "normalize_obs": True},
    )
    alive = []
    again = variants[:1] if backend == "inductor" else ()  # beside an equal one that is alive
    for options in (*variants, *again):
        if backend != "inductor":
            torch.compiler.reset()
        config = SACConfig(actor=NET, critic=NET, batch_size=SIZE, critic_lr=1e-3, **options)
        one, other = (
            config.build(Spaces((OBS,), ACT), generator=torch.Generator().manual_seed(0))
            for _ in "ab"
        )
        alive.append(other)
        update = compiled(other.update, backend)
        g = torch.Generator().manual_seed(1)
        for _ in range(5):
            batch, noise = draw_batch(g), one.draw(g, SIZE)
            one.observe(batch.obs.numpy())
            other.observe(batch.obs.numpy())
            expected, actual = one.update(batch, noise), update(batch, noise)
        check_metrics(actual, expected)
        check_states(other, one)


if __name__ == "__main__":
    main(sys.argv[1])
