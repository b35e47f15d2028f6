import math

import pytest
import torch

from lff import Fourier, LearnedFourierFeatures
from lff.core import BadInputError
from lff.nn import FFN, ConstantControl, LinearControl, TanhControl


def test_linear_features_written_out(rng):
    layer = LinearControl(fourier_dim=8, sigma=0.5).build(3, generator=rng)
    x = torch.randn(5, 3, generator=rng)
    expected = torch.cat([2 * math.pi * x @ layer.B.T, torch.ones(5, 4), x], dim=-1)
    torch.testing.assert_close(layer(x), expected)


def test_constant_features_written_out():
    x = torch.randn(5, 3)
    torch.testing.assert_close(
        ConstantControl(fourier_dim=8).build(3)(x), torch.cat([torch.ones(5, 4), x], dim=-1)
    )


def test_tanh_features_written_out(rng):
    layer = TanhControl(fourier_dim=8, sigma=0.5).build(3, generator=rng)
    x = torch.randn(5, 3, generator=rng)
    expected = torch.cat([(2 * math.pi * x @ layer.B.T).tanh(), x], dim=-1)
    assert layer.B.shape == (8, 3)
    torch.testing.assert_close(layer(x), expected)


def test_the_linear_control_is_the_small_sigma_limit_of_the_layer(rng):
    """|sin p - p| <= |p|³/6 and |cos p - 1| <= p²/2, entry by entry."""
    x = torch.randn(64, 5, generator=rng, dtype=torch.double)
    for sigma in (1e-1, 1e-2, 1e-3):
        real = LearnedFourierFeatures(5, 32, sigma=sigma).double()
        control = LinearControl(fourier_dim=32, sigma=sigma).build(5).double()
        control.load_state_dict(real.state_dict())
        phase = real.phase(x)
        difference = (real(x) - control(x)).abs()
        assert (difference[:, :16] <= phase.abs() ** 3 / 6 + 1e-15).all()
        assert (difference[:, 16:32] <= phase**2 / 2 + 1e-15).all()
        assert not difference[:, 32:].any()


def test_same_generator_gives_layer_and_control_the_same_basis():
    real, control = (
        kind(fourier_dim=32, sigma=0.1).build(5, generator=torch.Generator().manual_seed(2))
        for kind in (Fourier, LinearControl)
    )
    assert torch.equal(real.B, control.B)


def test_rival_front_written_out(rng):
    layer = FFN(scale=0.3).build(3, generator=rng)
    assert layer.out_features == 120
    x = torch.randn(5, 3, generator=rng)
    expected = torch.sin(math.pi * (x @ layer.B.T + layer.bias))
    torch.testing.assert_close(layer(x), expected)


def test_rival_front_can_be_drawn_anew():
    layer = FFN(scale=0.3).build(3)
    before = layer.bias.detach().clone()
    layer.reset_parameters(torch.Generator().manual_seed(0))
    assert not torch.equal(layer.bias, before)


def test_rival_front_has_the_published_law(rng):
    layer = FFN(features=4000, scale=0.3).build(10, generator=rng)
    assert layer.B.std().item() == pytest.approx(0.03, rel=0.02)
    assert layer.bias.min().item() == pytest.approx(-1, abs=0.01)
    assert layer.bias.max().item() == pytest.approx(1, abs=0.01)


@pytest.mark.usefixtures("unchecked")
def test_controls_refuse_what_the_layer_refuses():
    for kind in (LinearControl, Fourier):
        with pytest.raises(BadInputError, match="fourier_dim"):
            kind(fourier_dim=7, sigma=0.1)
        with pytest.raises(BadInputError, match="sigma"):
            kind(fourier_dim=8, sigma=-1)
    with pytest.raises(BadInputError, match="fourier_dim"):
        ConstantControl(fourier_dim=7)
    with pytest.raises(BadInputError, match="3 wide"):
        ConstantControl(fourier_dim=8).build(3)(torch.zeros(2, 4))
    with pytest.raises(BadInputError, match="scale"):
        FFN(scale=math.nan)
