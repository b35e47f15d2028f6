"""TD3: one update against autograd and torch.optim in float64, and what its options do."""

import copy

import pytest
import torch

from lff import Fourier, MLPTrunk, NetConfig
from lff.algos import ALGORITHMS, NoTarget, PolyakTarget, Spaces
from lff.algos.base import Exploration
from lff.algos.td3 import TD3Config
from lff.core import BadInputError, digest, from_dict, to_dict
from lff.regularizers import Dropout, FunctionalRegularization, LayerNorm
from lff.training import RunConfig
from tests.algos.batches import random_batch
from tests.training.runs import assert_learns_the_probe, small

LFF = NetConfig(Fourier(fourier_dim=8, sigma=0.1), MLPTrunk((16, 16)))
MLP = NetConfig(trunk=MLPTrunk((16, 16)))
OBS, ACT, SIZE = 5, 2, 32
EXACT = {"rtol": 1e-10, "atol": 1e-10}


def make(seed=0, net=LFF, **options):
    config = TD3Config(actor=net, critic=net, batch_size=SIZE, **options)
    return config.build(Spaces((OBS,), ACT), generator=torch.Generator().manual_seed(seed))


def draw(agent, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return random_batch(generator, size=SIZE, obs=OBS, act=ACT), agent.draw(generator, SIZE)


class Reference:
    """The same updates by autograd and torch.optim.Adam, critics in a loop, line by line."""

    def __init__(self, agent):
        self.config = agent.config
        self.actor = copy.deepcopy(agent.networks["actor"]).requires_grad_()
        count = self.config.num_critics
        self.critics = [agent.networks["critic"].member(i).requires_grad_() for i in range(count)]
        self.actor_target = copy.deepcopy(self.actor)
        self.critic_targets = copy.deepcopy(self.critics)
        weights = [p for critic in self.critics for p in critic.parameters()]
        self.critic_adam = torch.optim.Adam(weights, lr=self.config.critic_lr)
        self.actor_adam = torch.optim.Adam(self.actor.parameters(), lr=self.config.actor_lr)
        self.actor_updates = 0

    def update(self, batch, noise, *, actor):
        config = self.config
        bare = isinstance(config.target, NoTarget)
        with torch.no_grad():
            policy = self.actor if bare else self.actor_target
            critics = self.critics if bare else self.critic_targets
            epsilon = config.smoothing * noise.smoothing
            epsilon = epsilon.clamp(-config.smoothing_clip, config.smoothing_clip)
            next_action = (policy(batch.next_obs).tanh() + epsilon).clamp(-1, 1)
            next_q = torch.stack([q(batch.next_obs, next_action)[:, 0] for q in critics])
            y = batch.reward + config.gamma * (1 - batch.terminated.double()) * next_q.amin(0)
            y = y + config.target_noise * noise.target
        values = torch.stack([q(batch.obs, batch.action)[:, 0] for q in self.critics])
        critic_loss = sum((q - y).square().mean() for q in values)
        self.critic_adam.zero_grad()
        critic_loss.backward()
        self.critic_adam.step()
        metrics = {
            "train/critic_loss": critic_loss.detach(),
            "train/q_mean": values.detach().mean(),
            "train/q_max": values.detach().abs().max(),
            "train/target_q_mean": y.mean(),
        }
        if actor:
            actor_loss = -self.critics[0](batch.obs, self.actor(batch.obs).tanh()).mean()
            self.actor_adam.zero_grad()
            actor_loss.backward()
            self.actor_adam.step()
            metrics["train/actor_loss"] = actor_loss.detach()
            self.actor_updates += 1
            if not bare and self.actor_updates % config.target.period == 0:
                self._move(self.actor_target, self.actor)
                for target, critic in zip(self.critic_targets, self.critics, strict=True):
                    self._move(target, critic)
        return metrics

    def _move(self, target, source):
        with torch.no_grad():
            for old, new in zip(target.parameters(), source.parameters(), strict=True):
                old.mul_(1 - self.config.target.tau).add_(self.config.target.tau * new)

    def check(self, agent):
        pairs = [(agent.networks["actor"], self.actor)]
        pairs += [(agent.networks["critic"].member(i), q) for i, q in enumerate(self.critics)]
        if not isinstance(self.config.target, NoTarget):
            pairs += [(agent.networks["actor_target"], self.actor_target)]
            target = agent.networks["critic_target"]
            pairs += [(target.member(i), q) for i, q in enumerate(self.critic_targets)]
        for ours, theirs in pairs:
            expected = dict(theirs.named_parameters())
            assert expected.keys() == dict(ours.named_parameters()).keys()
            for name, value in ours.named_parameters():
                torch.testing.assert_close(value.data, expected[name].data, **EXACT, msg=name)


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("pattern", [(False,), (True,), (False, True, False, True)], ids=str)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"net": MLP},
        {"num_critics": 1},
        {"num_critics": 3},
        {"target": NoTarget()},
        {"target": PolyakTarget(tau=0.3, period=2)},
        {"target_noise": 3.0},
        {"smoothing": 3.0, "smoothing_clip": 0.05},
        {"regularizers": (LayerNorm(),)},
        {"gamma": 0.5, "critic_lr": 1e-2, "actor_lr": 3e-3},
    ],
    ids=str,
)
def test_updates_equal_autograd_and_torch_optim(options, pattern):
    agent = make(**options)
    reference = Reference(agent)
    for seed, actor in enumerate(pattern):
        batch, noise = draw(agent, seed)
        expected = reference.update(batch, noise, actor=actor)
        metrics = agent.update(batch, noise, actor=actor)
        assert metrics.keys() == expected.keys()
        for name, value in expected.items():
            torch.testing.assert_close(metrics[name], value, **EXACT, msg=name)
        reference.check(agent)


def test_without_the_actor_only_the_critics_move():
    agent = make()
    before = {name: value.clone() for name, value in agent.state().items()}
    agent.update(*draw(agent), actor=False)
    changed = {n.split("/")[0] for n, v in agent.state().items() if not torch.equal(v, before[n])}
    assert "critic" in changed
    assert not changed & {"actor", "target"}


def test_smoothing_is_clipped_and_actions_stay_in_range():
    agent = make(smoothing=0.2, smoothing_clip=0.5)
    batch, noise = draw(agent)
    large = noise._replace(smoothing=torch.full_like(noise.smoothing, 100.0))
    clip = noise._replace(smoothing=torch.full_like(noise.smoothing, 2.5))
    above = noise._replace(smoothing=torch.full_like(noise.smoothing, 2.0))
    assert torch.equal(agent._target_values(batch, large), agent._target_values(batch, clip))
    assert not torch.equal(agent._target_values(batch, above), agent._target_values(batch, clip))
    wide = make(smoothing=10.0, smoothing_clip=10.0)
    best = wide._target_values(batch, clip)  # 25 is clipped to 10, the action to 1
    obs, ones = batch.next_obs, torch.ones(SIZE, ACT)
    q = wide.critic(obs, ones, parameters=wide.targets["critic"]).squeeze(-1).amin(0)
    torch.testing.assert_close(best, batch.reward + 0.99 * ~batch.terminated * q)


def test_no_target_network_is_kept_from_the_tools_and_bootstraps_from_the_critics():
    agent, usual = make(target=NoTarget()), make()
    assert {*agent.networks} == {"actor", "critic"}
    assert {*usual.networks} == {"actor", "critic", "actor_target", "critic_target"}
    batch, noise = draw(agent)
    first = agent._target_values(batch, noise)
    torch.testing.assert_close(first, usual._target_values(batch, noise))  # targets are copies
    for one in (agent, usual):
        one.critic.parameters["stacked.trunk.4.bias"].add_(1.0)
    assert torch.equal(usual._target_values(batch, noise), first)
    torch.testing.assert_close(
        agent._target_values(batch, noise), first + 0.99 * ~batch.terminated * 1.0
    )


def test_act_is_the_policy_with_clipped_noise():
    agent = make(exploration=0.1)
    obs, noise = torch.randn(3, OBS), 20 * torch.randn(3, ACT)
    mean = agent.actor(obs).tanh()
    torch.testing.assert_close(agent.act(obs), mean)
    torch.testing.assert_close(
        agent.act(obs, Exploration(noise)), (mean + 0.1 * noise).clamp(-1, 1)
    )


def test_dropout_masks_are_drawn_for_every_pass():
    agent = make(regularizers=(Dropout(p=0.2),))
    batch, noise = draw(agent)
    assert {"critic", "actor_critic", "next_critic"} <= {*noise.masks}
    again = make(regularizers=(Dropout(p=0.2),))
    one, other = agent.update(batch, noise), again.update(batch, noise)
    assert all(torch.equal(value, other[name]) for name, value in one.items())


def test_state_round_trip_continues_bit_for_bit():
    one, other = make(seed=0), make(seed=1)
    for step in range(3):
        one.update(*draw(one, step), actor=step % 2 == 1)
    other.load_state({name: value.clone() for name, value in one.state().items()})
    for step in range(3, 6):
        for agent in (one, other):
            agent.update(*draw(one, step), actor=step % 2 == 1)
    states = zip(one.state().values(), other.state().values(), strict=True)
    assert all(torch.equal(a, b) for a, b in states)


def test_config_travels_by_its_tag():
    config = TD3Config(actor=LFF, critic=MLP, target=NoTarget(), smoothing=0.3)
    data = to_dict(config)
    assert data["type"] == "td3"
    again = from_dict(ALGORITHMS[data["type"]], data)
    assert again == config
    assert digest(again) == digest(config)
    run = small("probe/action", algo=config)
    assert from_dict(RunConfig, to_dict(run)) == run


def test_functional_regularization_is_refused():
    with pytest.raises(BadInputError, match="for SAC"):
        TD3Config(actor=LFF, critic=LFF, regularizers=(FunctionalRegularization(kappa=1.0),))


def test_images_are_refused():
    with pytest.raises(BadInputError, match="a vector"):
        TD3Config(actor=LFF, critic=LFF).build(Spaces((3, 8, 8), 1))


@pytest.mark.usefixtures("unchecked")
def test_it_finds_the_known_action(tmp_path):
    """The best action of probe/observation-action is half the observation, its value 0."""
    net = NetConfig(Fourier(fourier_dim=32, sigma=0.1), MLPTrunk((64, 64)))
    algo = TD3Config(
        actor=net,
        critic=net,
        batch_size=64,
        actor_lr=3e-3,
        critic_lr=3e-3,
        target=PolyakTarget(tau=0.05, period=1),
    )
    assert_learns_the_probe(algo, tmp_path / "run", steps=600, near=0.1)
