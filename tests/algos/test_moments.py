import numpy as np
import pytest
import torch

from lff.algos.moments import CLIP, Moments, RewardScale
from tests.regularizers.agents import ACT, OBS, SIZE, draw_batch, make, same, snapshot


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


def test_statistics_equal_numpys_row_by_row_and_in_batches():
    rows = np.random.default_rng(0).normal(1e4, [1e-2, 1.0, 50.0], size=(500, 3))
    one, other = Moments(3), Moments(3)
    for row in rows:
        one.observe(row[None])
    for part in np.array_split(rows, 7):
        other.observe(part)
    for norm in (one, other):
        assert norm.count.item() == 500
        np.testing.assert_allclose(norm.mean, rows.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(norm.squares / 500, rows.var(axis=0), rtol=1e-6)
        np.testing.assert_allclose(norm.scale, rows.var(axis=0) ** -0.5, rtol=1e-4)


def test_by_hand():
    norm = Moments(2)
    assert norm.normalize_tensor(torch.tensor([3.0, -40.0])).tolist() == [3.0, -CLIP]
    norm.observe(np.array([[1.0, 5.0]], np.float32))
    assert norm.normalize_tensor(torch.tensor([3.0, 4.0])).tolist() == [3.0, 4.0]
    norm.observe(np.array([[3.0, 5.0]], np.float32))
    # means 2 and 5, deviations 1 and 0: a constant entry is 0
    found = norm.normalize_tensor(torch.tensor([4.0, 5.0]))
    torch.testing.assert_close(found, torch.tensor([2.0, 0.0]))
    assert norm.normalize_tensor(torch.tensor([2.5, 16.0])).tolist() == pytest.approx([0.5, CLIP])


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


def test_the_agent_normalises_wherever_it_takes_observations():
    """An agent that normalises equals a plain one that is given normalised observations."""
    norm, plain = make(normalize_obs=True), make()
    norm.observe(3 + 2 * torch.randn(100, OBS).numpy())
    batch = draw_batch()
    obs, next_obs = (norm.norm.normalize_tensor(x) for x in (batch.obs, batch.next_obs))
    normalized = batch._replace(obs=obs, next_obs=next_obs)
    assert not torch.allclose(normalized.obs, batch.obs)
    noise = norm.draw(torch.Generator().manual_seed(0), SIZE)
    action = torch.rand(len(batch.obs), ACT)
    assert torch.equal(norm.act(batch.obs), plain.act(normalized.obs))
    assert torch.equal(norm.value(batch.obs, action), plain.value(normalized.obs, action))
    for _ in range(2):
        norm.update(batch, noise)
        plain.update(normalized, noise)
    state = {n: v for n, v in norm.state().items() if not n.startswith("norm/")}
    assert same(state, plain.state())


def test_observing_changes_nothing_unless_asked_for():
    agent = make()
    before = snapshot(agent)
    agent.observe(torch.randn(OBS).numpy())
    assert same(agent.state(), before)
    assert agent.encode(agent.critic.parameters, torch.ones(OBS)).tolist() == [1.0] * OBS


def test_updates_do_not_move_the_statistics():
    agent = make(normalize_obs=True)
    agent.observe(torch.randn(10, OBS).numpy())
    before = {n: v.clone() for n, v in agent.norm.state().items()}
    agent.update(draw_batch(), agent.draw(torch.Generator().manual_seed(0), SIZE))
    assert same(agent.norm.state(), before)
