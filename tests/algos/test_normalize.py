import numpy as np
import pytest
import torch

from lff.algos.normalize import CLIP, RunningNorm
from tests.regularizers.agents import ACT, OBS, draw_batch, make, same, snapshot


def test_statistics_equal_numpys_row_by_row_and_in_batches():
    rows = np.random.default_rng(0).normal(1e4, [1e-2, 1.0, 50.0], size=(500, 3))
    one, other = RunningNorm(3), RunningNorm(3)
    for row in rows:
        one.observe(torch.from_numpy(row))
    for part in np.array_split(rows, 7):
        other.observe(torch.from_numpy(part))
    for norm in (one, other):
        assert norm.count.item() == 500
        np.testing.assert_allclose(norm.mean, rows.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(norm.squares / 500, rows.var(axis=0), rtol=1e-6)
        np.testing.assert_allclose(norm.scale, rows.var(axis=0) ** -0.5, rtol=1e-4)


def test_by_hand():
    norm = RunningNorm(2)
    assert norm(torch.tensor([3.0, -40.0])).tolist() == [3.0, -CLIP]
    norm.observe(torch.tensor([1.0, 5.0]))
    assert norm(torch.tensor([3.0, 4.0])).tolist() == [3.0, 4.0]
    norm.observe(torch.tensor([3.0, 5.0]))
    # means 2 and 5, deviations 1 and 0: a constant entry is 0, and clipped when it moves
    torch.testing.assert_close(norm(torch.tensor([4.0, 5.0])), torch.tensor([2.0, 0.0]))
    assert norm(torch.tensor([2.5, 6.0])).tolist() == pytest.approx([0.5, CLIP])


def test_the_agent_normalises_wherever_it_takes_observations():
    """An agent that normalises equals a plain one that is given normalised observations."""
    norm, plain = make(normalize_obs=True), make()
    norm.observe(3 + 2 * torch.randn(100, OBS))
    batch = draw_batch()
    seen = batch._replace(obs=norm.normalize(batch.obs), next_obs=norm.normalize(batch.next_obs))
    assert not torch.allclose(seen.obs, batch.obs)
    noise = norm.draw_noise(torch.Generator().manual_seed(0))
    action = torch.rand(len(batch.obs), ACT)
    assert torch.equal(norm.act(batch.obs), plain.act(seen.obs))
    assert torch.equal(norm.value(batch.obs, action), plain.value(seen.obs, action))
    for _ in range(2):
        norm.update(batch, noise)
        plain.update(seen, noise)
    state = {n: v for n, v in norm.state().items() if not n.startswith("norm/")}
    assert same(state, plain.state())


def test_observing_changes_nothing_unless_asked_for():
    agent = make()
    before = snapshot(agent)
    agent.observe(torch.randn(OBS))
    assert same(agent.state(), before)
    assert agent.normalize(torch.ones(OBS)).tolist() == [1.0] * OBS


def test_updates_do_not_move_the_statistics():
    agent = make(normalize_obs=True)
    agent.observe(torch.randn(10, OBS))
    before = {n: v.clone() for n, v in agent.norm.state().items()}
    agent.update(draw_batch(), agent.draw_noise(torch.Generator().manual_seed(0)))
    assert same(agent.norm.state(), before)
