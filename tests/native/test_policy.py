"""A policy that acts natively gives the outputs of its network."""

import numpy as np
import pytest
import torch

from lff.native.policy import NativePolicy, supports_policy
from lff.nn import Fourier, MLPTrunk, NetConfig

NETS = {
    "tanh": NetConfig(trunk=MLPTrunk(hidden=(64, 37), activation="tanh")),
    "tanh behind waves": NetConfig(
        Fourier(fourier_dim=40, sigma=0.3), MLPTrunk(hidden=(33,), activation="tanh")
    ),
    "relu": NetConfig(trunk=MLPTrunk(hidden=(20, 20, 20))),
}


@pytest.mark.parametrize("name", NETS)
@pytest.mark.parametrize("rows", [1, 3, 9])
def test_outputs_are_those_of_the_network(name: str, rows: int) -> None:
    network = NETS[name].build(17, 6, generator=torch.Generator().manual_seed(0))
    policy = NativePolicy(network, 6)
    x = torch.randn(rows, 17, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        np.testing.assert_allclose(policy(x.numpy()), network(x).numpy(), rtol=2e-5, atol=1e-5)
        for parameter in network.parameters():
            parameter.mul_(1.5)  # bound by address: a change is seen
        np.testing.assert_allclose(policy(x.numpy()), network(x).numpy(), rtol=2e-5, atol=1e-5)


def test_a_row_does_not_depend_on_the_others() -> None:
    network = NETS["tanh behind waves"].build(5, 2, generator=torch.Generator().manual_seed(0))
    policy = NativePolicy(network, 2)
    x = np.random.default_rng(0).standard_normal((7, 5)).astype(np.float32)
    np.testing.assert_array_equal(policy(x), np.concatenate([policy(row[None]) for row in x]))


def test_another_nonlinearity_is_named() -> None:
    network = NetConfig(trunk=MLPTrunk(hidden=(8,))).build(3, 1)
    network.trunk[1] = torch.nn.ELU()
    assert supports_policy(network, 1) == "nonlinearities of type ELU"
