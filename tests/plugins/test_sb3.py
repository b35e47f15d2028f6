"""Stable-Baselines3 with its own trainers: what its networks compute, learn, save and load."""

import importlib
import math
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from stable_baselines3 import A2C, DDPG, DQN, PPO, SAC, TD3
from stable_baselines3.common.envs import FakeImageEnv, SimpleMultiObsEnv
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize
from torch import nn

from lff import Fourier, audit
from lff.core.errors import BadInputError
from lff.nn import BasisLayer, LearnedFourierFeatures2d
from lff.plugins import sb3
from tests.plugins.same_network import as_ours, assert_same

SIGMA = 0.02
FOURIER = {"fourier_dim": 128, "sigma": SIGMA}
OFF_POLICY = {"learning_starts": 40, "buffer_size": 400, "batch_size": 16}
DENSE = {
    "sac": (SAC, sb3.LFFSACPolicy, "Pendulum-v1", OFF_POLICY),
    "td3": (TD3, sb3.LFFTD3Policy, "Pendulum-v1", OFF_POLICY),
    "dqn": (DQN, sb3.LFFDQNPolicy, "CartPole-v1", {**OFF_POLICY, "train_freq": 1}),
    "ppo": (PPO, sb3.LFFPPOPolicy, "Pendulum-v1", {"n_steps": 80, "batch_size": 40, "n_epochs": 2}),
}
CNN = {
    "sac": (SAC, sb3.LFFSACCnnPolicy, False, OFF_POLICY, [256, 256]),
    "td3": (TD3, sb3.LFFTD3CnnPolicy, False, OFF_POLICY, [256, 256]),
    "dqn": (DQN, sb3.LFFDQNCnnPolicy, True, OFF_POLICY, []),
    "ppo": (PPO, sb3.LFFPPOCnnPolicy, True, {"n_steps": 40, "batch_size": 20, "n_epochs": 1}, []),
}


def build(algorithm, **policy_kwargs):
    kind, policy, env, options = DENSE[algorithm]
    policy_kwargs = {"fourier": FOURIER, "net_arch": [24, 24]} | policy_kwargs
    return kind(policy, env, policy_kwargs=policy_kwargs, seed=0, device="cpu", **options)


def check_networks(model, algorithm):
    """Every network of the host gives what ours gives with its B and weights."""
    generator = torch.Generator().manual_seed(1)
    obs = torch.randn(64, *model.observation_space.shape, generator=generator)
    if algorithm in ("sac", "td3"):
        action = torch.rand(64, *model.action_space.shape, generator=generator) * 2 - 1
        for critic in (model.critic, model.critic_target):
            for q, network in zip(critic(obs, action), critic.q_networks, strict=True):
                assert_same(as_ours(network)(obs, action), q)
    if algorithm == "sac":
        mean, log_std, _ = model.actor.get_action_dist_params(obs)
        assert_same(as_ours(model.actor.latent_pi, model.actor.mu)(obs), mean)
        assert_same(as_ours(model.actor.latent_pi, model.actor.log_std)(obs), log_std)
    elif algorithm == "td3":
        assert_same(as_ours(model.actor.mu)(obs).tanh(), model.actor(obs))
    elif algorithm == "dqn":
        assert_same(as_ours(model.q_net.q_net)(obs), model.q_net(obs))
    else:
        networks = model.policy.mlp_extractor.value_net, model.policy.value_net
        ours = as_ours(*networks, activation="tanh")
        assert_same(ours(obs), model.policy.predict_values(obs))


@pytest.mark.parametrize("algorithm", DENSE)
def test_it_is_built_trained_saved_and_loaded(algorithm, tmp_path):
    model = build(algorithm)
    report = audit(model, show=False)
    assert report.ok, str(report)
    assert all(layer.spread.fits for layer in report.layers)
    online = [layer for layer in report.layers if not layer.is_target]
    assert len(online) == {"sac": 3, "td3": 3, "dqn": 1, "ppo": 1}[algorithm]
    assert all(layer.in_optimizers == 1 for layer in online)
    check_networks(model, algorithm)
    before = next(p for n, p in model.policy.named_parameters() if n.endswith("B")).detach().clone()
    model.learn(240)
    after = next(p for n, p in model.policy.named_parameters() if n.endswith("B"))
    assert not torch.equal(before, after)
    check_networks(model, algorithm)
    report = audit(model, show=False)
    assert report.ok, str(report)

    obs = np.stack([model.observation_space.sample() for _ in range(32)])
    expected, _ = model.predict(obs, deterministic=True)
    model.save(tmp_path / "model.zip")
    again = type(model).load(tmp_path / "model.zip", device="cpu")
    np.testing.assert_array_equal(again.predict(obs, deterministic=True)[0], expected)
    model.policy.save(str(tmp_path / "policy.pt"))
    policy = type(model.policy).load(str(tmp_path / "policy.pt"), device="cpu")
    np.testing.assert_array_equal(policy.predict(obs, deterministic=True)[0], expected)
    assert policy.fourier == again.policy.fourier == model.policy.fourier


@pytest.mark.parametrize(
    ("networks", "expected"),
    [("critic", {"value_net"}), ("actor", {"policy_net"}), ("both", {"value_net", "policy_net"})],
)
def test_orthogonal_initialisation_leaves_b_alone(networks, expected):
    torch.manual_seed(0)
    model = build("ppo", networks=networks)
    extractor = model.policy.mlp_extractor
    layers = {n: m for n, m in extractor.named_modules() if isinstance(m, BasisLayer)}
    assert {name.partition(".")[0] for name in layers} == expected
    for layer in layers.values():
        assert layer.B.std().item() == pytest.approx(SIGMA, rel=0.2)
    for layer in extractor.modules():
        if isinstance(layer, nn.Linear):  # the host's law: orthogonal, of norm √2
            wide = layer.weight if layer.in_features >= 24 else layer.weight.T
            expected = 2 * torch.eye(len(wide))
            torch.testing.assert_close(wide @ wide.T, expected, atol=1e-4, rtol=0)


def test_where_the_front_stands_is_a_choice():
    assert {layer.name.split(".")[1] for layer in audit(build("sac"), show=False).layers} == {
        "actor",
        "critic",
        "critic_target",
    }
    for networks, first in (("critic", "critic"), ("actor", "actor")):
        names = [x.name for x in audit(build("td3", networks=networks), show=False).layers]
        assert {name.split(".")[1].removesuffix("_target") for name in names} == {first}


def test_a_fixed_b_stays_through_training():
    model = build("sac", fourier=Fourier(**FOURIER, trainable=False))
    start = {n: b.clone() for n, b in model.policy.named_buffers() if n.endswith("B")}
    model.learn(60)
    assert len(start) == 5
    assert all(torch.equal(b, start[n]) for n, b in model.policy.named_buffers() if n in start)


def test_training_is_reproducible():
    first, second = (build("sac").learn(80).policy.parameters_to_vector() for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("algorithm", CNN)
def test_images_go_through_the_layer_pixel_by_pixel(algorithm, tmp_path):
    kind, policy, discrete, options, net_arch = CNN[algorithm]
    env = FakeImageEnv(screen_height=36, screen_width=36, n_channels=3, discrete=discrete)
    kwargs = {
        "fourier": {"fourier_dim": 16, "sigma": 0.1},
        "features_extractor_kwargs": {"features_dim": 12},
    }
    options = {**options, **({"buffer_size": 60} if "buffer_size" in options else {})}
    model = kind(policy, env, policy_kwargs=kwargs, seed=0, device="cpu", **options)
    assert model.policy.net_arch == net_arch  # as SB3's own policies for images choose
    report = audit(model, show=False)
    assert report.ok, str(report)
    assert {layer.kind for layer in report.layers} == {"LearnedFourierFeatures2d"}
    (entrance, *_) = (m for m in model.policy.modules() if isinstance(m, sb3.FourierNatureCNN))
    layer, convolution = entrance.cnn[0]
    assert isinstance(layer, LearnedFourierFeatures2d)
    assert convolution.in_channels == 16 + 3
    images = torch.rand(2, 3, 36, 36)
    expected = nn.functional.conv2d(
        torch.cat(
            [
                (p := 2 * math.pi * torch.einsum("kc,nchw->nkhw", layer.B, images)).sin(),
                p.cos(),
                images,
            ],
            dim=1,
        ),
        convolution.weight,
        convolution.bias,
        stride=4,
    )
    torch.testing.assert_close(entrance.cnn[0](images), expected, rtol=1e-5, atol=1e-5)
    model.learn(45)
    obs = np.stack([model.observation_space.sample() for _ in range(4)])
    actions = model.predict(obs, deterministic=True)[0]
    model.save(tmp_path / "model.zip")
    again = kind.load(tmp_path / "model.zip", device="cpu")
    np.testing.assert_array_equal(again.predict(obs, deterministic=True)[0], actions)
    model.policy.save(str(tmp_path / "policy.pt"))
    loaded = policy.load(str(tmp_path / "policy.pt"), device="cpu")
    np.testing.assert_array_equal(loaded.predict(obs, deterministic=True)[0], actions)


def test_it_works_under_vec_normalize(tmp_path):
    def make():
        from gymnasium import make

        return make("Pendulum-v1")

    env = VecNormalize(DummyVecEnv([make]))
    kwargs = {"fourier": FOURIER, "net_arch": [16]}
    model = SAC(sb3.LFFSACPolicy, env, policy_kwargs=kwargs, seed=0, device="cpu", **OFF_POLICY)
    model.learn(100)
    model.save(tmp_path / "model.zip")
    env.save(str(tmp_path / "statistics.pkl"))
    raw = np.array([[0.3, -0.2, 4.0]], dtype=np.float32)
    expected = model.predict(env.normalize_obs(raw), deterministic=True)[0]
    statistics = VecNormalize.load(str(tmp_path / "statistics.pkl"), DummyVecEnv([make]))
    again = SAC.load(tmp_path / "model.zip", env=statistics, device="cpu")
    actual = again.predict(statistics.normalize_obs(raw), deterministic=True)[0]
    np.testing.assert_array_equal(actual, expected)
    assert not np.allclose(env.normalize_obs(raw), raw)  # σ acts on what this gives


@pytest.mark.parametrize("algorithm", DENSE)
def test_without_policy_kwargs_the_default_is_used(algorithm):
    kind, policy, env, options = DENSE[algorithm]
    model = kind(policy, env, device="cpu", **options)
    assert model.policy.fourier == asdict(Fourier(fourier_dim=256, sigma=0.01))
    assert {layer.spread.expected for layer in audit(model, show=False).layers} == {0.01}
    assert build(algorithm, fourier={"sigma": 0.5}).policy.fourier["fourier_dim"] == 256


def test_without_policy_kwargs_images_have_their_own_default():
    model = PPO(
        sb3.LFFPPOCnnPolicy, FakeImageEnv(6, 36, 36, 3), device="cpu", n_steps=8, batch_size=8
    )
    (layer,) = audit(model, show=False).layers
    assert (layer.wave_features, layer.spread.expected) == (64, 0.1)


ALGORITHMS = {
    SAC: "LFFSACPolicy or LFFSACCnnPolicy",
    TD3: "LFFTD3Policy or LFFTD3CnnPolicy",
    DDPG: "LFFTD3Policy or LFFTD3CnnPolicy",
    PPO: "LFFPPOPolicy or LFFPPOCnnPolicy",
    A2C: "LFFPPOPolicy or LFFPPOCnnPolicy",
    DQN: "LFFDQNPolicy or LFFDQNCnnPolicy",
}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_policy_of_another_algorithm_is_refused_at_construction(algorithm):
    fitting = ALGORITHMS[algorithm]
    env = "CartPole-v1" if algorithm is DQN else "Pendulum-v1"
    for policy in sb3.POLICIES:
        if policy.__name__ not in fitting.split(" or "):
            with pytest.raises(BadInputError) as raised:
                algorithm(policy, env, device="cpu")
            assert str(raised.value) == (
                f"policy must be one for stable_baselines3.{algorithm.__name__}, "
                f"got 'lff.plugins.sb3.{policy.__name__}'; use {fitting}"
            )


def test_a_subclass_of_an_algorithm_and_of_a_policy_may_go_together():
    class MySAC(SAC):
        pass

    class MyPolicy(sb3.LFFSACPolicy):
        pass

    model = MySAC(MyPolicy, "Pendulum-v1", device="cpu", buffer_size=10)
    assert audit(model, show=False).ok
    with pytest.raises(BadInputError, match=r"one for stable_baselines3\.PPO"):
        PPO(MyPolicy, "Pendulum-v1", device="cpu")


@pytest.mark.parametrize(
    ("policy", "env", "words"),
    [
        (
            sb3.LFFPPOPolicy,
            FakeImageEnv(6, 36, 36, 3),
            "a vector or a dict, got 'an image'; use the",
        ),
        (sb3.LFFPPOCnnPolicy, "Pendulum-v1", r"must be an image, got Box.*; use the policy witho"),
        (sb3.LFFPPOCnnPolicy, SimpleMultiObsEnv(), r"must be an image, got Dict.*; use the policy"),
    ],
)
def test_observations_of_another_kind_are_refused(policy, env, words):
    with pytest.raises(BadInputError, match=words):
        PPO(policy, env, device="cpu")


@pytest.mark.parametrize(
    ("kwargs", "words"),
    [
        ({"fourier": 256}, r"fourier must be a dict .* got 256; pass .* policy_kwargs"),
        ({"fourier": {"fourier_dim": 7, "sigma": 0.1}}, r"fourier_dim must be .* even"),
        ({"fourier": {"fourier_dim": 8, "sigm": 0.1}}, r"got 'sigm'; did you mean sigma"),
        ({"networks": "critics"}, r"networks must be one of both, critic, actor"),
        ({"net_arch": []}, r"net_arch of the actor must be one layer or more"),
        ({"share_features_extractor": True}, r"must be False, got True; SB3 trains a shared"),
    ],
)
def test_bad_choices_are_told_in_one_line(kwargs, words):
    with pytest.raises(BadInputError, match=words):
        build("sac", **kwargs)


def test_the_file_for_the_zoo_builds_what_it_says():
    """RL-Zoo reads it so: a dotted policy is imported, n_timesteps is its own, the rest SAC's."""
    root = Path(__file__).parents[2]
    tasks = yaml.safe_load((root / "examples/rl_zoo/sac_lff.yml").read_text())
    settings = tasks["Pendulum-v1"]
    module, _, name = settings.pop("policy").rpartition(".")
    policy = getattr(importlib.import_module(module), name)
    assert settings.pop("n_timesteps") > 0
    model = SAC(policy, "Pendulum-v1", device="cpu", buffer_size=100, **settings)
    assert model.policy.fourier["sigma"] == 0.01
    assert audit(model, show=False).ok
