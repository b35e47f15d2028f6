"""The advice on σ against closed forms, and against the layer itself."""

import math

import pytest
import torch
from scipy import special, stats

from lff import LearnedFourierFeatures
from lff.auditing import advise_sigma
from lff.core import BadInputError


def points(*rows):
    return torch.tensor(rows, dtype=torch.float64)


def test_two_points():
    advice = advise_sigma(points([0.0, 0.0], [3.0, 4.0]), fourier_dim=64)
    assert advice.distances == (5.0, 5.0, 5.0)
    assert advice.neighbour == 5.0
    assert advice.norms[1] == 2.5
    assert advice.spreads == (1.5, 2.0)
    assert advice.bend == pytest.approx(1 / (10 * math.pi))
    assert advice.wrap == pytest.approx(0.1)
    assert advice.phase_spread(advice.bend)[1] == pytest.approx(1)
    assert advice.phase_spread(advice.wrap)[1] == pytest.approx(math.pi)
    assert advice.effective_dims == pytest.approx((2.25 + 4) ** 2 / (2.25**2 + 16))
    assert advice.updates_to_forget(0.003, 1e-4) == pytest.approx(30)


def test_gaussian_points(rng):
    dims = 20
    x = torch.randn(3000, dims, generator=rng)
    advice = advise_sigma(x, fourier_dim=128)
    levels = (0.05, 0.5, 0.95)
    for found, level in zip(advice.distances, levels, strict=True):  # ‖x-x'‖² is 2χ²
        assert found == pytest.approx(math.sqrt(2 * stats.chi2.ppf(level, dims)), rel=0.01)
    for found, level in zip(advice.norms, levels, strict=True):
        assert found == pytest.approx(math.sqrt(stats.chi2.ppf(level, dims)), rel=0.02)
    assert advice.effective_dims == pytest.approx(dims, rel=0.01)
    assert advice.uneven < 1.1


@pytest.mark.parametrize(("fourier_dim", "floor"), [(1024, 0.00703), (64, 0.02813), (2, 0.15915)])
def test_floor_is_the_tie_of_waves_and_x_for_close_points(fourier_dim, floor):
    near = points([0.0, 0.0], [1e-4, 0.0])
    advice = advise_sigma(near, fourier_dim=fourier_dim)
    assert advice.floor == pytest.approx(floor, rel=1e-3)
    assert advice.wave_share(advice.floor) == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("scale", [1e-3, 7.0])
def test_larger_inputs_want_a_smaller_sigma(scale, rng):
    x = torch.randn(300, 5, generator=rng, dtype=torch.float64)
    one, other = (advise_sigma(y, fourier_dim=64) for y in (x, scale * x))
    for name in ("bend", "wrap", "scatter"):
        assert getattr(other, name) == pytest.approx(getattr(one, name) / scale)
    assert other.floor == one.floor  # x is concatenated, and grows with the waves
    assert other.phase_spread(0.1 / scale) == pytest.approx(one.phase_spread(0.1))
    waves = [a.harmonics(s, concat_input=False) for a, s in ((one, 0.1), (other, 0.1 / scale))]
    assert waves[0][:20] == pytest.approx(waves[1][:20], abs=1e-9)


@pytest.mark.parametrize("sigma", [0.01, 0.1, 0.5])
def test_wave_share_is_that_of_the_layer(sigma, rng):
    pair = points([0.3, -1.0, 0.2], [-0.5, 0.4, 1.1])
    layer = LearnedFourierFeatures(3, 40_000, sigma=sigma, generator=rng).double()
    one, other = layer(pair)
    waves = (one - other)[:40_000].square().sum().item()
    # the formula is for F = 200; a layer of 40,000 averages 200 of them
    waves /= 200
    distance = (pair[0] - pair[1]).square().sum().item()
    found = advise_sigma(pair, fourier_dim=200).wave_share(sigma)
    assert found == pytest.approx(waves / (waves + distance), rel=0.03)


@pytest.mark.parametrize("sigma", [0.01, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("concat_input", [True, False])
def test_harmonics_are_bessel_functions(sigma, concat_input):
    radius = 2.0
    pair = points([0.0], [radius * math.sqrt(2)])
    advice = advise_sigma(pair, fourier_dim=64)
    shares = advice.harmonics(sigma, concat_input=concat_input)
    n = torch.arange(1, 400)
    expected = 32 * special.ive(n.numpy(), (2 * math.pi * sigma * radius) ** 2)
    expected[0] += concat_input * radius**2 / 2
    assert shares[:399] == pytest.approx(expected / expected.sum(), abs=1e-9)
    assert sum(shares) == pytest.approx(1)


def test_harmonics_are_those_of_the_layer_on_a_circle(rng):
    """Energy of the embedding along a circle, averaged over many waves."""
    angle = 2 * math.pi * torch.arange(64, dtype=torch.float64) / 64
    radius, sigma = 1.5, 0.2
    circle = radius * torch.stack((angle.cos(), angle.sin(), 0 * angle), dim=1)
    layer = LearnedFourierFeatures(3, 20_000, sigma=sigma, concat_input=False, generator=rng)
    energy = torch.fft.rfft(layer.double()(circle), dim=0).abs().square().sum(dim=1)[1:32]
    pair = points([0.0], [radius * math.sqrt(2)])
    found = advise_sigma(pair, fourier_dim=2).harmonics(sigma, concat_input=False)
    assert (energy / energy.sum())[:6].tolist() == pytest.approx(found[:6], abs=0.01)


def test_constant_and_uneven_dimensions_are_named(rng):
    x = torch.randn(200, 4, generator=rng) * torch.tensor([1.0, 0.0, 50.0, 0.01])
    x[:, 1] = 1e4
    advice = advise_sigma(x, fourier_dim=16)
    assert advice.constant == (1,)
    assert advice.uneven == pytest.approx(5000, rel=0.2)
    assert advice.effective_dims == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(
    ("sigma", "says"),
    [(1e-3, "nearly linear:"), (0.3, "waves:"), (0.9, "fast waves:"), (60.0, "very fast waves:")],
)
def test_verdicts_follow_the_phases(sigma, says):
    cluster = [[0.0], [0.01], [1.0], [1.01]]
    advice = advise_sigma(points(*cluster), fourier_dim=128)
    assert advice.distances[1] == pytest.approx(0.995)
    assert advice.scatter == pytest.approx(1 / (2 * math.pi * 0.01))
    assert advice.judge(sigma).startswith(says)


@pytest.mark.parametrize(
    ("distance", "advised"),
    [(0.5, 0.2), (0.99, 0.1), (1.0, 0.01), (9.85, 0.01), (50.0, 0.01), (51.0, 0.002), (259, 4e-4)],
)
def test_the_advised_sigma_is_0_01_unless_distances_are_unusual(distance, advised):
    advice = advise_sigma(points([0.0], [distance]), fourier_dim=128)
    assert advice.advised == advised
    assert advice.usual == (advised == 0.01)
    assert 0.06 < advice.phase_spread(advised)[1] < 3.15


def test_twins_have_no_neighbour_limit():
    advice = advise_sigma(points([0.0], [0.0], [1.0], [1.0]), fourier_dim=2)
    assert advice.neighbour == 0
    assert advice.scatter == math.inf


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("x", "says"),
    [
        (torch.ones(5, 2), "different points"),
        (torch.ones(1, 2), "shape of x"),
        (torch.ones(5), "shape of x"),
        (torch.tensor([[0.0], [math.nan]]), "finite"),
        (torch.ones(5, 2, dtype=torch.int64), "floats"),
    ],
)
def test_bad_batches_are_refused(x, says):
    with pytest.raises(BadInputError, match=says):
        advise_sigma(x, fourier_dim=64)
