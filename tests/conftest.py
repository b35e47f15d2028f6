import os

import jaxtyping
import pytest
import torch

os.environ.setdefault("OMP_NUM_THREADS", "1")  # of the processes that tests start; see below


@pytest.fixture(autouse=True)
def _single_thread():
    """Tests run side by side; two threads each would only fight for the cores.

    A training run lets the processor flush denormal numbers, which hypothesis will not have.
    """
    torch.set_num_threads(1)
    yield
    torch.set_flush_denormal(False)


@pytest.fixture
def unchecked():
    """Switch the shape checks of the test run off, so that our own errors are seen."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture
def double():
    """Make float64 the default type of new tensors."""
    torch.set_default_dtype(torch.double)
    yield
    torch.set_default_dtype(torch.float)


@pytest.fixture
def rng():
    return torch.Generator().manual_seed(0)
