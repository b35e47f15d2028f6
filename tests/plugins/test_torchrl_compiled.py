"""TorchRL's loss of SAC with our critics, compiled: the same losses and gradients."""

import pytest
import torch

from tests.plugins.test_torchrl import draw, sac, total
from tests.system.programs import require


def check_compiled(backend):
    loss = sac()
    B = loss.qvalue_network_params["module", "front", "B"]
    found = []
    for run in (loss, torch.compile(loss, backend=backend)):
        torch.manual_seed(1)
        value = total(run(draw()))
        B.grad = None
        value.backward()
        found.append((value.detach(), B.grad))
    for actual, expected in zip(*reversed(found), strict=True):
        torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.system  # tracing alone takes longer than all other tests of the plug-in
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("unchecked")
def test_the_losses_can_be_compiled():
    check_compiled("eager")


@pytest.mark.system
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("unchecked")
def test_the_losses_can_be_compiled_to_machine_code():
    require("g++", package="g++")
    with torch._inductor.config.patch(fallback_random=True):  # draws the same noise
        check_compiled("inductor")
