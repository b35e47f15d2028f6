import math

import pytest
import torch

from lff import LearnedFourierFeatures
from lff.core import BadInputError
from lff.nn import ConstantFeatures, FFNFeatures, LinearFeatures


def test_linear_features_written_out(rng):
    layer = LinearFeatures(3, 8, sigma=0.5, generator=rng)
    x = torch.randn(5, 3, generator=rng)
    expected = torch.cat([2 * math.pi * x @ layer.B.T, torch.ones(5, 4), x], dim=-1)
    torch.testing.assert_close(layer(x), expected)


def test_constant_features_written_out():
    x = torch.randn(5, 3)
    torch.testing.assert_close(ConstantFeatures(3, 8)(x), torch.cat([torch.ones(5, 4), x], dim=-1))


def test_the_linear_control_is_the_small_sigma_limit_of_the_layer(rng):
    """|sin p - p| <= |p|³/6 and |cos p - 1| <= p²/2, entry by entry."""
    x = torch.randn(64, 5, generator=rng, dtype=torch.double)
    for sigma in (1e-1, 1e-2, 1e-3):
        real = LearnedFourierFeatures(5, 32, sigma=sigma).double()
        control = LinearFeatures(5, 32, sigma=sigma).double()
        control.load_state_dict(real.state_dict())
        phase = real.phase(x)
        difference = (real(x) - control(x)).abs()
        assert (difference[:, :16] <= phase.abs() ** 3 / 6 + 1e-15).all()
        assert (difference[:, 16:32] <= phase**2 / 2 + 1e-15).all()
        assert not difference[:, 32:].any()


def test_same_generator_gives_layer_and_control_the_same_basis():
    real, control = (
        kind(5, 32, sigma=0.1, generator=torch.Generator().manual_seed(2))
        for kind in (LearnedFourierFeatures, LinearFeatures)
    )
    assert torch.equal(real.B, control.B)


def test_rival_front_written_out(rng):
    layer = FFNFeatures(3, scale=0.3, generator=rng)
    assert layer.out_features == 120
    x = torch.randn(5, 3, generator=rng)
    expected = torch.sin(math.pi * (x @ layer.B.T + layer.bias))
    torch.testing.assert_close(layer(x), expected)


def test_rival_front_can_be_drawn_anew():
    layer = FFNFeatures(3, scale=0.3)
    before = layer.bias.detach().clone()
    layer.reset_parameters(torch.Generator().manual_seed(0))
    assert not torch.equal(layer.bias, before)


def test_rival_front_has_the_published_law(rng):
    layer = FFNFeatures(10, 4000, scale=0.3, generator=rng)
    assert layer.B.std().item() == pytest.approx(0.03, rel=0.02)
    assert layer.bias.min().item() == pytest.approx(-1, abs=0.01)
    assert layer.bias.max().item() == pytest.approx(1, abs=0.01)


@pytest.mark.usefixtures("unchecked")
def test_controls_refuse_what_the_layer_refuses():
    for kind in (LinearFeatures, LearnedFourierFeatures):
        with pytest.raises(BadInputError, match="fourier_dim"):
            kind(3, 7, sigma=0.1)
        with pytest.raises(BadInputError, match="sigma"):
            kind(3, 8, sigma=-1)
    with pytest.raises(BadInputError, match="fourier_dim"):
        ConstantFeatures(3, 7)
    with pytest.raises(BadInputError, match="3 wide"):
        ConstantFeatures(3, 8)(torch.zeros(2, 4))
    with pytest.raises(BadInputError, match="scale"):
        FFNFeatures(3, scale=math.nan)
