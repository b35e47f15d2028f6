"""PPO's native acting against its network, alone and in a run."""

import numpy as np
import pytest
import torch

from lff.algos import PPOConfig
from lff.algos.base import Spaces
from lff.native.policy import NativePolicy, supports_policy
from lff.nn import Fourier, MLPTrunk, NetConfig
from lff.regularizers import Dropout
from lff.training import Compute, RunConfig, Schedule, train

NETS = {
    "tanh": NetConfig(trunk=MLPTrunk(hidden=(64, 37), activation="tanh")),
    "tanh behind waves": NetConfig(
        Fourier(fourier_dim=40, sigma=0.3), MLPTrunk(hidden=(33,), activation="tanh")
    ),
    "relu": NetConfig(trunk=MLPTrunk(hidden=(20, 20, 20))),
}


def build(name: str, obs: int = 17, act: int = 6, **fields):
    config = PPOConfig(actor=NETS[name], critic=NETS["relu"], **fields)
    return config.build(Spaces((obs,), act), generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("name", NETS)
@pytest.mark.parametrize("rows", [1, 3, 9])
def test_means_are_those_of_the_network(name, rows):
    agent = build(name)
    network, policy = agent.networks["actor"], NativePolicy(agent)
    x = torch.randn(rows, 17, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        np.testing.assert_allclose(policy.means(x.numpy()), network(x), rtol=2e-5, atol=1e-5)
        for parameter in network.parameters():
            parameter.mul_(1.5)  # bound by address: a change is seen
        np.testing.assert_allclose(policy.means(x.numpy()), network(x), rtol=2e-5, atol=1e-5)


def test_samples_and_greedy_actions_are_the_agents():
    agent = build("tanh")
    agent.observe(np.random.default_rng(0).normal(2, 3, (50, 17)).astype(np.float32))
    agent.log_std.fill_(-0.7)
    policy, stream = NativePolicy(agent), torch.Generator().manual_seed(3)
    obs = np.random.default_rng(1).normal(2, 3, (4, 17)).astype(np.float32)
    x, exploration = agent.normalize(obs), agent.explore(stream, (4,))
    expected = agent.choose(torch.from_numpy(x), exploration).detach()
    np.testing.assert_allclose(policy.sample(x, exploration.noise), expected, rtol=2e-5, atol=1e-5)
    greedy = agent.act(torch.from_numpy(obs[0]))
    np.testing.assert_allclose(policy.act(obs[0]), greedy, rtol=2e-5, atol=1e-5)


def test_a_row_does_not_depend_on_the_others():
    policy = NativePolicy(build("tanh behind waves", obs=5, act=2))
    x = np.random.default_rng(0).standard_normal((7, 5)).astype(np.float32)
    one_by_one = np.concatenate([policy.means(row[None]) for row in x])
    np.testing.assert_array_equal(policy.means(x), one_by_one)


def test_what_is_not_covered_is_named():
    agent = build("relu")
    agent.networks["actor"].trunk[1] = torch.nn.ELU()
    assert "ELU" in supports_policy(agent)
    assert supports_policy(build("relu", regularizers=(Dropout(p=0.1),))) == "dropout in the actor"


def test_a_run_acts_natively_and_repeats_its_bits(tmp_path, monkeypatch):
    monkeypatch.setattr("lff.training.on_policy.compile_update", lambda update: update)
    net = NETS["tanh behind waves"]
    config = RunConfig(
        env="gym/Pendulum-v1",
        algo=PPOConfig(actor=net, critic=net, rollout_steps=64, batch_size=32, epochs=2),
        steps=256,
        schedule=Schedule(eval_every=128, eval_episodes=1, log_every=64),
        compute=Compute(compile="native"),
    )
    rows = []
    for name in ("one", "two"):
        run = train(config, directory=tmp_path / name)
        assert run.info["computed"]["by"] == "native"
        assert len(run.info["computed"]["key"]) == 32
        rows.append((tmp_path / name / "metrics.jsonl").read_bytes())
    assert rows[0] == rows[1]
    assert len(rows[0].splitlines()) >= 4
