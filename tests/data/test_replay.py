import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lff.core import BadInputError
from lff.data import Replay


def filled(count, *, capacity=5):
    replay = Replay(capacity, obs_dim=2, action_dim=1)
    for n in range(count):
        replay.add([n, -n], [n / 10], float(n), [n + 1, -n - 1], terminated=n % 3 == 0)
    return replay


def test_rows_stay_together():
    batch = filled(4).sample(64, torch.Generator().manual_seed(0))
    n = batch.reward
    torch.testing.assert_close(batch.obs, torch.stack([n, -n], dim=-1))
    torch.testing.assert_close(batch.action[:, 0], n / 10)
    torch.testing.assert_close(batch.next_obs, torch.stack([n + 1, -n - 1], dim=-1))
    assert torch.equal(batch.terminated, n % 3 == 0)
    assert set(n.tolist()) == {0.0, 1.0, 2.0, 3.0}


def test_the_oldest_make_room():
    replay = filled(12)
    assert len(replay) == 5
    rewards = replay.sample(200, torch.Generator().manual_seed(0)).reward
    assert set(rewards.tolist()) == {7.0, 8.0, 9.0, 10.0, 11.0}


def test_sampling_is_uniform():
    rewards = filled(5).sample(50_000, torch.Generator().manual_seed(0)).reward
    counts = torch.bincount(rewards.long(), minlength=5)
    assert (counts - 10_000).abs().max() < 400  # four standard deviations are 358


@given(st.integers(1, 30), st.integers(1, 8), st.data())
def test_a_ring_restored_from_segments_samples_the_same(total, capacity, data):
    """Store at arbitrary moments what is new; join the pieces; the ring is the same."""
    cuts = sorted(data.draw(st.lists(st.integers(0, total), max_size=4)))
    replay = Replay(capacity, obs_dim=2, action_dim=1)
    segments, stored = [], 0
    for n in range(total + 1):
        if n in cuts or n == total:
            segments.append(replay.since(stored))
            stored = n
        if n < total:
            replay.add([n, -n], [n / 10], float(n), [n + 1, -n - 1], terminated=n % 3 == 0)
    joined = {name: np.concatenate([s[name] for s in segments]) for name in segments[0]}
    again = Replay(capacity, obs_dim=2, action_dim=1)
    again.restore([joined], stored=len(joined["reward"]), total=total)
    one, other = (r.sample(50, torch.Generator().manual_seed(1)) for r in (replay, again))
    assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_bad_use():
    with pytest.raises(BadInputError, match="not empty"):
        filled(0).sample(3, torch.Generator())
    with pytest.raises(BadInputError, match="capacity"):
        Replay(0, obs_dim=2, action_dim=1)
    with pytest.raises(BadInputError, match="5 or more"):
        filled(0).restore([filled(3).since(0)], stored=3, total=9)
