import copy
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest
from torch import nn
from torch.func import functional_call, grad, jacrev, jvp, vmap

from lff import LearnedFourierFeatures, LearnedFourierFeatures2d
from lff.core import BadInputError, BadTypeError
from lff.nn import LogUniformFourier, orthogonal_


def test_closed_form_and_order():
    layer = LearnedFourierFeatures(2, 4, sigma=1.0)
    with torch.no_grad():
        layer.B.copy_(torch.tensor([[0.25, 0.0], [0.0, 0.5]]))
    x = torch.tensor([[1.0, 0.5]])
    # 2πBx = (π/2, π/2): sines 1, cosines 0, then x
    torch.testing.assert_close(layer(x), torch.tensor([[1.0, 1.0, 0.0, 0.0, 1.0, 0.5]]))


def test_matches_the_written_equation(rng):
    layer = LearnedFourierFeatures(5, 16, sigma=0.3, generator=rng)
    x = torch.randn(7, 5, generator=rng)
    phase = 2 * math.pi * x @ layer.B.T
    expected = torch.cat([phase.sin(), phase.cos(), x], dim=-1)
    torch.testing.assert_close(layer(x), expected)
    torch.testing.assert_close(layer.phase(x), phase)


@pytest.mark.parametrize("shape", [(), (1,), (4,), (3, 4), (2, 3, 4), (0,)])
def test_any_leading_batch_shape(shape):
    layer = LearnedFourierFeatures(3, 8, sigma=0.1)
    x = torch.randn(*shape, 3)
    assert layer(x).shape == (*shape, 11)
    torch.testing.assert_close(layer(x).reshape(-1, 11), layer(x.reshape(-1, 3)))


def test_shapes_and_attributes():
    layer = LearnedFourierFeatures(3, 8, sigma=0.1)
    assert layer.B.shape == (4, 3)
    assert layer.out_features == 11
    assert LearnedFourierFeatures(3, 8, sigma=0.1, concat_input=False).out_features == 8
    assert repr(layer) == (
        "LearnedFourierFeatures(in=3, F=8, sigma=0.1, trainable=True, concat_input=True)"
    )


@pytest.mark.parametrize("sigma", [1e-3, 0.1, 3.0])
def test_basis_follows_the_normal_law(sigma, rng):
    B = LearnedFourierFeatures(50, 400, sigma=sigma, generator=rng).B
    assert kstest(B.detach().flatten().numpy() / sigma, "norm").pvalue > 0.01


def test_same_generator_state_same_basis_and_global_rng_untouched():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    one, other = (
        LearnedFourierFeatures(3, 8, sigma=1.0, generator=torch.Generator().manual_seed(1))
        for _ in range(2)
    )
    torch.testing.assert_close(one.B, other.B, rtol=0, atol=0)
    assert torch.equal(torch.get_rng_state(), before)


LAYERS = [
    pytest.param(LearnedFourierFeatures, (4, 3), id="dense"),
    pytest.param(LearnedFourierFeatures2d, (2, 3, 4, 4), id="2d"),
]


@pytest.mark.parametrize(("kind", "shape"), LAYERS)
def test_frozen_basis_is_a_buffer_without_gradient(kind, shape):
    layer = kind(3, 8, sigma=0.1, trainable=False)
    assert not list(layer.parameters())
    assert "B" in layer.state_dict()
    x = torch.randn(*shape, requires_grad=True)
    layer(x).sum().backward()
    assert layer.B.grad is None
    assert x.grad is not None


@pytest.mark.parametrize(("kind", "shape"), LAYERS)
def test_trained_basis_gets_the_gradient_of_the_equation(kind, shape):
    layer = kind(3, 8, sigma=0.1).double()
    x = torch.randn(*shape, dtype=torch.double)
    layer(x).sum().backward()
    points = x.movedim(1, -1).reshape(-1, 3) if len(shape) == 4 else x
    phase = 2 * math.pi * points @ layer.B.detach().T
    expected = 2 * math.pi * (phase.cos() - phase.sin()).T @ points
    torch.testing.assert_close(layer.B.grad, expected)


@pytest.mark.parametrize(("kind", "shape"), LAYERS)
@pytest.mark.parametrize("concat_input", [True, False])
def test_first_and_second_derivatives(kind, shape, concat_input):
    layer = kind(3, 4, sigma=0.3, concat_input=concat_input).double()
    x = torch.randn(*shape, dtype=torch.double, requires_grad=True)

    def forward(x, B):
        return functional_call(layer, {"B": B}, (x,))

    assert torch.autograd.gradcheck(forward, (x, layer.B))
    assert torch.autograd.gradgradcheck(forward, (x, layer.B))


@pytest.mark.parametrize(("kind", "shape"), LAYERS)
def test_works_under_torch_func(kind, shape):
    layer = kind(3, 4, sigma=0.3).double()
    x = torch.randn(*shape, dtype=torch.double)
    state = {"B": layer.B.detach()}

    def one(state, x):
        return functional_call(layer, state, (x,))

    torch.testing.assert_close(vmap(one, (None, 0))(state, x), layer(x).detach())
    gradient = grad(lambda s: one(s, x).square().sum())(state)["B"]
    layer(x).square().sum().backward()
    torch.testing.assert_close(gradient, layer.B.grad)
    jacobian = jacrev(one)(state, x)["B"]
    tangent = torch.randn_like(state["B"])
    _, forward_mode = jvp(lambda s: one(s, x), (state,), ({"B": tangent},))
    torch.testing.assert_close(torch.einsum("...ij,ij->...", jacobian, tangent), forward_mode)


@pytest.mark.parametrize(("kind", "shape"), LAYERS)
def test_is_one_graph_for_the_compiler(kind, shape, unchecked):
    layer = kind(3, 8, sigma=0.1)
    x = torch.randn(*shape)
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x), layer(x))


@pytest.mark.parametrize(("kind", "shape"), LAYERS)
def test_no_host_initialisation_touches_sigma(kind, shape):
    host = nn.Sequential(kind(3, 8, sigma=0.1), nn.Linear(4, 4), nn.Conv2d(11, 2, 1))
    before = host[0].B.detach().clone()

    def layer_init(module):
        if isinstance(module, nn.Linear | nn.Conv2d):
            nn.init.orthogonal_(module.weight)

    host.apply(layer_init)
    orthogonal_(host)
    assert torch.equal(host[0].B, before)
    assert not any(isinstance(m, nn.Linear | nn.Conv2d) for m in host[0].modules())


@pytest.mark.parametrize("trainable", [True, False])
def test_copies_and_state_dicts(trainable):
    layer = LearnedFourierFeatures(3, 8, sigma=0.1, trainable=trainable)
    again = LearnedFourierFeatures(3, 8, sigma=0.1, trainable=trainable)
    again.load_state_dict(layer.state_dict())
    x = torch.randn(4, 3)
    assert torch.equal(again(x), layer(x))
    layer(x)
    assert torch.equal(copy.deepcopy(layer)(x), layer(x))


def test_reset_parameters_draws_anew_from_the_same_law():
    layer = LearnedFourierFeatures(50, 400, sigma=0.1)
    before = layer.B.detach().clone()
    layer.reset_parameters(torch.Generator().manual_seed(3))
    assert not torch.equal(layer.B, before)
    assert layer.B.std().item() == pytest.approx(0.1, rel=0.05)


def test_2d_is_the_dense_layer_at_every_pixel(rng):
    image_layer = LearnedFourierFeatures2d(9, 8, sigma=0.2, generator=rng)
    dense = LearnedFourierFeatures(9, 8, sigma=0.2)
    dense.load_state_dict(image_layer.state_dict())
    x = torch.randn(2, 5, 9, 4, 3, generator=rng)
    expected = dense(x.movedim(-3, -1)).movedim(-1, -3)
    torch.testing.assert_close(image_layer(x), expected)


def test_per_frame_applies_one_basis_to_each_frame(rng):
    layer = LearnedFourierFeatures2d(9, 8, sigma=0.2, per_frame=True, generator=rng)
    assert layer.B.shape == (4, 3)
    assert layer.out_channels == 3 * 8 + 9
    x = torch.randn(2, 9, 4, 4, generator=rng)
    phases = [
        2 * math.pi * torch.einsum("fc,nchw->nfhw", layer.B, frame) for frame in x.chunk(3, dim=1)
    ]
    expected = torch.cat([*(p.sin() for p in phases), *(p.cos() for p in phases), x], dim=1)
    torch.testing.assert_close(layer(x), expected)


def test_log_uniform_basis_is_written_out():
    layer = LogUniformFourier(fourier_dim=12, ratio=0.5).build(2)
    eye = torch.eye(2)
    torch.testing.assert_close(layer.B.detach(), torch.cat([eye, eye / 2, eye / 4]))
    assert layer.fourier_dim == 12
    assert layer.initial_spread == pytest.approx(layer.B.square().mean().sqrt().item())


@pytest.mark.parametrize(("asked", "real"), [(64, 60), (6, 6), (2, 6), (1024, 1020)])
def test_log_uniform_takes_whole_octaves(asked, real):
    layer = LogUniformFourier(fourier_dim=asked).build(3)
    assert layer.fourier_dim == real
    assert f"F={real}" in repr(layer)
    assert layer(torch.zeros(1, 3)).shape == (1, real + 3)


def test_log_uniform_closed_form():
    layer = LogUniformFourier(fourier_dim=4, ratio=0.5).build(1)
    x = torch.tensor([[0.5]])
    # phases π and π/2
    torch.testing.assert_close(
        layer(x), torch.tensor([[0.0, 1.0, -1.0, 0.0, 0.5]]), atol=1e-6, rtol=0
    )


@pytest.mark.usefixtures("unchecked")
@settings(deadline=None)
@given(
    st.one_of(
        st.integers(max_value=0),
        st.integers().filter(lambda n: n % 2),
        st.floats(),
        st.text(),
        st.none(),
        st.booleans(),
    ),
    st.sampled_from(
        [
            lambda value: LearnedFourierFeatures(3, value, sigma=0.1),
            lambda value: LearnedFourierFeatures2d(3, value, sigma=0.1),
            lambda value: LogUniformFourier(fourier_dim=value),
        ]
    ),
)
def test_bad_fourier_dim(value, make):
    with pytest.raises(BadInputError, match="fourier_dim must be") as caught:
        make(value)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("unchecked")
@settings(deadline=None)
@given(
    st.one_of(
        st.floats(max_value=-1e-300, allow_nan=False),
        st.sampled_from([math.nan, math.inf, -math.inf, "0.1", None, True, [0.1]]),
    )
)
def test_bad_sigma(value):
    with pytest.raises(BadInputError, match="sigma must be a finite number") as caught:
        LearnedFourierFeatures(3, 8, sigma=value)
    assert "\n" not in str(caught.value)


def test_sigma_zero_is_allowed_and_learns():
    layer = LearnedFourierFeatures(3, 8, sigma=0.0)
    x = torch.randn(4, 3)
    expected = torch.cat([torch.zeros(4, 4), torch.ones(4, 4), x], dim=-1)
    torch.testing.assert_close(layer(x), expected)
    layer(x).sum().backward()
    assert layer.B.grad.abs().sum() > 0


@pytest.mark.parametrize(
    ("kind", "x", "error", "words"),
    [
        (
            LearnedFourierFeatures,
            torch.zeros(4, 5),
            BadInputError,
            ["(4, 5)", "3 wide", "in_features=5"],
        ),
        (LearnedFourierFeatures, torch.tensor(1.0), BadInputError, ["()", "3 wide"]),
        (
            LearnedFourierFeatures,
            torch.zeros(4, 3, dtype=torch.long),
            BadTypeError,
            ["int64", "float()"],
        ),
        (
            LearnedFourierFeatures2d,
            torch.zeros(4, 5, 8, 8),
            BadInputError,
            ["3 wide", "in_channels=5"],
        ),
        (LearnedFourierFeatures2d, torch.zeros(4, 3), BadInputError, ["(4, 3)"]),
        (
            LearnedFourierFeatures2d,
            torch.zeros(1, 3, 2, 2, dtype=torch.uint8),
            BadTypeError,
            ["/ 255"],
        ),
    ],
)
def test_bad_input_is_one_line_with_a_remedy(kind, x, error, words, unchecked):
    with pytest.raises(error) as caught:
        kind(3, 8, sigma=0.1)(x)
    message = str(caught.value)
    assert "\n" not in message
    assert all(word in message for word in words), message


@pytest.mark.parametrize("per_frame", [False, True])
def test_an_empty_batch_of_images(per_frame):
    layer = LearnedFourierFeatures2d(9, 8, sigma=0.1, per_frame=per_frame)
    assert layer(torch.zeros(0, 9, 4, 4)).shape == (0, layer.out_channels, 4, 4)


@pytest.mark.parametrize(("kind", "shape"), LAYERS)
def test_phases_keep_full_precision_under_autocast(kind, shape):
    layer = kind(3, 8, sigma=1.0)
    x = 10 * torch.randn(*shape)
    expected = layer(x)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(layer(x), expected)


def test_something_that_is_no_tensor(unchecked):
    with pytest.raises(BadTypeError, match="a tensor"):
        LearnedFourierFeatures(3, 8, sigma=0.1)([1.0, 2.0, 3.0])


def test_channels_must_divide_into_frames():
    with pytest.raises(BadInputError, match="multiple of frame_channels=3"):
        LearnedFourierFeatures2d(8, 16, sigma=0.1, per_frame=True)


def test_a_string_is_no_flag(unchecked):
    with pytest.raises(BadTypeError, match="trainable must be True or False"):
        LearnedFourierFeatures(3, 8, sigma=0.1, trainable="no")
