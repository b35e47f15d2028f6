"""Infinite-width kernels: by quadrature, by Monte Carlo, by the figures of a first analysis."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
import torch

from lff.core.errors import BadInputError
from lff.nn import ConstantControl, Fourier, LinearControl
from lff.ntk import (
    circle,
    circle_spectrum,
    deep_ntk,
    empirical_ntk,
    fourier_kernels,
    fourier_ntk,
)


def quadrature(x, *, hidden_layers, weight_std, bias_std, unit, slope, nodes=None):
    """The recursion with E[τ(u)τ(v)] by integration in polar coordinates: exact for ReLU too."""
    width = x.shape[1]
    cov = weight_std**2 * x @ x.T / width + bias_std**2
    ntk = cov.copy()
    for _ in range(hidden_layers):
        new, dot = np.zeros_like(cov), np.zeros_like(cov)
        for i in range(len(cov)):
            for j in range(len(cov)):
                k = np.array([[cov[i, i], cov[i, j]], [cov[i, j], cov[j, j]]])
                new[i, j], dot[i, j] = expectation(k, unit), expectation(k, slope)
        cov = weight_std**2 * new + bias_std**2
        ntk = cov + weight_std**2 * dot * ntk
    return cov, ntk


def expectation(k, f):
    """E f(u) f(v) for (u, v) ~ N(0, k): radius by Gauss-Laguerre, angle between the kinks."""
    values, vectors = np.linalg.eigh(k)
    root = vectors * np.sqrt(np.maximum(values, 0))
    # u = r a(φ), v = r b(φ); f is smooth on each arc between the zeros of a and b
    zeros = [math.atan2(-row[0], row[1]) % math.pi for row in root]
    cuts = sorted({0.0, 2 * math.pi, *zeros, *(z + math.pi for z in zeros)})
    radius_sq, radius_weight = np.polynomial.laguerre.laggauss(60)
    angle_node, angle_weight = np.polynomial.legendre.leggauss(60)
    total = 0.0
    for low, high in itertools.pairwise(cuts):
        angle = (high - low) / 2 * angle_node + (high + low) / 2
        weight = (high - low) / 2 * angle_weight
        radius = np.sqrt(2 * radius_sq)[:, None]
        u = radius * (root[0, 0] * np.cos(angle) + root[0, 1] * np.sin(angle))
        v = radius * (root[1, 0] * np.cos(angle) + root[1, 1] * np.sin(angle))
        total += (radius_weight[:, None] * weight * f(u) * f(v)).sum()
    return total / (2 * math.pi)


@pytest.mark.parametrize("hidden_layers", [1, 2, 3, 4])
@pytest.mark.parametrize("bias_std", [0.0, 0.3])
def test_relu_kernels_equal_quadrature(hidden_layers, bias_std):
    x = np.random.default_rng(0).normal(size=(4, 3))
    x[3] = -x[0]  # the angle π
    options = {"hidden_layers": hidden_layers, "weight_std": 1.3, "bias_std": bias_std}
    cov, ntk = quadrature(
        x, **options, unit=lambda u: np.maximum(u, 0), slope=lambda u: (u > 0).astype(float)
    )
    found = deep_ntk(torch.from_numpy(x), **options)
    np.testing.assert_allclose(found.nngp.numpy(), cov, atol=1e-8)
    np.testing.assert_allclose(found.ntk.numpy(), ntk, atol=1e-8)


def test_erf_kernels_equal_quadrature():
    erf = np.vectorize(math.erf)
    x = 0.4 * np.random.default_rng(0).normal(size=(3, 3))
    options = {"hidden_layers": 2, "weight_std": 0.9, "bias_std": 0.2}
    cov, ntk = quadrature(
        x, **options, unit=erf, slope=lambda u: 2 / math.sqrt(math.pi) * np.exp(-(u**2))
    )
    found = deep_ntk(torch.from_numpy(x), **options, nonlinearity="erf")
    np.testing.assert_allclose(found.nngp.numpy(), cov, atol=1e-6)
    np.testing.assert_allclose(found.ntk.numpy(), ntk, atol=1e-6)


def test_a_second_set_of_points_gives_a_block_of_the_whole():
    x = torch.randn(7, 3, dtype=torch.float64)
    whole = deep_ntk(x, hidden_layers=2, bias_std=0.1, front=Fourier(fourier_dim=8, sigma=0.2))
    block = deep_ntk(
        x[:4], x[4:], hidden_layers=2, bias_std=0.1, front=Fourier(fourier_dim=8, sigma=0.2)
    )
    torch.testing.assert_close(block.ntk, whole.ntk[:4, 4:])
    torch.testing.assert_close(block.nngp, whole.nngp[:4, 4:])


@pytest.mark.parametrize("norm", [0.5, 1.0, 3.0])
def test_lemma_1_for_any_norm_is_the_mean_over_networks(norm):
    """Monte Carlo over 4,000,000 rows: the two parts, with m/2 rows in B."""
    x = norm * circle(5)
    rng = torch.Generator().manual_seed(0)
    rows, sigma = 400_000, 0.8
    B = sigma * torch.randn(rows, 2, generator=rng, dtype=torch.float64)
    w, v = torch.randn(2, rows, generator=rng, dtype=torch.float64)
    phase = x @ B.mT
    slope = w * phase.cos() - v * phase.sin()
    weights = (phase.sin() @ phase.sin().mT + phase.cos() @ phase.cos().mT) / rows
    basis = (x @ x.mT) * (slope @ slope.mT) / rows
    found = fourier_kernels(x, x, sigma)
    torch.testing.assert_close(found.rest, weights, atol=0.01, rtol=0)
    torch.testing.assert_close(found.basis, basis, atol=0.012 * norm**2, rtol=0)


def test_lemma_1_on_the_circle_and_its_unit_of_frequency():
    x = circle(12)
    cosine = (x @ x.mT).clamp(-1, 1)
    expected = (1 + cosine) * torch.exp(0.7**2 * (cosine - 1))
    torch.testing.assert_close(fourier_ntk(x, None, 0.7), expected)
    layer = fourier_kernels(x, x, 0.1, frequency_scale=2 * math.pi)
    lemma = fourier_kernels(x, x, 0.1 * 2 * math.pi)
    torch.testing.assert_close(layer.rest, lemma.rest)
    torch.testing.assert_close(layer.basis, (2 * math.pi) ** 2 * lemma.basis)


@pytest.mark.parametrize("trainable", [True, False])
@pytest.mark.parametrize("concat_input", [True, False])
def test_a_front_of_many_rows_is_near_its_mean(trainable, concat_input):
    front = Fourier(fourier_dim=40_000, sigma=0.15, trainable=trainable, concat_input=concat_input)
    x = circle(6)
    layer = front.build(2, generator=torch.Generator().manual_seed(0))
    mean, drawn = (deep_ntk(x, hidden_layers=2, front=f) for f in (front, layer))
    torch.testing.assert_close(drawn.ntk, mean.ntk, rtol=0, atol=0.01 * mean.ntk.max().item())


@pytest.mark.parametrize(
    "front",
    [Fourier(fourier_dim=2000, sigma=0.1), LinearControl(fourier_dim=2000, sigma=0.1)],
    ids=lambda front: type(front).__name__,
)
def test_a_trained_basis_equals_a_wide_network(front, ntk_net):
    """One hidden layer of 2,000 units behind a drawn front, mean of four exact kernels."""
    x = torch.tensor([[0.5, -1.0], [1.0, 0.3], [-0.2, 0.9]], dtype=torch.float64)
    layer = front.build(2, generator=torch.Generator().manual_seed(1))
    draws = [empirical_ntk(ntk_net(layer, 2000, seed=seed), x) for seed in range(4)]
    rest, basis = (torch.stack([getattr(d, n) for d in draws]).mean(0) for n in ("rest", "basis"))
    limit = deep_ntk(x, hidden_layers=1, front=layer).ntk
    close = {"rtol": 0, "atol": 0.06 * limit.max().item()}
    torch.testing.assert_close(rest + basis, limit, **close)
    assert basis.diagonal().min() > 0.2 * limit.diagonal().max()  # B is no small part of it
    if isinstance(front, Fourier):
        fixed = dataclasses.replace(front, trainable=False).build(2)
        fixed.B.copy_(layer.B.detach())
        torch.testing.assert_close(rest, deep_ntk(x, hidden_layers=1, front=fixed).ntk, **close)


def test_eigenvalues_of_the_table_that_was_computed_before():
    """2 hidden layers, B fixed, 256 points of the circle, divided by N and k(0)."""
    x = circle(256)

    def shares(front, hidden_layers=2):
        kernel = deep_ntk(x, hidden_layers=hidden_layers, front=front).ntk
        values = circle_spectrum(kernel).eigenvalues / 256 / kernel[0, 0]
        return [values[k].item() for k in (0, 1, 4, 16)]

    def fixed(sigma, **options):
        return Fourier(fourier_dim=1024, sigma=sigma, trainable=False, **options)

    assert shares(None) == pytest.approx([0.361, 1.96e-1, 1.0e-2, 4.8e-4], rel=0.03)
    assert shares(None, 3) == pytest.approx([0.386, 1.64e-1, 1.3e-2, 6.4e-4], rel=0.03)
    assert shares(fixed(1e-3)) == pytest.approx([0.980, 6.86e-3, 2.87e-4, 1.79e-5], rel=0.03)
    assert shares(ConstantControl(fourier_dim=1024)) == pytest.approx(
        [0.980, 6.79e-3, 2.84e-4, 1.77e-5], rel=0.03
    )
    assert shares(fixed(1.0)) == pytest.approx([0.265, 0.034, 3.1e-2, 5.4e-3], rel=0.05)


@pytest.mark.parametrize(
    ("x1", "x2", "message"),
    [
        (torch.zeros(3), None, "of shape"),
        (torch.zeros(3, 2), torch.zeros(3, 4), "equal"),
        (torch.tensor([[0.0, math.nan]]), None, r"x1\[0\] must be finite"),
        (["a"], None, "tensor or array"),
    ],
)
def test_bad_points(x1, x2, message):
    with pytest.raises(BadInputError, match=message):
        deep_ntk(x1, x2, hidden_layers=1)


@pytest.mark.parametrize(
    "options", [{"hidden_layers": 0}, {"hidden_layers": 1, "weight_std": 0.0}], ids=str
)
def test_bad_sizes(options):
    with pytest.raises(BadInputError):
        deep_ntk(circle(3), **options)


def test_a_front_with_weights_of_its_own_is_refused():
    with pytest.raises(BadInputError, match="front"):
        deep_ntk(circle(3), hidden_layers=1, front=torch.nn.Linear(2, 2))
