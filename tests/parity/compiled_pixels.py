"""Compiled against eager SAC updates from pixels, in a process without the run's shape checks.

    python -m tests.parity.compiled_pixels aot_eager|inductor

Fails unless compiled updates, with and without the actor's, give the eager agent's tensors within
tolerance.  The cache is made so small that the embedding comes in several chunks, the last of
which is shorter.
"""

import sys

import torch

from lff.algos import PolyakTarget
from lff.nn import pixels
from lff.regularizers import Dropout, FunctionalRegularization, SpectralNorm, WeightDecay
from tests.algos.pixel_agents import OBS, draw_images, make_pixel_agent
from tests.parity.agents import check_metrics, check_states, compiled

SIZE = 7
SMALL = 4 * (6 + OBS[0]) * 17 * 17 * 2
"""Bytes of two embedded images, where MOST_CHUNKS lets it have two."""


def variants():
    yield {"front": pixels.NoFront()}, ()
    yield {}, ()
    extra = (WeightDecay(), Dropout(p=0.2), SpectralNorm(where="both"))
    yield {"target": PolyakTarget()}, (*extra, FunctionalRegularization(kappa=0.5, lag=2))


def main(backend):
    pixels.CACHED = SMALL
    assert make_pixel_agent().critic.network.encoder._chunk(SIZE) == 2  # hence 2, 2, 2 and 1
    for options, regularizers in variants():
        torch.compiler.reset()
        one, other = (make_pixel_agent(*regularizers, **options) for _ in "ab")
        update = compiled(other.update, backend)
        g = torch.Generator().manual_seed(1)
        for i in range(4):
            batch, noise = draw_images(i, size=SIZE), one.draw(g, SIZE)
            actor = i % 2 == 0
            expected = one.update(batch, noise, actor=actor)
            actual = update(batch, noise, actor=actor)
            check_metrics(actual, expected)
        check_states(other, one)


if __name__ == "__main__":
    main(sys.argv[1])
