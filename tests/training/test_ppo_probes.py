"""PPO finds the known values and actions of the probes, each part of it in its turn."""

import numpy as np
import pytest
import torch

from lff.algos import PPOConfig
from lff.envs import make
from lff.nn import Fourier, MLPTrunk, NetConfig
from lff.runs.load import load
from lff.training import train
from tests.training.runs import run_config

MLP = NetConfig(trunk=MLPTrunk((32,), activation="tanh"))
LFF = NetConfig(Fourier(fourier_dim=16, sigma=0.1), MLPTrunk((32,), activation="tanh"))
PLACES = {
    "observation": (-1.0, 1.0),
    "two-step": (0.0, 1.0),
    "observation-action": (-0.8, 0.0, 0.7),
}


@pytest.mark.parametrize(
    ("name", "net"),
    [
        ("constant", MLP),
        ("observation", LFF),
        ("two-step", MLP),
        ("action", MLP),
        ("observation-action", MLP),
        ("observation-action", LFF),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value.front).__name__,
)
def test_probe(tmp_path, name, net):
    algo = PPOConfig(
        actor=net,
        critic=net,
        gamma=0.9,
        lr=1e-2,
        rollout_steps=128,
        batch_size=64,
        epochs=6,
        initial_std=0.5,
        value_clip=None,
        normalize_reward=name != "constant",  # its rewards do not vary
    )
    config = run_config(
        f"probe/{name}", algo, steps=2304, num_envs=4, eval_every=10_000, log_every=5_000
    )
    train(config, directory=tmp_path / "run")
    policy, env = load(tmp_path / "run"), make(f"probe/{name}", seed=0)
    for place in PLACES.get(name, (0.0,)):
        obs = np.array([place], np.float32)
        spread = policy.agent.log_std.exp().item()
        best = env.probe.best(place)
        # noise costs σ² where the action matters
        cost = spread**2 if "action" in name else 0.0
        wanted = env.optimal_value(place, gamma=0.9) - cost
        assert policy.value(obs) == pytest.approx(wanted, abs=0.08), place
        if "action" in name:
            assert policy.act(obs)[0] == pytest.approx(best, abs=0.12), place
            assert spread < 0.5
    assert torch.isfinite(policy.agent.log_std).all()
