"""The jobs of the theory against closed forms and a second way to the same numbers."""

import math
from pathlib import Path

import pytest
import torch
from torch import nn

from lff.experiments.jobs.convergence import ContractionJob, LazyJob, TwoLayer, time_until
from lff.experiments.jobs.deep_kernels import DeepKernelJob, finite_kernel, normalised
from lff.experiments.jobs.kernels import (
    CirculantJob,
    ConcatShareJob,
    MonteCarloJob,
    dft_residual,
    log_spaced,
    sigma_for_the_highest,
    sphere,
    two_layer_kernel,
)
from lff.ntk import circle, circle_spectrum, deep_ntk, empirical_ntk, fourier_ntk


def rows_of(job):
    return list(job.run(Path(), lambda *_: None))


def values(rows, metric):
    return [row.value for row in rows if row.metric == metric]


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_a_wide_network_has_lemma_1s_kernel_and_m_rows_twice_it():
    x = circle(5)
    expected = fourier_ntk(x, x, 1.5)
    got = two_layer_kernel(x, 40_000, 1.5, generator())
    torch.testing.assert_close(got, expected, atol=0.06, rtol=0)
    twice = two_layer_kernel(x, 40_000, 1.5, generator(), double=True)
    torch.testing.assert_close(twice, 2 * expected, atol=0.1, rtol=0)


def test_the_written_out_gradients_are_autograds():
    x = circle(6)
    net = TwoLayer(x, 32, 2.0, generator())

    class Module(nn.Module):
        def __init__(self):
            super().__init__()
            self.w, self.v, self.b = (nn.Parameter(t.clone()) for t in (net.w, net.v, net.b))

        def forward(self, x):
            phase = x @ self.b.mT
            out = phase.sin() @ self.w + phase.cos() @ self.v
            return math.sqrt(2 / 32) * out[:, None]

    module = Module()
    torch.testing.assert_close(net.kernel(), empirical_ntk(module, x).ntk)
    target = torch.arange(6.0, dtype=torch.float64)
    loss = 0.5 * (module(x)[:, 0] - target).square().sum()
    loss.backward()
    before = {name: p.detach().clone() for name, p in module.named_parameters()}
    net.descend(target, 0.01, 1)
    for name, parameter in module.named_parameters():
        torch.testing.assert_close(getattr(net, name), before[name] - 0.01 * parameter.grad)


def test_the_time_of_one_mode_is_known():
    # one eigenvalue 3: r² falls as exp(-6t), to a tenth at ln(10)/6
    kernel = torch.diag(torch.tensor([3.0, 1.0], dtype=torch.float64))
    start = torch.tensor([2.0, 0.0], dtype=torch.float64)
    assert time_until(kernel, start, 0.1) == pytest.approx(math.log(10) / 6)


def test_training_of_a_wide_network_follows_the_theory():
    rows = rows_of(LazyJob(widths=(64, 16384), draws=1, steps=100))
    narrow, wide = values(rows, "error")
    assert wide < 0.02 < narrow
    narrow, wide = values(rows, "drift")
    assert wide < 0.005 < narrow


def test_a_wide_finite_network_has_the_kernel_of_the_limit():
    x = circle(4)
    kernel = finite_kernel(x, (50_000,), generator())
    torch.testing.assert_close(kernel, deep_ntk(x, hidden_layers=1).ntk, atol=0.04, rtol=0)


def test_waves_fit_circulant_matrices_alone():
    rows = rows_of(CirculantJob(kernel="random row", sizes=(2, 3, 17), draws=2))
    assert max(values(rows, "residual")) < 1e-12
    x = sphere(16)
    torch.testing.assert_close(x.norm(dim=1), torch.ones(16, dtype=torch.float64))
    assert dft_residual(fourier_ntk(x, x, 2.0)) > 0.05


def test_sigma_for_the_highest_frequency():
    sigma, x = sigma_for_the_highest(32, 0.25), circle(32)
    spectrum = circle_spectrum(fourier_ntk(x, x, sigma)).eigenvalues
    assert spectrum[-1].item() == pytest.approx(0.25 * 2)


def test_the_share_of_x_where_waves_are_linear():
    # sin(2πb·x) ≈ 2πb·x: the waves add Σ (2πb)² ≈ (F/2)(2πσ)² to the 1 of x
    rows = rows_of(ConcatShareJob(sigma=0.001, fourier_dims=(1024,), draws=4))
    expected = 1 / (1 + 512 * (2 * math.pi * 0.001) ** 2)
    assert values(rows, "share of x") == pytest.approx([expected] * 4, abs=0.003)


def test_the_spectrum_of_appendix_numbers():
    # the MLP with three hidden layers has 6.4e-4 at k = 16, with two 4.8e-4 (float64 recursion)
    for hidden, tail in ((3, 6.4e-4), (2, 4.8e-4)):
        (value,) = values(rows_of(DeepKernelJob(hidden=hidden, draws=1)), "tail eigenvalue")
        assert value == pytest.approx(tail, rel=0.01)
    x = circle(32)
    whole = normalised(deep_ntk(x, hidden_layers=2).ntk)
    # frequencies 1 to 15 come twice; all eigenvalues together are the diagonal's mean
    assert (whole[0] + 2 * whole[1:-1].sum() + whole[-1]).item() == pytest.approx(1.0)


def test_the_bound_contracts_and_a_small_sigma_does_not():
    bound = rows_of(ContractionJob(draws=6, states=(5, 12)))
    assert max(values(bound, "coupling")) <= 1
    assert max(values(bound, "norm")) < 1
    assert max(values(bound, "growth")) < 1
    assert min(values(bound, "bound over least")) >= 1
    small = rows_of(ContractionJob(draws=6, states=(5, 12), sigma=0.01))
    assert min(values(small, "coupling")) > 1


def test_ten_networks_make_a_band():
    rows = rows_of(MonteCarloJob(sigma=1.0, widths=(256,), draws=1, angles=30))
    assert [row.step for row in rows if row.metric == "kernel"] == list(range(0, 181, 30))
    assert values(rows, "angles inside")[0] > 0.7


def test_log_spaced_numbers():
    assert log_spaced(16) == [1, 2, 3, 4, 6, 8, 11, 16]
    assert log_spaced(1) == [1]
