import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lff.core.errors import BadInputError
from lff.ntk import circle, circle_spectrum, deep_ntk, fourier_ntk, frequency, predict, spectrum


@given(n=st.integers(2, 64), seed=st.integers(0, 2**16))
def test_every_symmetric_circulant_is_diagonal_in_the_waves(n, seed):
    row = torch.randn(n, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    row = row + row.flip(0).roll(1)
    kernel = torch.stack([row.roll(i) for i in range(n)])
    found = circle_spectrum(kernel, strict=True)
    assert found.non_circulant < 1e-6
    expected = torch.fft.fft(row).real[: n // 2 + 1]
    torch.testing.assert_close(found.eigenvalues, expected, atol=1e-10, rtol=1e-10)


def test_off_the_circle_kernels_are_not_circulant():
    """Lemma 3 as printed speaks of every sphere; a spiral of even spacing on S² is enough."""
    i = torch.arange(32, dtype=torch.float64) + 0.5
    z, turn = 1 - 2 * i / 32, math.pi * (1 + 5**0.5) * i
    radius = (1 - z.square()).sqrt()
    x = torch.stack((radius * turn.cos(), radius * turn.sin(), z), dim=1)
    kernel = fourier_ntk(x, x, 1.0)
    assert circle_spectrum(kernel).non_circulant > 0.1
    with pytest.raises(BadInputError, match="not circulant"):
        circle_spectrum(kernel, strict=True)


def test_eigenvalues_of_both_ways_agree_on_the_circle():
    kernel = deep_ntk(circle(33), hidden_layers=2).ntk
    by_frequency = circle_spectrum(kernel).eigenvalues
    twice = torch.cat((by_frequency[:1], by_frequency[1:].repeat_interleave(2)))
    torch.testing.assert_close(spectrum(kernel).eigenvalues, twice.sort(descending=True).values)


@pytest.mark.parametrize("k", [1, 3, 8])
def test_the_frequency_of_a_wave_on_scattered_points(k):
    x = torch.rand(3000, 1, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert frequency(x, (2 * math.pi * k * x[:, 0]).sin()).item() == pytest.approx(k, rel=0.02)


def test_the_frequency_in_two_dimensions():
    x = torch.rand(8000, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    wave = (2 * math.pi * (3 * x[:, 0] + 4 * x[:, 1])).sin()
    both = frequency(x, torch.stack((wave, wave + 7), dim=1))
    assert both.tolist() == pytest.approx([5, 5], rel=0.1)


def test_predicted_residuals_are_the_matrix_exponential():
    x = circle(16)
    kernel = deep_ntk(x, hidden_layers=1).ntk
    y = torch.randn(16, dtype=torch.float64)
    times = torch.tensor([0.0, 0.3, 2.0])
    found = predict(kernel, y, times, lr=0.5)
    for t, residual in zip(times, found.residuals, strict=True):
        torch.testing.assert_close(residual, torch.linalg.matrix_exp(-0.5 * t * kernel) @ y)


def test_each_frequency_decays_at_its_own_rate():
    x = circle(16)
    kernel = fourier_ntk(x, x, 1.0)
    y = torch.randn(16, dtype=torch.float64)
    found = predict(kernel, y, torch.tensor([0.0, 0.7]), basis="circle")
    expected = found.modes[0] * torch.exp(-0.7 * circle_spectrum(kernel).eigenvalues)
    torch.testing.assert_close(found.modes[1], expected)
    torch.testing.assert_close(found.rates, circle_spectrum(kernel).eigenvalues)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (torch.zeros(2, 3), "square"),
        (torch.tensor([[0.0, 1.0], [2.0, 0.0]]), "symmetric"),
        (torch.full((2, 2), math.nan), "finite"),
    ],
)
def test_bad_kernels(kernel, message):
    with pytest.raises(BadInputError, match=message):
        spectrum(kernel)


def test_bad_targets():
    with pytest.raises(BadInputError, match="of equal length"):
        predict(torch.eye(3), torch.zeros(2), torch.zeros(1))
    with pytest.raises(BadInputError, match="of equal length"):
        frequency(torch.zeros(3, 1), torch.zeros(2))
