"""Compiled against eager fitted Q-iteration, in a process without the test run's shape checks.

    python -m tests.parity.compiled_fqi

Fails unless a few compiled iterations give the eager learner's Q within tolerance, also after the
compiled one was restored from a state.  All learners are alive at once.
"""

import numpy as np

from lff import Fourier, MLPTrunk, NetConfig
from lff.regularizers import Dropout, FunctionalRegularization, LayerNorm, SpectralNorm
from lff.tabular import FQI, FQIConfig, grid16_smooth
from lff.training.compile import compile_update

NET = NetConfig(Fourier(fourier_dim=8, sigma=0.1), MLPTrunk((16, 16)))
ALL = (
    Dropout(p=0.2, where="critic"),
    FunctionalRegularization(kappa=0.5),
    LayerNorm(),
    SpectralNorm(),
)


def main():
    task = grid16_smooth()
    alive = []
    for regularizers in ((), ALL):
        config = FQIConfig(net=NET, regularizers=regularizers, gradient_steps=5, batch_size=32)
        eager, compiled, restored = (FQI(task, config, seeds=range(3)) for _ in "abc")
        for fqi in (compiled, restored):
            fqi.step = compile_update(fqi.update)
            alive.append(fqi)
        restored.iterate()
        restored.restore({name: value.clone() for name, value in eager.state().items()})
        for _ in range(3):
            for fqi in (eager, compiled, restored):
                fqi.iterate()
        np.testing.assert_allclose(compiled.q_table(), eager.q_table(), atol=1e-4)
        np.testing.assert_array_equal(compiled.q_table(), restored.q_table())


if __name__ == "__main__":
    main()
