import numpy as np
import pytest
import torch

from lff.core.errors import BadInputError
from lff.data.rollout import Rollout


def fill(rollout, steps):
    for step in range(steps):
        rollout.add(
            obs=np.full((2, 3), step),
            action=np.full((2, 1), -step),
            reward=[step, 10 * step],
            terminated=[step == 1, False],
            truncated=[False, step == 2],
            valid=[True, step != 0],
        )
        if step == 2:
            rollout.add_next_obs(np.full((2, 3), 7.0), np.array([False, True]))


def test_rows_are_steps_and_columns_environments():
    rollout = Rollout(4, envs=2, obs_dim=3, action_dim=1)
    fill(rollout, 3)
    assert (rollout.at, rollout.full) == (3, False)
    assert rollout.obs[2].eq(2).all()
    torch.testing.assert_close(rollout.reward[:3], torch.tensor([[0.0, 0], [1, 10], [2, 20]]))
    assert rollout.terminated.nonzero().tolist() == [[1, 0]]
    assert rollout.truncated.nonzero().tolist() == [[2, 1]]
    assert rollout.valid[0].tolist() == [True, False]
    assert rollout.next_obs[2, 1].eq(7).all()
    assert not rollout.next_obs[2, 0].any()


def test_it_is_cleared_and_its_state_is_the_live_memory():
    rollout = Rollout(3, envs=2, obs_dim=3, action_dim=1)
    state = rollout.state()
    fill(rollout, 3)
    assert rollout.full
    assert state["action"][2].eq(-2).all()
    rollout.clear()
    assert rollout.at == 0
    assert rollout.obs[2].eq(2).all()  # readable until it is written again
    with pytest.raises(BadInputError, match="steps"):
        Rollout(0, envs=1, obs_dim=1, action_dim=1)
