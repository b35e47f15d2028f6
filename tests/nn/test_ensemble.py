import copy

import pytest
import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm

from lff import LFF, Ensemble, Fourier, LearnedFourierFeatures, MLPTrunk, NetConfig
from lff.core import BadInputError, BadTypeError
from lff.nn import Fourier2d, PixelEncoderConfig, SIRENTrunk
from lff.nn.ensemble import StackedByVmap
from tests.nn.architectures import fronts, trunks


def loop_and_ensemble(members):
    return [copy.deepcopy(member) for member in members], Ensemble(members)


def assert_equal_to_loop(members, x):
    """Forward, gradient of the input, and gradient of every parameter."""
    loop, ensemble = loop_and_ensemble(members)
    x_loop, x_batched = (x.clone().requires_grad_(requires_grad=True) for _ in "ab")
    expected = torch.stack([member(x_loop) for member in loop])
    actual = ensemble(x_batched)
    torch.testing.assert_close(actual, expected)
    weights = torch.randn_like(expected)
    (expected * weights).sum().backward()
    (actual * weights).sum().backward()
    torch.testing.assert_close(x_batched.grad, x_loop.grad)
    gradients = copy.deepcopy(ensemble)
    with torch.no_grad():
        for parameter, own in zip(gradients.parameters(), ensemble.parameters(), strict=True):
            parameter.copy_(own.grad)
    for i, member in enumerate(loop):
        batched = dict(gradients.member(i).named_parameters())
        for name, parameter in member.named_parameters():
            torch.testing.assert_close(batched[name].detach(), parameter.grad, msg=name)


@pytest.mark.parametrize("front", fronts(8), ids=repr)
@pytest.mark.parametrize("trunk", trunks(6, 4), ids=repr)
def test_equals_the_loop_for_every_front_and_trunk(front, trunk):
    members = [NetConfig(front, trunk).build(3, 2).double() for _ in range(3)]
    assert_equal_to_loop(members, torch.randn(5, 3, dtype=torch.double))


class OwnNetwork(nn.Module):
    """A container that the ensemble does not know: it must fall back to vmap."""

    def __init__(self):
        super().__init__()
        self.fourier = LearnedFourierFeatures(3, 8, sigma=0.1)
        self.body = nn.Sequential(nn.Linear(11, 6), nn.PReLU(), nn.Linear(6, 2))

    def forward(self, x):
        return self.body(self.fourier(x)) * x.sum(dim=-1, keepdim=True)


OTHERS = {
    "layer norm": lambda: nn.Sequential(
        nn.Linear(3, 6), nn.LayerNorm(6), nn.ReLU(), nn.Linear(6, 2)
    ),
    "no bias": lambda: nn.Sequential(nn.Linear(3, 6, bias=False), nn.ReLU(), nn.Linear(6, 2)),
    "own container": OwnNetwork,
    "own activation": lambda: nn.Sequential(nn.Linear(3, 6), nn.PReLU(), nn.Linear(6, 2)),
}


@pytest.mark.parametrize("make", OTHERS.values(), ids=OTHERS.keys())
def test_equals_the_loop_for_other_modules(make):
    members = [make().double() for _ in range(3)]
    for member in members:
        for parameter in member.parameters():
            nn.init.normal_(parameter)
    assert_equal_to_loop(members, torch.randn(5, 3, dtype=torch.double))


def tied():
    layer = nn.Linear(3, 3)
    return nn.Sequential(layer, nn.ReLU(), layer, nn.Linear(3, 2))


class OwnSequential(nn.Sequential):
    def forward(self, x):
        return super().forward(x) + x.mean(dim=1, keepdim=True)


TRICKY = {
    "tied": tied,
    "softmax over the features": lambda: nn.Sequential(nn.Linear(3, 2), nn.Softmax(dim=1)),
    "flatten": lambda: nn.Sequential(nn.Flatten(), nn.Linear(3, 2)),
    "own sequential": lambda: OwnSequential(nn.Linear(3, 2), nn.ReLU()),
    "no weights in front": lambda: nn.Sequential(nn.Hardtanh(), nn.Linear(3, 2)),
}


@pytest.mark.parametrize("make", TRICKY.values(), ids=TRICKY.keys())
def test_equals_the_loop_where_a_batch_axis_could_go_wrong(make):
    members = [make().double() for _ in range(3)]
    assert_equal_to_loop(members, torch.randn(5, 3, dtype=torch.double))


def test_evaluation_mode_is_kept():
    members = [nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1)) for _ in "ab"]
    for member in members:
        member(torch.randn(16, 3))
        member.eval()
    x = torch.randn(5, 3)
    expected = torch.stack([member(x) for member in members])
    torch.testing.assert_close(Ensemble(members)(x), expected)


class OwnCritic(nn.Module):
    """Somebody's critic: two inputs, joined inside."""

    def __init__(self):
        super().__init__()
        self.fourier = LearnedFourierFeatures(5, 8, sigma=0.1)
        self.out = nn.Linear(13, 1)

    def forward(self, obs, action):
        return self.out(self.fourier(torch.cat([obs, action], dim=-1)))


def test_own_critics_get_their_inputs_apart():
    members = [OwnCritic() for _ in range(2)]
    obs, action = torch.randn(7, 3), torch.randn(7, 2)
    expected = torch.stack([member(obs, action) for member in members])
    torch.testing.assert_close(Ensemble(members)(obs, action), expected)


def test_encoders_can_be_stacked():
    config = PixelEncoderConfig(front=Fourier2d(fourier_dim=8, sigma=0.1), num_filters=4)
    members = [config.build((9, 21, 21)) for _ in range(2)]
    images = torch.rand(3, 9, 21, 21)
    expected = torch.stack([member(images) for member in members])
    torch.testing.assert_close(Ensemble(members)(images), expected, rtol=1e-4, atol=1e-4)


def leaky(slope):
    return nn.Sequential(nn.Linear(3, 1), nn.LeakyReLU(slope))


def siren(omega):
    return NetConfig(trunk=SIRENTrunk((4,), first_omega=omega)).build(3, 1)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (LFF(3, 1, sigma=0.1), LFF(3, 1, sigma=0.2)),
        (LFF(3, 1, sigma=0.1), LFF(3, 1, sigma=0.1, trainable=False)),
        (leaky(0.1), leaky(0.9)),
        (siren(30.0), siren(5.0)),
        (nn.Sequential(nn.Linear(3, 1)), nn.Sequential(nn.Linear(3, 1), nn.ReLU())),
    ],
    ids=["sigma", "trainable", "slope", "omega", "depth"],
)
def test_members_that_differ_in_more_than_weights_are_refused(one, other):
    with pytest.raises(BadTypeError, match="build all members from one config"):
        Ensemble([one, other])


def test_members_follow_a_change_of_dtype():
    ensemble = Ensemble([OwnNetwork(), OwnNetwork()]).double()
    x = torch.randn(5, 3, dtype=torch.double)
    torch.testing.assert_close(ensemble.member(1)(x), ensemble(x)[1])


def test_spectral_norm_is_not_lost():
    members = [nn.Sequential(spectral_norm(nn.Linear(3, 3)), nn.Linear(3, 1)).eval() for _ in "ab"]
    loop, ensemble = loop_and_ensemble(members)
    x = torch.randn(5, 3)
    expected = torch.stack([member(x) for member in loop])
    torch.testing.assert_close(ensemble.eval()(x), expected)


@pytest.mark.parametrize("batch", [(), (4,), (2, 4), (0,)])
def test_any_leading_batch_shape_and_several_inputs(batch):
    config = NetConfig(Fourier(fourier_dim=8, sigma=0.1), MLPTrunk((6,)))
    critics = Ensemble.build(config, 2, in_features=5, out_features=1)
    obs, action = torch.randn(*batch, 3), torch.randn(*batch, 2)
    q = critics(obs, action)
    assert q.shape == (2, *batch, 1)
    for i in range(2):
        torch.testing.assert_close(q[i], critics.member(i)(obs, action))


def test_members_are_drawn_apart_and_the_draw_is_the_generators():
    config = NetConfig(Fourier(fourier_dim=8, sigma=0.1), MLPTrunk((6,)))
    one, other = (
        Ensemble.build(
            config, 2, in_features=3, out_features=1, generator=torch.Generator().manual_seed(0)
        )
        for _ in "ab"
    )
    B = one.stacked.front.B
    assert B.shape == (2, 4, 3)
    assert not torch.equal(B[0], B[1])
    assert torch.equal(B, other.stacked.front.B)


def test_frozen_basis_stays_a_buffer():
    config = NetConfig(Fourier(fourier_dim=8, sigma=0.1, trainable=False), MLPTrunk((6,)))
    critics = Ensemble.build(config, 2, in_features=3, out_features=1)
    assert not any(name.endswith("B") for name, _ in critics.named_parameters())
    assert "stacked.front.B" in critics.state_dict()
    member = critics.member(1)
    assert not isinstance(member.front.B, nn.Parameter)
    assert torch.equal(member.front.B, critics.stacked.front.B[1])


def test_training_all_members_equals_training_each():
    config = NetConfig(Fourier(fourier_dim=8, sigma=0.1), MLPTrunk((6,)))
    members = [config.build(3, 1).double() for _ in range(3)]
    loop, ensemble = loop_and_ensemble(members)
    x, y = torch.randn(5, 3).double(), torch.randn(5, 1).double()
    together = torch.optim.Adam(ensemble.parameters(), lr=0.01)
    apart = [torch.optim.Adam(member.parameters(), lr=0.01) for member in loop]
    for _ in range(10):
        together.zero_grad()
        (ensemble(x) - y).square().mean(dim=(1, 2)).sum().backward()
        together.step()
        for member, optimizer in zip(loop, apart, strict=True):
            optimizer.zero_grad()
            (member(x) - y).square().mean().backward()
            optimizer.step()
    torch.testing.assert_close(ensemble(x), torch.stack([member(x) for member in loop]))


def test_reset_parameters_draws_every_member_on_its_own():
    config = NetConfig(Fourier(fourier_dim=8, sigma=0.1), MLPTrunk((6,)))
    layer = Ensemble.build(config, 2, in_features=3, out_features=1).stacked.front
    layer.reset_parameters(torch.Generator().manual_seed(0))
    assert not torch.equal(layer.B[0], layer.B[1])
    assert layer.B.abs().max() < 1


def test_members_keep_whether_they_are_trained():
    critics = Ensemble([LFF(3, 1, sigma=0.1), LFF(3, 1, sigma=0.1)])
    assert all(p.requires_grad for p in critics.member(0).parameters())
    critics.requires_grad_(requires_grad=False)
    assert not any(p.requires_grad for p in critics.member(0).parameters())


def test_state_dict_round_trip_and_copy():
    one, other = (Ensemble([LFF(3, 1, sigma=0.1), LFF(3, 1, sigma=0.1)]) for _ in "ab")
    other.load_state_dict(one.state_dict())
    x = torch.randn(5, 3)
    assert torch.equal(one(x), other(x))
    assert torch.equal(copy.deepcopy(one)(x), one(x))


def test_vmap_part_survives_copy_and_state_dict():
    one, other = (Ensemble([OwnNetwork(), OwnNetwork()]) for _ in "ab")
    assert isinstance(one.stacked, StackedByVmap)
    other.load_state_dict(one.state_dict())
    x = torch.randn(5, 3)
    assert torch.equal(one(x), other(x))
    assert torch.equal(copy.deepcopy(one)(x), one(x))


def test_is_one_graph_for_the_compiler(unchecked):
    critics = Ensemble([LFF(3, 1, sigma=0.1), LFF(3, 1, sigma=0.1)])
    compiled = torch.compile(critics, fullgraph=True, backend="aot_eager")
    x = torch.randn(5, 3)
    torch.testing.assert_close(compiled(x), critics(x))


def test_print_shows_members_and_sigma():
    text = repr(Ensemble([LFF(3, 1, sigma=0.1), LFF(3, 1, sigma=0.1)]))
    assert "members=2" in text
    assert "sigma=0.1" in text


@pytest.mark.usefixtures("unchecked")
def test_bad_input():
    with pytest.raises(BadInputError, match="one network or more"):
        Ensemble([])
    with pytest.raises(BadTypeError, match="build all members from one config"):
        Ensemble([LFF(3, 1), LFF(4, 1)])
    config = NetConfig()
    with pytest.raises(BadInputError, match="size must be a positive integer"):
        Ensemble.build(config, 0, in_features=3, out_features=1)
    critics = Ensemble.build(config, 2, in_features=3, out_features=1)
    with pytest.raises(BadInputError, match="from 0 to 1"):
        critics.member(2)
    with pytest.raises(BadInputError, match="3 wide"):
        critics(torch.zeros(2, 4))
