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


def test_without_example_registration_order_counts():
    net = insert_front(OutOfOrder(), FRONT)
    assert isinstance(net.out, nn.Sequential)


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
