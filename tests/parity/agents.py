"""What the programs of this folder share: an update compiled by name, agents compared."""

import torch

from lff.training.compile import compile_update

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
