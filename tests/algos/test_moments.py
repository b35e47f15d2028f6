import numpy as np
import pytest
import torch

from lff.algos.moments import Moments, RewardScale


def test_mean_and_variance_of_all_rows_in_any_portions():
    rows = np.random.default_rng(0).normal(3.0, 2.0, (100, 4)).astype(np.float32)
    moments = Moments(4)
    for part in np.split(rows, [1, 2, 5, 50]):
        moments.observe(part)
    moments.observe(rows[:0])
    np.testing.assert_allclose(moments.mean, rows.mean(axis=0, dtype=np.float64), rtol=1e-12)
    np.testing.assert_allclose(moments.squares / 100, rows.astype(float).var(axis=0), rtol=1e-12)
    seen = moments.normalize(rows)
    np.testing.assert_allclose(seen.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(seen.std(axis=0), 1, rtol=1e-6)
    assert seen.dtype == np.float32
    np.testing.assert_array_equal(seen, moments.normalize_tensor(torch.from_numpy(rows)).numpy())
    assert moments.normalize(np.full((1, 4), 1e6, np.float32)).max() == 10


def test_a_million_alike_rows_do_not_wash_out_a_small_spread():
    moments, rng = Moments(1), np.random.default_rng(0)
    rows = (1e4 + rng.normal(0, 0.1, (200_000, 1))).astype(np.float32)
    for part in np.split(rows, 1000):
        moments.observe(part)
    assert np.sqrt(moments.squares / len(rows)) == pytest.approx(rows.astype(float).std(), rel=1e-6)


def test_what_does_not_vary_is_not_scaled():
    moments = Moments(2)
    for _ in range(3):
        moments.observe(np.array([[2.0, 5.0]], np.float32))
    np.testing.assert_array_equal(moments.normalize(np.array([[3.0, 5.0]], np.float32)), [[1, 0]])


def test_rewards_are_divided_by_the_spread_of_their_discounted_sums():
    scale = RewardScale(1, gamma=0.5)
    # sums: 1, then 2 + 0.5 = 2.5; the episode ends; then 4
    scale(np.array([1.0]), np.array([False]))
    scale(np.array([2.0]), np.array([True]))
    found = scale(np.array([4.0]), np.array([False]))
    spread = np.std([1.0, 2.5, 4.0])
    np.testing.assert_allclose(found, 4 / spread, rtol=1e-6)
    assert scale.unit == pytest.approx(spread)


def test_state_is_the_live_memory():
    scale = RewardScale(2, gamma=0.9)
    state = scale.state()
    scale(np.array([1.0, 2.0]), np.array([False, False]))
    assert state["count"].item() == 2
    np.testing.assert_array_equal(state["sums"], [1, 2])
    state["mean"].fill_(7.0)
    assert scale.moments.mean[0] == 7
