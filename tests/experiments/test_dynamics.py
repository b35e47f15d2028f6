"""Models of real simulators: the data, the units, and roll-outs against closed forms."""

import numpy as np
import pytest
import torch

from lff.core.config import to_dict
from lff.core.errors import BadInputError
from lff.core.seeding import env_seed
from lff.envs import make
from lff.experiments.jobs.dynamics import (
    DynamicsJob,
    Episodes,
    Units,
    one_step_error,
    record,
    rollout_errors,
)
from lff.experiments.jobs.resuming import Resumable
from lff.launch.job import job_from_dict
from lff.nn import MLPTrunk, NetConfig

NET = NetConfig(trunk=MLPTrunk(hidden=(32, 32)))
SIZE = {"episodes": 3, "held_out": 1, "length": 30, "steps": 40, "batch": 32, "every": 20}
JOB = DynamicsJob(env="dmc/hopper-hop", net=NET, seeds=2, **SIZE)


def quiet(*_):
    pass


class Linear:
    """Stands for a learner of two seeds that adds to every coordinate of the observation."""

    seeds = (0, 1)
    parameters = None

    def __init__(self, obs, added):
        self.obs, self.added = obs, torch.tensor(added)[:, None, None]

    def outputs(self, _, x):
        return self.added.expand(2, x.shape[1], self.obs)

    def __call__(self, x):
        return self.added.expand(2, len(x), self.obs)


def units(width, obs):
    return Units(torch.zeros(width), torch.full((width,), 2.0), torch.zeros(obs), torch.ones(obs))


def test_transitions_are_the_simulators_and_actions_are_held():
    made = record("dmc/finger-turn_hard", 2, length=12, hold=5)
    assert made.obs.shape == (2, 13, 12)
    assert made.action.shape == (2, 12, 2)
    again = record("dmc/finger-turn_hard", 2, length=12, hold=5)
    assert torch.equal(made.obs, again.obs)
    assert torch.equal(made.action[0, :5], made.action[0, :1].expand(5, -1))
    assert not torch.equal(made.action[0, 4], made.action[0, 5])
    assert not torch.equal(made.obs[0, 0], made.obs[1, 0])
    env = make("dmc/finger-turn_hard", seed=7)
    obs, _ = env.reset(seed=env_seed(1, "dynamics"))
    np.testing.assert_array_equal(obs, made.obs[1, 0])
    for t in range(12):
        obs = env.step(made.action[1, t].numpy())[0]
    np.testing.assert_array_equal(obs, made.obs[1, 12])
    env.close()


def test_pairs_and_units():
    episodes = record("dmc/finger-turn_hard", 3, length=20, hold=5)
    x, change = episodes.pairs()
    assert x.shape == (60, 14)
    torch.testing.assert_close(x[21, :12], episodes.obs[1, 1])
    torch.testing.assert_close(x[21, :12] + change[21], episodes.obs[1, 2])
    own = Units.of(episodes)
    shown, asked = own.inputs(x), own.targets(change)
    moving = change.std(dim=0) > 1e-6
    assert not moving.all()  # where the target is never changes
    torch.testing.assert_close(asked.std(dim=0)[moving], torch.ones(int(moving.sum())))
    assert asked[:, ~moving].abs().max() == 0
    wrong = own.change(torch.ones(12))[~moving]
    torch.testing.assert_close(wrong, change.mean(dim=0)[~moving])
    torch.testing.assert_close(shown.mean(dim=0), torch.zeros(14), atol=1e-4, rtol=0)
    torch.testing.assert_close(own.change(asked), change, atol=1e-5, rtol=1e-5)


def test_a_model_that_drifts_by_a_known_amount_has_a_known_error():
    # the world moves by 1 a step, the models by 1 and 1.5: after k steps 0 and 0.5 k, over 2
    time = torch.arange(31.0)[None, :, None].expand(4, -1, 3)
    episodes = Episodes(time, torch.zeros(4, 30, 2))
    learner = Linear(3, [1.0, 1.5])
    errors = rollout_errors(learner, units(5, 3), episodes, horizon=20)
    expected = torch.stack((torch.zeros(20), 0.25 * torch.arange(1.0, 21)))
    torch.testing.assert_close(errors, expected)
    found = one_step_error(learner, units(5, 3), *episodes.pairs())
    torch.testing.assert_close(found, torch.tensor([0.0, 0.25]))


def test_the_job_learns_hopper_and_can_be_resumed(tmp_path, monkeypatch):
    whole = list(JOB.run(tmp_path / "whole", quiet))
    first = {r.metric: r.value for r in whole if (r.seed, r.step) == (0, 0)}
    last = {r.metric: r.value for r in whole if (r.seed, r.step) == (0, 40)}
    names = {"error after 1", "error after 5", "error after 20", "train error", "one-step error"}
    assert first.keys() == last.keys() == names
    assert last["train error"] < 0.95 * first["train error"]
    assert last["error after 1"] < last["error after 20"]
    stopped = tmp_path / "stopped"
    stopped.mkdir()
    monkeypatch.setattr("lff.experiments.jobs.resuming.EVERY", 0.0)

    class Killed(Exception):
        pass

    def at(self, step, own=Resumable.at):
        own(self, step)
        if step == 20:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Resumable, "at", at)
        with pytest.raises(Killed):
            JOB.run(stopped, quiet)
    assert list(JOB.run(stopped, quiet)) == whole


def test_jobs_travel_and_refuse_bad_numbers():
    assert job_from_dict(to_dict(JOB)) == JOB
    with pytest.raises(BadInputError, match="horizons"):
        DynamicsJob(env="dmc/hopper-hop", net=NET, length=10)
    with pytest.raises(BadInputError, match="hold"):
        DynamicsJob(env="dmc/hopper-hop", net=NET, hold=0)
    with pytest.raises(BadInputError, match="within an episode"):
        record("probe/action", 1, length=50, hold=5)
