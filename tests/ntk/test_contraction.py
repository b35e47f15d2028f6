import math

import pytest
import torch
from torch import nn

import lff
from lff.core.errors import BadInputError
from lff.ntk import circle, empirical_ntk, fourier_ntk, sigma_bound
from lff.ntk.contraction import bellman_operator, check, conditions


def random_policy_mdp(n, rng):
    weights = torch.rand(n, n, generator=rng, dtype=torch.float64) ** 4
    return weights / weights.sum(dim=1, keepdim=True)


def sphere(n, d, rng):
    x = torch.randn(n, d, generator=rng, dtype=torch.float64)
    return x / x.norm(dim=1, keepdim=True)


@pytest.mark.parametrize("seed", range(20))
def test_the_bound_implies_the_conditions_and_these_a_contraction(seed):
    rng = torch.Generator().manual_seed(seed)
    n, d, gamma = 5 + 2 * seed, 2 + seed % 4, (0.5, 0.9, 0.99)[seed % 3]
    x = sphere(n, d, rng)
    gram = (x @ x.mT).fill_diagonal_(-1)
    sigma = sigma_bound(n, gamma=gamma, delta=1 - gram.max().item())
    kernel = fourier_ntk(x, x, sigma)
    lr = 0.99 * n / 2
    assert conditions(kernel, gamma=gamma, lr=lr).contracts
    operator = bellman_operator(kernel, random_policy_mdp(n, rng), gamma=gamma, lr=lr)
    assert operator.abs().sum(dim=1).max().item() < 1
    # the errors really shrink, whatever they are
    error = torch.randn(n, generator=rng, dtype=torch.float64)
    assert (operator @ error).abs().max() < error.abs().max()


def test_the_papers_sigma_is_far_from_the_bound():
    x = circle(32)
    found = conditions(fourier_ntk(x, x, 2 * math.pi * 0.01), gamma=0.99, lr=1.0)
    assert found.small_steps
    assert not found.weak_coupling
    assert found.coupling.max().item() > 1000
    assert "no promise" in str(found)


def test_conditions_by_hand():
    kernel = torch.tensor([[2.0, -0.5], [-0.5, 1.0]])
    density = torch.tensor([3.0, 1.0])  # normalised to 3/4, 1/4
    found = conditions(kernel, gamma=0.5, lr=0.4, distribution=density)
    assert found.step.tolist() == pytest.approx([0.4 * 2 * 0.75, 0.4 * 0.25])
    first = 1.5 * 0.5 * 0.25 / (0.5 * 2 * 0.75)
    second = 1.5 * 0.5 * 0.75 / (0.5 * 1 * 0.25)
    assert found.coupling.tolist() == pytest.approx([first, second])
    assert found.small_steps
    assert not found.weak_coupling


def test_the_example_of_the_bound():
    """32 points of the circle and γ = 0.99 need σ of about 21."""
    delta = 1 - math.cos(2 * math.pi / 32)
    assert sigma_bound(32, gamma=0.99, delta=delta) == pytest.approx(21.30, abs=0.005)
    assert sigma_bound(1, gamma=0.99, delta=1.0) == 0.0


def test_a_real_network_really_does_what_the_radius_says():
    """One small step of gradient descent moves the errors as the linearisation has it."""
    torch.manual_seed(0)
    net = lff.LFF(3, 1, hidden_dim=16, fourier_dim=8, sigma=0.2).double()
    x, x_next = torch.randn(2, 6, 3, dtype=torch.float64)
    reward = torch.randn(6, dtype=torch.float64)
    gamma, lr = 0.9, 1e-5
    found = check(net, x, x_next, gamma, lr)

    def errors():
        with torch.no_grad():
            return reward + gamma * net(x_next)[:, 0] - net(x)[:, 0]

    before = errors()
    kernel = empirical_ntk(net, x).ntk - gamma * empirical_ntk(net, x_next, x).ntk
    predicted = -lr / 6 * kernel @ before
    loss = -(net(x)[:, 0] * before).mean()  # its gradient is that of ½ mean (Q - y)²
    grads = torch.autograd.grad(loss, [*net.parameters()])
    with torch.no_grad():
        for p, g in zip(net.parameters(), grads, strict=True):
            p -= lr * g
    torch.testing.assert_close(errors() - before, predicted, rtol=1e-3, atol=1e-12)
    assert found.spectral_radius == pytest.approx(
        torch.linalg.eigvals(torch.eye(6) - lr / 6 * kernel).abs().max().item()
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gamma": 1.0, "lr": 0.1}, "gamma"),
        ({"gamma": 0.9, "lr": 0.0}, "lr"),
        ({"gamma": 0.9, "lr": 0.1, "distribution": torch.ones(3)}, "distribution"),
    ],
)
def test_bad_conditions(options, message):
    with pytest.raises(BadInputError, match=message):
        conditions(torch.eye(2), **options)


def test_bad_checks():
    net = nn.Linear(2, 1)
    with pytest.raises(BadInputError, match="of equal length"):
        check(net, torch.zeros(3, 2), torch.zeros(2, 2), 0.9, 0.1)
    with pytest.raises(BadInputError, match="delta"):
        sigma_bound(4, gamma=0.9, delta=0.0)
