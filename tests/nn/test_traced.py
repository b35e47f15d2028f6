import pytest
import torch
from torch import nn

from lff.nn import Ensemble, Fourier, Identity, MLPTrunk, NetConfig
from lff.nn.net import Waves, multiply_apart, run_traced

NET = NetConfig(Fourier(fourier_dim=8, sigma=0.3), MLPTrunk((7, 5)))


def build(config=NET, *, members=0, seed=0):
    g = torch.Generator().manual_seed(seed)
    if members:
        return Ensemble.build(config, members, in_features=3, out_features=2, generator=g).double()
    return config.build(3, 2, generator=g).double()


def parts(network):
    inner = network.stacked if isinstance(network, Ensemble) else network
    return inner.front, inner.trunk


@pytest.mark.parametrize("members", [0, 2])
def test_output_and_gradients_are_those_of_the_plain_network(members):
    network = build(members=members)
    x = torch.randn(*(2,) * bool(members), 6, 3, dtype=torch.float64, requires_grad=True)
    front, trunk = parts(network)
    leaves = (x, *network.parameters())
    weights = torch.randn(2, dtype=torch.float64)
    expected, actual = trunk(front(x)), run_traced(front, trunk, x)
    torch.testing.assert_close(actual, expected, rtol=1e-12, atol=1e-14)
    wanted = torch.autograd.grad((expected * weights).sum(), leaves)
    given = torch.autograd.grad((actual * weights).sum(), leaves)
    for one, other in zip(given, wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-13)


def test_waves_know_their_first_and_second_derivative():
    phase = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(Waves.apply, (phase,))
    assert torch.autograd.gradgradcheck(Waves.apply, (phase,))


def test_waves_can_be_batched():
    phase = torch.randn(5, 4, 3)
    batched = torch.func.vmap(Waves.apply)(phase)
    torch.testing.assert_close(batched, torch.cat((phase.sin(), phase.cos()), dim=-1))


@pytest.mark.parametrize("bias", [True, False])
def test_a_product_taken_apart(bias):
    layer = nn.Linear(7, 2, bias=bias)
    waves, x = torch.randn(5, 4), torch.randn(5, 3)
    expected = layer(torch.cat((waves, x), dim=-1))
    torch.testing.assert_close(multiply_apart(layer, waves, x), expected)


def test_a_hook_on_the_first_layer_is_still_called():
    network = build()
    seen = []
    network.trunk[0].register_forward_hook(lambda *_: seen.append(1))
    run_traced(network.front, network.trunk, torch.randn(6, 3, dtype=torch.float64))
    assert seen == [1]


@pytest.mark.parametrize(
    "config",
    [
        NetConfig(Identity(), MLPTrunk((7,))),
        NetConfig(Fourier(fourier_dim=8, sigma=0.3, concat_input=False), MLPTrunk((7,))),
    ],
)
def test_other_networks_run_as_they_are(config):
    network = build(config)
    x = torch.randn(6, 3, dtype=torch.float64)
    assert torch.equal(run_traced(network.front, network.trunk, x), network(x))


@pytest.mark.usefixtures("unchecked")
def test_a_compiled_network_equals_the_eager_one():
    network = build(members=2)
    x = torch.randn(6, 3, dtype=torch.float64)
    compiled = torch.compile(network, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x), network(x), rtol=1e-12, atol=1e-14)
