"""torch.compile with its real backend, which needs a C++ compiler: compiled equals eager."""

import pytest
import torch

from lff import LFF, Ensemble, LearnedFourierFeatures, LearnedFourierFeatures2d
from lff.algos import LearnedAlpha, SACConfig, Spaces
from lff.nn import Fourier2d, MLPTrunk, NetConfig, PixelEncoderConfig
from lff.training.compile import compile_update
from tests.algos.batches import random_batch
from tests.system.programs import require

pytestmark = [pytest.mark.system, pytest.mark.usefixtures("unchecked")]

CASES = {
    "dense": (lambda: LearnedFourierFeatures(5, 32, sigma=0.3), (64, 5)),
    "2d": (lambda: LearnedFourierFeatures2d(9, 16, sigma=0.3), (2, 9, 8, 8)),
    "per frame": (lambda: LearnedFourierFeatures2d(9, 16, sigma=0.3, per_frame=True), (2, 9, 8, 8)),
    "network": (lambda: LFF(5, 2, sigma=0.3, n_hidden=2), (64, 5)),
    "ensemble": (lambda: Ensemble([LFF(5, 2, sigma=0.3), LFF(5, 2, sigma=0.3)]), (64, 5)),
    "encoder": (
        lambda: PixelEncoderConfig(front=Fourier2d(fourier_dim=8, sigma=0.3), num_filters=4).build(
            (9, 21, 21)
        ),
        (2, 9, 21, 21),
    ),
}


@pytest.fixture(autouse=True)
def _compiler():
    require("g++", package="g++")


@pytest.mark.parametrize(("make", "shape"), CASES.values(), ids=CASES.keys())
def test_compiled_equals_eager_in_forward_and_gradient(make, shape):
    torch.manual_seed(0)
    module = make()
    x = torch.randn(*shape)
    expected = module(x)
    expected.square().sum().backward()
    gradients = {name: p.grad.clone() for name, p in module.named_parameters()}
    module.zero_grad()
    compiled = torch.compile(module, fullgraph=True)
    actual = compiled(x)
    actual.square().sum().backward()
    torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-4)
    for name, parameter in module.named_parameters():
        scale = gradients[name].abs().max().item()
        torch.testing.assert_close(
            parameter.grad, gradients[name], rtol=1e-3, atol=1e-4 * max(1.0, scale), msg=name
        )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_the_temperature_is_not_a_constant_of_the_compiled_update(dtype):
    net = NetConfig(trunk=MLPTrunk(hidden=(8, 8)))
    config = SACConfig(actor=net, critic=net, batch_size=16, alpha=LearnedAlpha(lr=0.1))
    torch.set_default_dtype(dtype)
    try:
        agents = [
            config.build(Spaces((3,), 2), generator=torch.Generator().manual_seed(0))
            for _ in range(2)
        ]
        update, g = compile_update(agents[1].update), torch.Generator().manual_seed(1)
        for _ in range(3):
            batch, noise = random_batch(g, size=16, obs=3, act=2), agents[0].draw(g, 16)
            agents[0].update(batch, noise)
            update(batch, noise)
        eager, compiled = (agent.alpha.log_alpha.item() for agent in agents)
        assert compiled == pytest.approx(eager, abs=1e-4)
        assert abs(eager - torch.tensor(0.1).log().item()) > 0.1
    finally:
        torch.set_default_dtype(torch.float32)
