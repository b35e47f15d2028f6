"""What the programs of this folder share: an update compiled by name, agents compared."""

import torch

from lff.algos import Spaces
from lff.training.compile import compile_update
from tests.algos.batches import random_batch

OBS, ACT = 5, 2
CLOSE = {"rtol": 1e-3, "atol": 1e-4}


def compiled(update, backend):
    """Return the update as training compiles it ("inductor"), or by another backend."""
    if backend == "inductor":
        return compile_update(update)
    return torch.compile(update, fullgraph=True, backend=backend, dynamic=False)


def check_metrics(actual, expected):
    assert actual.keys() == expected.keys()
    for name, value in expected.items():
        torch.testing.assert_close(actual[name], value, **CLOSE, msg=name)


def check_states(actual, expected):
    for name, value in expected.state().items():
        torch.testing.assert_close(actual.state()[name].data, value.data, **CLOSE, msg=name)


def check_updates(config, backend, *, steps):
    """Compare compiled with eager updates, the actor's delayed; return the compiled agent."""
    one, other = (
        config.build(Spaces((OBS,), ACT), generator=torch.Generator().manual_seed(0)) for _ in "ab"
    )
    update = compiled(other.update, backend)
    g = torch.Generator().manual_seed(1)
    for step in range(steps):
        actor = step % config.actor_period == 0
        batch = random_batch(g, size=config.batch_size, obs=OBS, act=ACT)
        noise = one.draw(g, config.batch_size)
        one.observe(batch.obs.numpy())
        other.observe(batch.obs.numpy())
        expected = one.update(batch, noise, actor=actor)
        check_metrics(update(batch, noise, actor=actor), expected)
    check_states(other, one)
    return other
