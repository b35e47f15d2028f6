"""Random- and zero-policy returns, against values known by hand."""

import json
from typing import ClassVar

import gymnasium
import numpy as np

from lff.envs import make
from lff.envs.gym import Adapter
from lff.store import RunDir
from lff.training import train
from lff.training.evaluate import reference_returns
from tests.training.runs import small


class Tally(gymnasium.Env):
    """Ten steps; the reward is 1 plus the sum of the action, which it remembers."""

    observation_space = gymnasium.spaces.Box(-1, 1, (1,))
    action_space = gymnasium.spaces.Box(-1, 1, (2,))
    played: ClassVar[list[np.ndarray]] = []

    def reset(self, *, seed=None, options=None):  # noqa: ARG002
        super().reset(seed=seed)
        self.steps = 0
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.steps += 1
        self.played.append(np.array(action))
        return np.zeros(1, np.float32), 1.0 + float(action.sum()), False, self.steps == 10, {}


def test_returns_of_both_policies_by_hand():
    Tally.played.clear()
    env = Adapter(Tally(), "tally", seed=0, action_repeat=1)
    found = reference_returns(env, episodes=3, seed=0)
    assert found["zero"] == [10.0, 10.0, 10.0]
    played = np.array(Tally.played[:30]).reshape(3, 10, 2)  # the random policy comes first
    np.testing.assert_allclose(found["random"], 10 + played.sum(axis=(1, 2)), rtol=1e-5)
    assert np.abs(played).max() <= 1
    assert played.std() > 0.4  # uniform on [-1, 1] has 0.577
    assert len({tuple(row) for row in played.reshape(-1, 2).tolist()}) == 30


def test_equal_seeds_equal_returns_and_the_zero_policy_of_cheetah_stands_still():
    envs = (make("dmc/cheetah-run", seed=seed) for seed in (0, 1))
    one, other = (reference_returns(env, episodes=1, seed=0) for env in envs)
    assert one == other
    assert 0 <= one["zero"][0] < 1


def test_a_run_keeps_them_once_and_is_not_changed_by_them(tmp_path):
    config = small("probe/action", steps=200)
    train(config, directory=tmp_path / "with", reference_episodes=2)
    train(config, directory=tmp_path / "without")
    assert RunDir(tmp_path / "without").reference == {}
    kept = RunDir(tmp_path / "with").reference
    assert [len(kept[policy]) for policy in ("random", "zero")] == [2, 2]
    path = tmp_path / "with" / "evaluations" / "reference.json"
    written = path.stat()
    train(config, directory=tmp_path / "with", reference_episodes=2)
    assert path.stat() == written
    path.write_text(json.dumps({"random": [1.0], "zero": [2.0]}))  # not what was written
    train(config, directory=tmp_path / "with", reference_episodes=2)
    assert RunDir(tmp_path / "with").reference == kept
    rows, others = ((tmp_path / n / "metrics.jsonl").read_bytes() for n in ("with", "without"))
    assert rows == others
