import math

import pytest
import torch
from torch import nn

from lff import LFF, MLP
from lff.core import BadInputError, BadTypeError
from lff.nn import (
    ConcatMLPTrunk,
    D2RLTrunk,
    DeepFourierTrunk,
    Fourier,
    MLPTrunk,
    NetConfig,
    SIRENTrunk,
    num_parameters,
    orthogonal_,
)
from tests.nn.architectures import fronts, trunks


def test_lff_is_algorithm_1(rng):
    """The pseudocode of the paper, written out, with the same weights."""
    net = LFF(5, 2, n_hidden=2, hidden_dim=8, sigma=0.5, fourier_dim=6, generator=rng)
    first, second, last = (layer for layer in net.trunk if isinstance(layer, nn.Linear))
    x = torch.randn(7, 5, generator=rng)
    proj = 2 * math.pi * x @ net.front.B.T
    y = torch.cat([proj.sin(), proj.cos(), x], dim=-1)
    y = torch.relu(y @ first.weight.T + first.bias)
    y = torch.relu(y @ second.weight.T + second.bias)
    torch.testing.assert_close(net(x), y @ last.weight.T + last.bias)


def test_lff_counts_by_hand():
    d, F, H, out = 23, 1024, 1024, 1
    net = LFF(d, out, n_hidden=2, hidden_dim=H, sigma=0.001, fourier_dim=F)
    expected = d * F // 2 + (F + d + 1) * H + (H + 1) * H + (H + 1) * out
    assert num_parameters(net) == expected == 2_135_553
    assert "parameters=2,135,553" in repr(net)
    assert "sigma=0.001, trainable=True" in repr(net)


def test_defaults_are_those_of_algorithm_1_with_the_recommended_sigma():
    net = LFF(3, 1)
    assert net.front.sigma == 0.01
    assert net.front.fourier_dim == 256
    assert [m.out_features for m in net.trunk if isinstance(m, nn.Linear)] == [256, 1]


@pytest.mark.parametrize("front", fronts(16), ids=repr)
@pytest.mark.parametrize("trunk", trunks(12, 10), ids=repr)
def test_every_front_meets_every_trunk(front, trunk):
    config = NetConfig(front, trunk)
    torch.manual_seed(0)
    before = torch.get_rng_state()
    one, other = (config.build(4, 3, generator=torch.Generator().manual_seed(1)) for _ in "ab")
    assert torch.equal(torch.get_rng_state(), before), "a given generator leaves the global one be"
    x = torch.randn(2, 5, 4)
    assert one(x).shape == (2, 5, 3)
    assert torch.equal(one(x), other(x))
    assert one(x).isfinite().all()
    one(x).sum().backward()
    assert all(p.grad is not None for p in one.parameters())
    assert not torch.equal(config.build(4, 3)(x), one(x))


def test_several_inputs_are_joined():
    q = LFF(5, 1, sigma=0.1)
    obs, action = torch.randn(7, 3), torch.randn(7, 2)
    assert torch.equal(q(obs, action), q(torch.cat([obs, action], dim=-1)))


def test_linear_layers_are_orthogonal_with_zero_bias_output_included():
    net = MLP(7, 3, n_hidden=2, hidden_dim=16)
    layers = [m for m in net.trunk if isinstance(m, nn.Linear)]
    assert len(layers) == 3
    for layer in layers:
        weight = layer.weight if layer.weight.shape[0] <= layer.weight.shape[1] else layer.weight.T
        torch.testing.assert_close(weight @ weight.T, torch.eye(len(weight)), atol=1e-5, rtol=0)
        assert not layer.bias.any()


def test_default_init_has_torchs_bounds():
    config = NetConfig(trunk=MLPTrunk((400,), init="default"))
    first = config.build(25, 1).trunk[0]
    reference = nn.Linear(25, 400)
    for ours, theirs in ((first.weight, reference.weight), (first.bias, reference.bias)):
        assert ours.abs().max().item() <= 0.2
        assert ours.std().item() == pytest.approx(theirs.std().item(), rel=0.1)


def test_orthogonal_makes_convolutions_delta_orthogonal():
    conv = orthogonal_(nn.Conv2d(9, 32, 3))
    centre = conv.weight[:, :, 1, 1]
    torch.testing.assert_close(centre.T @ centre, 2 * torch.eye(9), atol=1e-5, rtol=0)
    assert conv.weight.abs().sum() == centre.abs().sum()
    assert not conv.bias.any()


def test_mlp_first_width():
    net = MLP(7, 3, n_hidden=3, hidden_dim=16, first_dim=20, activation="tanh")
    assert [m.out_features for m in net.trunk if isinstance(m, nn.Linear)] == [20, 16, 16, 3]
    assert isinstance(net.trunk[1], nn.Tanh)


def test_concat_mlp_by_hand():
    trunk = ConcatMLPTrunk((8, 6)).build(5, 2)
    one, two, three = trunk.layers
    assert (one.in_features, two.in_features, three.in_features) == (5, 13, 6)
    x = torch.randn(4, 5)
    y = torch.relu(two(torch.cat([torch.relu(one(x)), x], dim=-1)))
    torch.testing.assert_close(trunk(x), three(y))


def test_concat_mlp_of_one_layer_hands_x_to_the_output():
    one, two = ConcatMLPTrunk((8,)).build(5, 2).layers
    assert (one.in_features, two.in_features) == (5, 13)


def test_d2rl_by_hand():
    trunk = D2RLTrunk((8, 7, 6)).build(5, 2)
    one, two, three, last = trunk.layers
    x = torch.randn(4, 5)
    y = torch.relu(one(x))
    y = torch.relu(two(torch.cat([y, x], dim=-1)))
    y = torch.relu(three(torch.cat([y, x], dim=-1)))
    torch.testing.assert_close(trunk(x), last(y))
    assert last.in_features == 6


def test_siren_by_hand_and_its_bounds():
    trunk = SIRENTrunk((200, 300), first_omega=10.0, hidden_omega=20.0).build(50, 2)
    one, two, last = (m for m in trunk if isinstance(m, nn.Linear))
    x = torch.randn(4, 50)
    y = torch.sin(20 * two(torch.sin(10 * one(x))))
    torch.testing.assert_close(trunk(x), last(y))
    bounds = (1 / 50, math.sqrt(6 / 200) / 20, math.sqrt(6 / 300) / 20)
    for layer, bound in zip((one, two, last), bounds, strict=True):
        assert 0.95 * bound < layer.weight.abs().max().item() <= bound


def test_deep_fourier_by_hand():
    trunk = DeepFourierTrunk((8, 6)).build(5, 2)
    one, two, last = (m for m in trunk if isinstance(m, nn.Linear))
    assert (one.out_features, two.in_features, two.out_features) == (4, 8, 3)
    x = torch.randn(4, 5)
    y = torch.cat([one(x).sin(), one(x).cos()], dim=-1)
    y = torch.cat([two(y).sin(), two(y).cos()], dim=-1)
    torch.testing.assert_close(trunk(x), last(y))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: MLPTrunk(hidden=()), ["hidden", "()", "at least one item"]),
        (lambda: MLPTrunk(hidden=(32, 0)), ["hidden[1]", "0", "positive"]),
        (lambda: MLPTrunk(hidden=256), ["hidden", "256", "sequence"]),
        (lambda: MLPTrunk(hidden=(32,), activation="rellu"), ["rellu", "did you mean relu?"]),
        (lambda: DeepFourierTrunk(hidden=(7,)), ["hidden[0]", "7", "even"]),
        (lambda: SIRENTrunk(hidden_omega=0), ["hidden_omega", "> 0"]),
        (lambda: LFF(3, 1, n_hidden=0), ["n_hidden", "0", "positive"]),
        (lambda: LFF(3, 1, fourier_dim=7), ["fourier_dim", "7", "use 6 or 8"]),
        (lambda: LFF(0, 1), ["in_features", "0"]),
        (lambda: MLP(3, 0), ["out_features", "0"]),
        (lambda: MLP(3, 1, first_dim=-1), ["first_dim", "-1"]),
        (lambda: LFF(3, 1)(), ["number of inputs"]),
        (lambda: MLP(3, 1)(torch.zeros(2, 4)), ["(2, 4)", "3 wide", "in_features=4"]),
        (lambda: MLP(3, 1)(torch.zeros(2, 3, dtype=torch.int)), ["int32", "floating point"]),
        (lambda: NetConfig(trunk=Fourier(fourier_dim=2, sigma=1)), ["trunk", "matched-mlp"]),
    ],
)
def test_bad_input_is_one_line_with_a_remedy(make, words):
    with pytest.raises((BadInputError, BadTypeError)) as caught:
        make()
    message = str(caught.value)
    assert "\n" not in message
    assert "; " in message, "the remedy follows a semicolon"
    assert all(word in message for word in words), message
