"""The peers of the benchmarks compute what we compute: equal losses from equal weights."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from lff import Fourier, MLPTrunk, NetConfig
from lff.algos import LearnedAlpha, PPOConfig, SACConfig, Spaces
from lff.algos.base import Minibatch
from lff.algos.sac import Noise
from lff.data.rollout import Rollout
from tests.algos.batches import random_batch

FOLDER = str(Path(__file__).parents[2] / "benchmarks")
OBS, ACT, SIZE, WIDTH = 5, 2, 64, 16


@pytest.fixture
def scripts(monkeypatch):
    """The benchmarks are scripts: they find one another by their folder."""
    monkeypatch.syspath_prepend(FOLDER)
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(FOLDER):
            del sys.modules[name]


def draw_batch(g):
    return random_batch(g, size=SIZE, obs=OBS, act=ACT)


def build(net, **rates):
    config = SACConfig(
        actor=net, critic=net, batch_size=SIZE, alpha=LearnedAlpha(initial=0.3), **rates
    )
    return config.build(Spaces((OBS,), ACT), generator=torch.Generator().manual_seed(0))


def our_losses(agent, batch, noise):
    """The losses of one update, that of α included, which the metrics leave out."""
    metrics = agent.update(batch, noise)
    alpha_loss = metrics["train/alpha"] * (metrics["train/entropy"] - agent.alpha.target_entropy)
    return metrics["train/critic_loss"], metrics["train/actor_loss"], alpha_loss


def assert_close(actual, expected):
    for one, other in zip(actual, expected, strict=True):
        torch.testing.assert_close(one.squeeze(), other.squeeze(), rtol=1e-4, atol=1e-5)


@pytest.mark.usefixtures("scripts")
def test_the_authors_form_has_our_losses_for_several_updates(rng):
    from authors_style import Agent

    net = NetConfig(Fourier(fourier_dim=8, sigma=0.1), MLPTrunk((WIDTH, WIDTH)))
    ours = build(net, actor_lr=1e-3, critic_lr=1e-3)
    theirs = Agent(ours.config, OBS, ACT)
    theirs.actor.load_state_dict(ours.actor.network.state_dict())
    for critics in (theirs.critics, theirs.targets):
        for index, critic in enumerate(critics):
            critic.load_state_dict(ours.critic.network.member(index).state_dict())
    for _ in range(5):  # weights, moments, α and targets move alike
        batch, noise = draw_batch(rng), ours.draw(rng, SIZE)
        assert_close(theirs.update(batch, noise), our_losses(ours, batch, noise))


def copy_layers(net, source):
    """Give a network the linear layers of another."""
    layers, others = (
        [m for m in n.modules() if isinstance(m, torch.nn.Linear)] for n in (net, source)
    )
    for layer, other in zip(layers, others, strict=True):
        layer.load_state_dict(other.state_dict())


def split_head(source, actor):
    """Give the peer's actor our weights; it has a layer each for mean and log-std."""
    first, second, head = (m for m in source.modules() if isinstance(m, torch.nn.Linear))
    actor.fc1.load_state_dict(first.state_dict())
    actor.fc2.load_state_dict(second.state_dict())
    for layer, part in ((actor.fc_mean, slice(ACT)), (actor.fc_logstd, slice(ACT, None))):
        layer.load_state_dict({"weight": head.weight[part], "bias": head.bias[part]})


@pytest.mark.usefixtures("scripts")
def test_the_single_file_form_has_our_losses(rng):
    from cleanrl_style import GAMMA, Agent

    ours = build(NetConfig(trunk=MLPTrunk((WIDTH, WIDTH))), actor_lr=0.0)
    assert ours.config.gamma == GAMMA
    theirs = Agent(OBS, ACT, width=WIDTH)
    for index in range(2):
        for net in ((theirs.qf1, theirs.qf1_target), (theirs.qf2, theirs.qf2_target))[index]:
            copy_layers(net, ours.critic.network.member(index))
    split_head(ours.actor.network, theirs.actor)
    with torch.no_grad():
        theirs.log_alpha.copy_(ours.alpha.log_alpha)
    # small noise: near ±1 their log-probability is cut off by the 1e-6 inside its logarithm
    batch, noise = draw_batch(rng), Noise(*(0.2 * n for n in ours.draw(rng, SIZE)[:3]))
    data = SimpleNamespace(
        observations=batch.obs,
        actions=batch.action,
        next_observations=batch.next_obs,
        rewards=batch.reward[:, None],
        dones=batch.terminated[:, None].float(),
    )
    alpha = theirs.log_alpha.exp().item()
    critic_loss = theirs.critic_loss(data, alpha, noise.next_action)
    critic, actor, alpha_loss = our_losses(ours, batch, noise)
    # our critics have moved by now, and the actor's loss is that of the moved ones
    copy_layers(theirs.qf1, ours.critic.network.member(0))
    copy_layers(theirs.qf2, ours.critic.network.member(1))
    theirs_losses = (
        critic_loss,
        theirs.actor_loss(data, alpha, noise.action),
        theirs.alpha_loss(data, noise.action),
    )
    assert_close([loss.detach() for loss in theirs_losses], (critic, actor, alpha_loss))


@pytest.mark.usefixtures("scripts")
def test_the_single_file_form_of_ppo_does_our_updates(rng):
    from cleanrl_ppo import Agent, learn

    net = NetConfig(trunk=MLPTrunk((WIDTH, WIDTH), activation="tanh"))
    config = PPOConfig(actor=net, critic=net, rollout_steps=SIZE, batch_size=SIZE, epochs=1)
    ours = config.build(Spaces((OBS,), ACT), generator=torch.Generator().manual_seed(0))
    rollout = Rollout(SIZE, envs=1, obs_dim=OBS, action_dim=ACT)
    for value in (rollout.obs, rollout.action, rollout.reward, rollout.next_obs):
        value.normal_(generator=rng)
    rollout.valid.fill_(value=True)
    sample, _ = ours.prepare(rollout)
    theirs = Agent(OBS, ACT, WIDTH)
    copy_layers(theirs.actor_mean, ours.actor.network)
    copy_layers(theirs.critic, ours.critic.network)
    adam = torch.optim.Adam(theirs.parameters(), lr=3e-4, eps=1e-5)
    columns = (
        sample.obs,
        sample.action,
        sample.log_prob,
        sample.advantage,
        sample.target,
        sample.value,
    )
    learn(theirs, adam, columns, rollout=SIZE, batch=SIZE, epochs=1)
    ours.update(Minibatch(sample, torch.arange(SIZE)), {})
    for net, other in (
        (theirs.actor_mean, ours.actor.network),
        (theirs.critic, ours.critic.network),
    ):
        for mine, its in zip(other.parameters(), net.parameters(), strict=True):
            torch.testing.assert_close(mine.data, its.data, rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(ours.log_std, theirs.actor_logstd.data[0], rtol=1e-4, atol=1e-6)
