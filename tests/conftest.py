import jaxtyping
import pytest
import torch


@pytest.fixture(autouse=True)
def _single_thread():
    """Tests run side by side; two threads each would only fight for the cores."""
    torch.set_num_threads(1)


@pytest.fixture
def unchecked():
    """Switch the shape checks of the test run off, so that our own errors are seen."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture
def rng():
    return torch.Generator().manual_seed(0)
