import pytest
import torch

from lff.algos.policy_gradient import advantages, explained_variance


def column(*values, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype)[:, None]


def flags(*values):
    return column(*values, dtype=torch.bool)


NO = flags(0, 0, 0)


def test_by_hand():
    # γ = 0.5, λ = 0.5: δ = (1 + 0.5*4 - 2, 2 + 0.5*6 - 4, 3 + 0.5*8 - 6) = (1, 1, 1)
    reward, value, after = column(1, 2, 3), column(2, 4, 6), column(4, 6, 8)
    found = advantages(reward, value, after, NO, NO, gamma=0.5, gae_lambda=0.5)
    torch.testing.assert_close(found, column(1 + 0.25 * 1.25, 1.25, 1.0))


def test_an_end_and_a_cut_by_hand():
    reward, value, after = column(1, 2, 3), column(2, 4, 6), column(4, 6, 8)
    middle = flags(0, 1, 0)
    ended = advantages(reward, value, after, middle, NO, gamma=0.5, gae_lambda=0.5)
    torch.testing.assert_close(ended, column(1 + 0.25 * -2, -2.0, 1.0))  # δ_1 = 2 - 4
    cut = advantages(reward, value, after, NO, middle, gamma=0.5, gae_lambda=0.5)
    torch.testing.assert_close(cut, column(1 + 0.25, 1.0, 1.0))  # V(s') counts, A_2 does not
    both = advantages(reward, value, after, middle, middle, gamma=0.5, gae_lambda=0.5)
    torch.testing.assert_close(both, ended)


@pytest.mark.parametrize("gamma", [0.0, 0.9, 1.0])
def test_lambda_one_is_the_discounted_sum_and_zero_the_error_of_one_step(gamma):
    g = torch.Generator().manual_seed(0)
    reward, value, after = torch.randn(3, 7, 4, generator=g, dtype=torch.float64)
    no = torch.zeros(7, 4, dtype=torch.bool)
    # V in between cancels, since V(s') of a step is V(s) of the next
    after = torch.cat([value[1:], after[-1:]])
    whole = advantages(reward, value, after, no, no, gamma=gamma, gae_lambda=1.0)
    for t in range(7):
        sums = sum(gamma**k * reward[t + k] for k in range(7 - t)) + gamma ** (7 - t) * after[-1]
        torch.testing.assert_close(whole[t], sums - value[t])
    short = advantages(reward, value, after, no, no, gamma=gamma, gae_lambda=0.0)
    torch.testing.assert_close(short, reward + gamma * after - value)


def test_environments_do_not_mix():
    g = torch.Generator().manual_seed(0)
    reward, value, after = torch.randn(3, 20, 3, generator=g)
    terminated, truncated = torch.rand(2, 20, 3, generator=g) < 0.2
    parts = (reward, value, after, terminated, truncated)
    whole = advantages(*parts, gamma=0.9, gae_lambda=0.8)
    for env in range(3):
        alone = advantages(*(p[:, [env]] for p in parts), gamma=0.9, gae_lambda=0.8)
        torch.testing.assert_close(whole[:, [env]], alone)


def test_explained_variance():
    target = torch.tensor([1.0, 2.0, 3.0, 4.0])
    assert explained_variance(target + 5, target) == 1  # a shift is no variance
    assert explained_variance(torch.zeros(4), target) == 0
    torch.testing.assert_close(explained_variance(target / 2, target), torch.tensor(0.75))
    assert explained_variance(target, torch.ones(4)).isnan()
