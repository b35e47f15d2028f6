"""Tianshou's SAC and PPO, built by hand and by its high-level interface, with our front."""

import os
from types import SimpleNamespace

os.environ.setdefault("NUMBA_DISABLE_JIT", "1")  # compiling takes longer than these tests

import gymnasium
import numpy as np
import pytest
import torch
from tianshou.algorithm import PPO, SAC
from tianshou.algorithm.modelfree.reinforce import ProbabilisticActorPolicy
from tianshou.algorithm.modelfree.sac import AutoAlpha, SACPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.highlevel.env import EnvType
from tianshou.highlevel.module.actor import ActorFactoryDefault, ContinuousActorType
from tianshou.trainer import OffPolicyTrainerParams, OnPolicyTrainerParams
from tianshou.utils.net.continuous import ContinuousActorProbabilistic, ContinuousCritic
from torch import nn
from torch.distributions import Independent, Normal

from lff import Fourier, audit
from lff.core.errors import BadInputError
from lff.nn import BasisLayer
from lff.plugins.tianshou import FourierActorFactory, FourierCriticFactory, FourierNet
from tests.auditing.agents import problems
from tests.plugins.same_network import as_ours, assert_same

FOURIER = Fourier(fourier_dim=128, sigma=0.02)
HIDDEN = (16, 16)
RATE = AdamOptimizerFactory(lr=1e-3)
QUIET = {"show_progress": False, "verbose": False, "max_epochs": 1}


def make_env():
    return gymnasium.make("Pendulum-v1")


def make_critic(**options):
    net = FourierNet(
        state_shape=3, action_shape=1, concat=True, hidden_sizes=HIDDEN, fourier=FOURIER
    )
    return ContinuousCritic(preprocess_net=net, **options)


def make_actor(**options):
    net = FourierNet(state_shape=3, hidden_sizes=HIDDEN, fourier=FOURIER)
    return ContinuousActorProbabilistic(preprocess_net=net, action_shape=1, **options)


def make_sac(critic=None, critic2=None, actor=None):
    torch.manual_seed(0)
    env = make_env()
    policy = SACPolicy(
        actor=actor or make_actor(unbounded=True, conditioned_sigma=True),
        action_space=env.action_space,
        observation_space=env.observation_space,
    )
    return SAC(
        policy=policy,
        policy_optim=RATE,
        critic=critic or make_critic(),
        critic_optim=RATE,
        critic2=critic2 if critic else make_critic(),
        critic2_optim=RATE,
        alpha=AutoAlpha(-1.0, 0.0, RATE),
    )


def collect(algorithm, **options):
    envs = DummyVectorEnv([make_env])
    collector = Collector(algorithm, envs, VectorReplayBuffer(400, 1), **options)
    collector.reset()
    return collector


def act(algorithm, obs):
    with torch.no_grad():
        return algorithm.policy(Batch(obs=obs, info={})).act


def test_sac_is_built_trained_saved_and_loaded():
    algorithm = make_sac()
    report = audit(algorithm, show=False)
    assert report.ok, str(report)
    assert len(report.layers) == 5
    assert sum(layer.in_optimizers for layer in report.layers) == 3
    obs, action = torch.randn(32, 3), torch.rand(32, 1)
    for critic in (algorithm.critic, algorithm.critic2):
        assert_same(as_ours(critic)(obs, action), critic(obs, action))
    (mean, _), _ = algorithm.policy.actor(obs)
    actor = algorithm.policy.actor
    assert_same(as_ours(actor.preprocess, actor.mu)(obs), mean)

    collector = collect(algorithm, exploration_noise=True)
    collector.collect(n_step=40, random=True)
    settings = {"epoch_num_steps": 200, "collection_step_num_env_steps": 1, "batch_size": 16}
    algorithm.run_training(
        OffPolicyTrainerParams(training_collector=collector, **settings, **QUIET)
    )
    report = audit(algorithm, show=False)
    assert report.ok, str(report)
    assert report.layers[0].steps == 200
    again = make_sac()
    again.load_state_dict(algorithm.state_dict())
    for one in (algorithm, again):
        one.policy.eval()
    torch.testing.assert_close(act(again, obs.numpy()), act(algorithm, obs.numpy()), rtol=0, atol=0)


def test_ppo_is_built_and_trained():
    torch.manual_seed(0)
    env = make_env()
    net = FourierNet(state_shape=3, hidden_sizes=HIDDEN, fourier=FOURIER, activation=nn.Tanh)
    policy = ProbabilisticActorPolicy(
        actor=make_actor(),
        dist_fn=lambda parameters: Independent(Normal(*parameters), 1),
        action_space=env.action_space,
        observation_space=env.observation_space,
    )
    critic = ContinuousCritic(preprocess_net=net)
    algorithm = PPO(policy=policy, critic=critic, optim=RATE)
    obs = torch.randn(16, 3)
    assert_same(as_ours(critic, activation="tanh")(obs), critic(obs))
    settings = {"epoch_num_steps": 80, "collection_step_num_env_steps": 80, "batch_size": 40}
    algorithm.run_training(
        OnPolicyTrainerParams(training_collector=collect(algorithm), **settings, **QUIET)
    )
    report = audit(algorithm, show=False)
    assert report.ok, str(report)
    assert [layer.in_optimizers for layer in report.layers] == [1, 1]


def test_factories_of_the_high_level_interface():
    env = make_env()
    envs = SimpleNamespace(
        get_type=lambda: EnvType.CONTINUOUS,
        get_observation_shape=lambda: env.observation_space.shape,
        get_action_shape=lambda: env.action_space.shape,
    )
    torch.manual_seed(0)
    inner = ActorFactoryDefault(ContinuousActorType.GAUSSIAN, HIDDEN, continuous_unbounded=True)
    factory = FourierActorFactory(FOURIER, inner)
    actor = factory.create_module(envs, "cpu")
    critics = [FourierCriticFactory(FOURIER, HIDDEN).create_module(envs, "cpu", True)] * 1
    critics.append(FourierCriticFactory(FOURIER, HIDDEN).create_module(envs, "cpu", True))
    value = FourierCriticFactory(FOURIER, HIDDEN).create_module(envs, "cpu", False)
    assert factory.create_dist_fn(envs) is not None
    for module, width in ((actor, 3), (critics[0], 4), (critics[1], 4), (value, 3)):
        (layer,) = (m for m in module.modules() if isinstance(m, BasisLayer))
        assert layer.in_features == width
        assert layer.B.std().item() == pytest.approx(0.02, rel=0.2)  # orthogonal_ was here
        first = next(m for m in module.modules() if isinstance(m, nn.Linear))
        gram = first.weight @ first.weight.T
        torch.testing.assert_close(gram, 2 * torch.eye(16), atol=1e-4, rtol=0)
    algorithm = make_sac(*critics, actor=actor)
    assert audit(algorithm, show=False).ok
    assert_same(
        as_ours(critics[0])(torch.ones(1, 3), torch.ones(1, 1)),
        critics[0](np.ones((1, 3)), np.ones((1, 1))),
    )


def test_a_second_critic_that_is_a_copy_is_found():
    report = audit(make_sac(make_critic()), show=False)
    assert [check for check, _ in problems(report)] == ["shared"]
    assert "have equal B in two tensors" in str(report)


def test_waves_of_the_observation_alone_are_found():
    def behind():
        net = FourierNet(state_shape=3, hidden_sizes=(16,), fourier=FOURIER)
        critic = ContinuousCritic(preprocess_net=net, apply_preprocess_net_to_obs_only=True)
        critic.last = nn.Linear(net.get_output_dim() + 1, 1)
        return critic

    report = audit(make_sac(behind(), behind()), show=False)
    assert {check for check, _ in problems(report)} == {"action"}
    assert len(problems(report)) == 2


def test_bad_choices_are_told_in_one_line():
    with pytest.raises(BadInputError, match=r"fourier must be a dict or lff\.nn\.Fourier"):
        FourierCriticFactory(8)
    with pytest.raises(BadInputError, match="did you mean sigma"):
        FourierCriticFactory({"fourier_dim": 8, "sigm": 0.1})
    assert FourierCriticFactory({"fourier_dim": 8}).fourier == Fourier(fourier_dim=8, sigma=0.01)
    with pytest.raises(BadInputError, match="hidden_sizes must be at least one item"):
        FourierNet(state_shape=3, hidden_sizes=(), fourier=FOURIER)
