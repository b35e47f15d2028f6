import math

import pytest
import torch
from torch import nn

import lff
from lff.core.errors import BadInputError
from lff.nn import FFN as FFNFront
from lff.nn import (
    ConcatMLPTrunk,
    DeepFourierTrunk,
    Fourier,
    LinearControl,
    LogUniformFourier,
    MLPTrunk,
    NetConfig,
    SIRENTrunk,
)
from lff.ntk import empirical_ntk, ntk_vector_product

FRONTS = [
    Fourier(fourier_dim=8, sigma=0.3),
    Fourier(fourier_dim=8, sigma=0.3, trainable=False, concat_input=False),
    LinearControl(fourier_dim=8, sigma=0.3),
    LogUniformFourier(fourier_dim=12),
    FFNFront(),
]
TRUNKS = [MLPTrunk((9, 7)), ConcatMLPTrunk((9, 7)), SIRENTrunk((9,)), DeepFourierTrunk((8,))]


def loop(net, x1, x2):
    """One gradient at a time, split by whether the parameter is called B."""

    def rows(x):
        out = []
        for point in x:
            value = net(point[None])[0]
            per_output = []
            for k in range(len(value)):
                grads = torch.autograd.grad(value[k], [*net.parameters()], retain_graph=True)
                named = dict(zip(dict(net.named_parameters()), grads, strict=True))
                per_output.append(
                    [
                        torch.cat([g.flatten() for n, g in named.items() if n.endswith(".B") == b])
                        if any(n.endswith(".B") == b for n in named)
                        else torch.zeros(1, dtype=x.dtype)
                        for b in (True, False)
                    ]
                )
            out.append(per_output)
        return out

    one, two = rows(x1), rows(x2)
    outputs = len(one[0])
    return [
        torch.stack(
            [
                torch.stack([sum(a[k][g] @ b[k][g] for k in range(outputs)) / outputs for b in two])
                for a in one
            ]
        )
        for g in (0, 1)
    ]


@pytest.mark.parametrize("front", FRONTS, ids=lambda f: type(f).__name__)
@pytest.mark.parametrize("trunk", TRUNKS, ids=lambda t: type(t).__name__)
def test_both_ways_equal_a_loop_over_gradients(front, trunk):
    net = NetConfig(front, trunk).build(3, 2, generator=torch.Generator().manual_seed(0)).double()
    x1, x2 = torch.randn(5, 3, dtype=torch.float64), torch.randn(4, 3, dtype=torch.float64)
    basis, rest = loop(net, x1, x2)
    for structured in (None, False):
        found = empirical_ntk(net, x1, x2, structured=structured)
        torch.testing.assert_close(found.basis, basis, atol=1e-10, rtol=1e-10)
        torch.testing.assert_close(found.rest, rest, atol=1e-10, rtol=1e-10)
    if not isinstance(front, FFNFront):
        empirical_ntk(net, x1, structured=True)  # these go the fast way


def test_blocks_give_the_same_kernel():
    net = lff.LFF(3, 1, hidden_dim=8, fourier_dim=8, sigma=0.2).double()
    x = torch.randn(13, 3, dtype=torch.float64)
    whole = empirical_ntk(net, x).ntk
    for structured in (True, False):
        small = empirical_ntk(net, x, max_bytes=4000, structured=structured).ntk
        torch.testing.assert_close(small, whole, atol=1e-12, rtol=1e-12)


@pytest.mark.parametrize("outputs", [1, 3])
def test_vector_products_need_no_kernel(outputs):
    net = lff.LFF(3, outputs, hidden_dim=8, fourier_dim=8, sigma=0.2).double()
    x, v = torch.randn(9, 3, dtype=torch.float64), torch.randn(9, dtype=torch.float64)
    torch.testing.assert_close(ntk_vector_product(net, x, v), empirical_ntk(net, x).ntk @ v)


def test_what_does_not_fit_the_identity_goes_by_jacobians():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 3)
            self.out = nn.Linear(3, 1)

        def forward(self, x):
            return self.out(self.layer(self.layer(x).relu()).relu())

    for net in (
        Twice().double(),
        nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.ReLU(), nn.Linear(4, 1)).double(),
    ):
        x = torch.randn(6, 3, dtype=torch.float64)
        _, rest = loop(net, x, x)
        torch.testing.assert_close(empirical_ntk(net, x).ntk, rest, atol=1e-10, rtol=1e-10)
        with pytest.raises(BadInputError, match="Linear and B alone"):
            empirical_ntk(net, x, structured=True)


def test_dropout_is_off_and_modes_come_back():
    net = nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.5), nn.Linear(8, 1))
    x = torch.randn(5, 3)
    assert torch.equal(empirical_ntk(net, x).ntk, empirical_ntk(net, x).ntk)
    assert net.training
    assert net[1].training


def test_frozen_parameters_are_left_out_unless_all_are():
    net = lff.LFF(3, 1, hidden_dim=8, fourier_dim=8, sigma=0.2).double()
    x = torch.randn(5, 3, dtype=torch.float64)
    whole = empirical_ntk(net, x)
    net.front.B.requires_grad_(False)
    part = empirical_ntk(net, x)
    assert part.basis.abs().max() == 0
    torch.testing.assert_close(part.rest, whole.rest)
    net.requires_grad_(False)
    torch.testing.assert_close(empirical_ntk(net, x).basis, whole.basis)


def test_bad_modules_and_vectors():
    x = torch.randn(4, 3)
    with pytest.raises(BadInputError, match="with parameters"):
        empirical_ntk(nn.ReLU(), x)
    with pytest.raises(BadInputError, match="finite"):
        empirical_ntk(nn.Linear(3, 1), torch.full((2, 3), math.inf))
    with pytest.raises(BadInputError, match="of 4 numbers"):
        ntk_vector_product(nn.Linear(3, 1), x, torch.zeros(3))
