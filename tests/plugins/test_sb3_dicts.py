"""Stable-Baselines3 with dictionary observations, hindsight, and the audit on its buffers."""

from functools import partial

import numpy as np
import pytest
import torch
from stable_baselines3 import DQN, PPO, SAC, TD3, HerReplayBuffer
from stable_baselines3.common.envs import FakeImageEnv, SimpleMultiObsEnv
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize
from torch import nn

from lff import audit
from lff.nn import BasisLayer
from lff.nn.phases import measure_phases
from lff.plugins import sb3
from tests.plugins.goals import PointToGoal, success_rate

HER = {"replay_buffer_class": HerReplayBuffer}
OFF_POLICY = {"learning_starts": 40, "buffer_size": 400, "batch_size": 16, **HER}
CASES = {
    "sac": (SAC, sb3.LFFSACPolicy, PointToGoal, OFF_POLICY),
    "td3": (TD3, sb3.LFFTD3Policy, PointToGoal, OFF_POLICY),
    "dqn": (DQN, sb3.LFFDQNPolicy, partial(PointToGoal, discrete=True), OFF_POLICY),
    "ppo": (PPO, sb3.LFFPPOPolicy, PointToGoal, {"n_steps": 48, "batch_size": 24, "n_epochs": 1}),
}


def build(algorithm, **options):
    kind, policy, env, defaults = CASES[algorithm]
    kwargs = {"fourier": {"fourier_dim": 64, "sigma": 0.05}, "net_arch": [16]}
    return kind(policy, env(), policy_kwargs=kwargs, seed=0, device="cpu", **defaults | options)


def fronts(model):
    return {n: m for n, m in model.policy.named_modules() if isinstance(m, BasisLayer)}


@pytest.mark.usefixtures("unchecked")  # shape checks take most of the time
def test_hindsight_with_fourier_features_learns_a_goal_task():
    rates = {"learning_rate": 3e-3, "batch_size": 64, "gamma": 0.9, "tau": 0.02}
    sizes = {"fourier": {"fourier_dim": 64, "sigma": 0.05}, "net_arch": [64]}
    model = SAC(
        sb3.LFFSACPolicy,
        PointToGoal(),
        policy_kwargs=sizes,
        seed=0,
        device="cpu",
        buffer_size=1000,
        **HER,
        **rates,
    )
    assert success_rate(model) <= 0.1
    model.learn(800)
    assert success_rate(model) >= 0.9


@pytest.mark.parametrize("algorithm", CASES)
def test_dictionaries_are_embedded_whole_with_the_action(algorithm, tmp_path):
    model = build(algorithm)
    widths = {name.partition(".")[0]: layer.in_features for name, layer in fronts(model).items()}
    assert (
        widths
        == {
            "sac": {"actor": 6, "critic": 8, "critic_target": 8},
            "td3": {"actor": 6, "actor_target": 6, "critic": 8, "critic_target": 8},
            "dqn": {"q_net": 6, "q_net_target": 6},
            "ppo": {"mlp_extractor": 6},
        }[algorithm]
    )
    assert audit(model, show=False).ok
    model.learn(96)
    report = audit(model, show=False)
    assert report.ok, str(report)

    obs = {k: np.stack([s.sample() for _ in range(8)]) for k, s in model.observation_space.items()}
    expected, _ = model.predict(obs, deterministic=True)
    model.save(tmp_path / "model.zip")
    again = type(model).load(tmp_path / "model.zip", env=model.get_env(), device="cpu")
    np.testing.assert_array_equal(again.predict(obs, deterministic=True)[0], expected)
    model.policy.save(str(tmp_path / "policy.pt"))
    policy = type(model.policy).load(str(tmp_path / "policy.pt"), device="cpu")
    np.testing.assert_array_equal(policy.predict(obs, deterministic=True)[0], expected)


def test_the_waves_are_of_the_concatenated_parts_and_the_action():
    model = build("sac")
    names = sorted(model.observation_space)
    obs = {name: torch.randn(5, 2) for name in names}
    action = torch.rand(5, 2)
    layer, linear = model.critic.qf0[0]
    joint = torch.cat([*(obs[name] for name in names), action], dim=1)
    hidden = linear(layer(joint)).relu()
    torch.testing.assert_close(model.critic.qf0[2](hidden), model.critic(obs, action)[0])


def test_images_in_a_dictionary_are_encoded_first():
    env = SimpleMultiObsEnv(random_start=False, discrete_actions=False)
    kwargs = {"net_arch": [16], "features_extractor_kwargs": {"cnn_output_dim": 8}}
    model = SAC(sb3.LFFSACPolicy, env, policy_kwargs=kwargs, device="cpu", buffer_size=100)
    assert model.critic.qf0[0][0].in_features == 5 + 8 + 4
    assert any(isinstance(m, nn.Conv2d) for m in model.critic.modules())
    assert audit(model, show=False).ok


@pytest.mark.parametrize("algorithm", CASES)
def test_the_audit_measures_phases_on_the_models_own_buffer(algorithm):
    model = build(algorithm)
    assert all(layer.phases is None for layer in audit(model, show=False).layers)
    model.learn(96)
    before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    report = audit(model, show=False)
    assert torch.equal(before[0], torch.get_rng_state())
    np.testing.assert_array_equal(before[1], np.random.get_state()[1])  # noqa: NPY002
    points = 48 if algorithm == "ppo" else 96
    assert {layer.phases.points for layer in report.layers} == {points}
    buffer = model.rollout_buffer if algorithm == "ppo" else model.replay_buffer
    parts = [buffer.observations[name][:points].reshape(-1, 2) for name in sorted(buffer.obs_shape)]
    if algorithm in ("sac", "td3"):
        parts.append(buffer.actions[:points].reshape(-1, 2))
    x = torch.as_tensor(np.concatenate(parts, axis=1))
    names = {"dqn": "q_net.q_net.0.0", "ppo": "mlp_extractor.value_net.0.0"}
    name = names.get(algorithm, "critic.qf1.0.0")
    (found,) = (layer for layer in report.layers if layer.name == f"policy.{name}")
    assert found.phases == measure_phases(fronts(model)[name], x.float())


def test_given_observations_come_before_the_buffers():
    model = build("ppo").learn(48)
    report = audit(model, torch.randn(500, 6), show=False)
    assert report.layers[0].phases.points == 500


def test_the_buffer_is_normalized_as_the_networks_are_given_it():
    env = VecNormalize(DummyVecEnv([PointToGoal]))
    options = {"learning_starts": 40, "buffer_size": 400, "batch_size": 16}
    model = SAC(sb3.LFFSACPolicy, env, policy_kwargs={"net_arch": [16]}, device="cpu", **options)
    model.learn(60)
    raw = {n: v[:60].reshape(-1, 2) for n, v in model.replay_buffer.observations.items()}
    obs = env.normalize_obs(raw)
    x = torch.as_tensor(np.concatenate([obs[name] for name in sorted(obs)], axis=1)).float()
    actor = audit(model, show=False).layers[0]
    assert actor.name == "policy.actor.latent_pi.0.0"
    assert actor.phases == measure_phases(model.actor.latent_pi[0][0], x)
    assert not np.allclose(obs["observation"], raw["observation"])


def test_images_of_the_buffer_are_measured_per_pixel():
    env = FakeImageEnv(screen_height=36, screen_width=36, n_channels=3, discrete=True)
    kwargs = {"features_extractor_kwargs": {"features_dim": 8}}
    options = {"n_steps": 16, "batch_size": 16, "n_epochs": 1}
    model = PPO(sb3.LFFPPOCnnPolicy, env, policy_kwargs=kwargs, device="cpu", **options).learn(16)
    (layer,) = audit(model, show=False).layers
    images = torch.as_tensor(model.rollout_buffer.observations).reshape(-1, 3, 36, 36) / 255
    front = next(iter(fronts(model).values()))
    assert layer.phases == measure_phases(front, images.float())
