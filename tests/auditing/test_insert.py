import pytest
import torch
from torch import nn

from lff import LearnedFourierFeatures, LearnedFourierFeatures2d, insert_front
from lff.core import BadInputError, BadTypeError
from lff.nn import Conv1x1, Fourier, Fourier2d, LinearControl

FRONT = Fourier(fourier_dim=8, sigma=0.1)


class OutOfOrder(nn.Module):
    """Registers its layers in another order than it calls them."""

    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 1)
        self.first = nn.Linear(3, 4)

    def forward(self, obs, action):
        return self.out(self.first(torch.cat([obs, action], dim=-1)).relu())


def test_front_stands_before_the_first_linear():
    net = nn.Sequential(nn.Flatten(), nn.Sequential(nn.Linear(3, 5), nn.ReLU()), nn.Linear(5, 2))
    same = insert_front(net, FRONT)
    assert same is net
    front, wide = net[1][0]
    assert isinstance(front, LearnedFourierFeatures)
    assert (wide.in_features, wide.out_features) == (11, 5)
    x = torch.randn(4, 3)
    torch.testing.assert_close(net(x), net[2](torch.relu(wide(front(x)))))


def test_example_finds_the_layer_that_is_called_first():
    net = OutOfOrder()
    insert_front(net, FRONT, example=(torch.zeros(2, 1), torch.zeros(2, 2)))
    assert isinstance(net.first[0], LearnedFourierFeatures)
    assert isinstance(net.out, nn.Linear)
    assert net(torch.randn(5, 1), torch.randn(5, 2)).shape == (5, 1)


def test_without_example_the_network_is_run_on_inputs_of_its_widths():
    net = insert_front(OutOfOrder(), FRONT)
    assert isinstance(net.first[0], LearnedFourierFeatures)
    assert isinstance(net.out, nn.Linear)


class NeedsANumber(OutOfOrder):
    """Cannot be run on tensors alone."""

    def forward(self, obs, *, scale):
        return self.out(self.first(obs * scale))


def test_of_a_network_that_cannot_be_run_the_first_registered_layer_counts():
    net = insert_front(NeedsANumber(), FRONT)
    assert isinstance(net.out[0], LearnedFourierFeatures)
    with pytest.raises(BadInputError, match=r"must be without a Fourier front .* got 'out.1'"):
        insert_front(net, FRONT)
    named = insert_front(NeedsANumber(), FRONT, layer="first")
    assert isinstance(named.first[0], LearnedFourierFeatures)


class Branches(nn.Module):
    """A critic with one layer for the observation and one for the action."""

    def __init__(self):
        super().__init__()
        self.obs, self.action, self.out = nn.Linear(17, 8), nn.Linear(6, 8), nn.Linear(16, 1)

    def forward(self, obs, action):
        hidden = torch.cat([self.obs(obs), self.action(action)], dim=-1)
        return self.out(hidden.relu())


class Twins(nn.Module):
    """Two critics in one module."""

    def __init__(self):
        super().__init__()
        self.q1, self.q2 = OutOfOrder(), OutOfOrder()

    def forward(self, obs, action):
        return self.q1(obs, action), self.q2(obs, action)


@pytest.mark.parametrize(
    ("kind", "names"), [(Branches, "'obs', 'action'"), (Twins, "'q1.first', 'q2.first'")]
)
def test_several_input_layers_are_refused(kind, names):
    net = kind()
    before = repr(net)
    with pytest.raises(BadInputError) as raised:
        insert_front(net, FRONT)
    first = names.partition(",")[0]
    assert str(raised.value) == (
        f"the input layers of the network must be a single one, got [{names}]; "
        f"name one, layer={first}, or join the inputs before one layer"
    )
    assert repr(net) == before


def test_layers_are_named():
    net = Twins()
    for name in ("q1.first", "q2.first"):
        insert_front(net, FRONT, layer=name)
    assert isinstance(net.q1.first[0], LearnedFourierFeatures)
    assert isinstance(net.q2.first[0], LearnedFourierFeatures)
    q1, q2 = net(torch.randn(5, 1), torch.randn(5, 2))
    assert q1.shape == q2.shape == (5, 1)
    with pytest.raises(BadInputError, match=r"layer must be a Linear .* got 'q1.frist'; did you"):
        insert_front(Twins(), FRONT, layer="q1.frist")


class ByHand(nn.Module):
    """The three lines of the README."""

    def __init__(self):
        super().__init__()
        self.fourier = LearnedFourierFeatures(3, 8, sigma=0.1, trainable=False)
        self.fc1, self.fc2 = nn.Linear(11, 4), nn.Linear(4, 1)

    def forward(self, obs, action):
        return self.fc2(self.fc1(self.fourier(torch.cat([obs, action], dim=-1))).relu())


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: insert_front(nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1)), FRONT), "0.1"),
        (lambda: insert_front(OutOfOrder(), FRONT), "first.1"),
        (ByHand, "fc1"),
    ],
)
def test_a_second_front_on_the_same_input_is_refused(make, name):
    for layer in (None, name):
        with pytest.raises(BadInputError) as raised:
            insert_front(make(), FRONT, layer=layer)
        assert str(raised.value) == (
            f"the layer must be without a Fourier front before it, got {name!r}; "
            "leave the first as it is, or build the network anew"
        )


def test_looking_draws_no_random_numbers():
    class Noisy(OutOfOrder):
        def forward(self, obs, action):
            return super().forward(obs + torch.randn_like(obs), action)

    generator = torch.Generator().manual_seed(0)
    net, before = Noisy(), torch.get_rng_state()
    wide = insert_front(net, FRONT, generator=generator).first[1]
    after = torch.get_rng_state()
    torch.set_rng_state(before)
    nn.Linear(wide.in_features, wide.out_features)  # torch draws for it before we draw it anew
    assert torch.equal(torch.get_rng_state(), after)


def test_hooks_are_gone_afterwards():
    net = nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 1))
    insert_front(net, FRONT, example=torch.zeros(1, 3))
    assert not net[1]._forward_pre_hooks


def test_a_lone_layer_becomes_a_sequence():
    lone = nn.Linear(3, 2, bias=False).double()
    net = insert_front(lone, LinearControl(fourier_dim=8, sigma=1.0))
    assert net(torch.randn(4, 3, dtype=torch.double)).shape == (4, 2)
    assert net[1].bias is None


def test_convolution_keeps_its_geometry():
    old = nn.Conv2d(9, 4, (3, 5), stride=2, padding=(1, 2), dilation=1, padding_mode="reflect")
    net = insert_front(nn.Sequential(old, nn.ReLU()), Fourier2d(fourier_dim=16, sigma=0.1))
    front, wide = net[0]
    assert isinstance(front, LearnedFourierFeatures2d)
    assert wide.in_channels == 25
    for name in ("kernel_size", "stride", "padding", "dilation", "padding_mode", "out_channels"):
        assert getattr(wide, name) == getattr(old, name)
    x = torch.randn(2, 9, 12, 12)
    assert net(x).shape == old(x).shape


def test_every_parameter_learns():
    net = insert_front(nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 1)), FRONT)
    net(torch.randn(16, 3)).sum().backward()
    assert net[0][0].B.grad.abs().sum() > 0
    assert all(p.grad is not None for p in net.parameters())


@pytest.mark.parametrize(
    ("make", "front"),
    [
        (lambda: nn.Linear(3, 4), FRONT),
        (lambda: nn.Conv2d(3, 4, 3), Fourier2d(fourier_dim=8, sigma=0.1)),
    ],
)
def test_the_generator_draws_everything(make, front):
    one, other = (
        insert_front(make(), front, generator=torch.Generator().manual_seed(1)) for _ in "ab"
    )
    for a, b in zip(one.parameters(), other.parameters(), strict=True):
        assert torch.equal(a, b)


def test_a_tied_layer_is_replaced_in_every_place():
    net = nn.Module()
    net.encoder = net.alias = nn.Linear(3, 5)
    insert_front(net, FRONT)
    assert net.encoder is net.alias
    assert isinstance(net.alias, nn.Sequential)


def test_looking_moves_no_statistics_and_keeps_the_mode():
    net = nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 5), nn.Dropout())
    net[2].eval()
    insert_front(net, FRONT, example=torch.randn(16, 3) + 5)
    assert net[0].num_batches_tracked == 0
    assert (net[0].training, net[2].training) == (True, False)


def test_frozen_stays_frozen():
    net = nn.Sequential(nn.Linear(3, 5), nn.ReLU())
    net.requires_grad_(requires_grad=False)
    insert_front(net, FRONT)
    assert not net[0][1].weight.requires_grad
    assert net[0][0].B.requires_grad


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("module", "front", "error", "words"),
    [
        (nn.ReLU(), FRONT, BadInputError, "with a Linear or Conv2d"),
        (nn.Conv2d(3, 4, 3), FRONT, BadTypeError, "a pixel front"),
        (nn.Linear(3, 4), Conv1x1(channels=4), BadTypeError, "a dense front"),
        (
            nn.Conv2d(4, 4, 3, groups=2),
            Fourier2d(fourier_dim=8, sigma=1.0),
            BadInputError,
            "groups",
        ),
    ],
)
def test_bad_input(module, front, error, words):
    with pytest.raises(error, match=words):
        insert_front(module, front)
