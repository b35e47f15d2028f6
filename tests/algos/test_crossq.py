"""CrossQ: updates against a reference written by hand in float64, and what its options do."""

import math

import pytest
import torch

from lff import Fourier, MLPTrunk, NetConfig
from lff.algos import ALGORITHMS, FixedAlpha, PolyakTarget, Spaces
from lff.algos.crossq import CrossQConfig
from lff.core import BadInputError, digest, from_dict, to_dict
from lff.nn import SimBaTrunk
from lff.nn.batch_norm import BatchNorm
from lff.regularizers import Dropout, FunctionalRegularization
from lff.training import RunConfig
from tests.algos.batches import random_batch
from tests.training.runs import assert_learns_the_probe, small

MLP = NetConfig(trunk=MLPTrunk((16, 12)))
OBS, ACT, SIZE = 5, 2, 32
EXACT = {"rtol": 1e-10, "atol": 1e-10}


def make(seed=0, net=MLP, **options):
    config = CrossQConfig(actor=net, critic=net, batch_size=SIZE, **options)
    return config.build(Spaces((OBS,), ACT), generator=torch.Generator().manual_seed(seed))


def draw(agent, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return random_batch(generator, size=SIZE, obs=OBS, act=ACT), agent.draw(generator, SIZE)


class Net:
    """An MLP with batch norm from the numbers of a state: three norms, three matrices."""

    def __init__(self, state):
        self.weights = {n: x.clone().requires_grad_() for n, x in state.items() if n[-1] in "tsb"}
        self.running = {n: x.clone() for n, x in state.items() if n not in self.weights}

    def __call__(self, x, *, learning=False):
        w = self.weights
        x = self._norm("front.0", x, learning)
        x = x @ w["trunk.0.weight"] + w["trunk.0.bias"]
        x = self._norm("trunk.1.1", torch.clamp(x, min=0), learning)
        x = x @ w["trunk.2.weight"] + w["trunk.2.bias"]
        x = self._norm("trunk.3.1", torch.clamp(x, min=0), learning)
        return x @ w["trunk.4.weight"] + w["trunk.4.bias"]

    def _norm(self, name, x, learning):
        mean, var = self.running[f"{name}.mean"], self.running[f"{name}.var"]
        if learning:
            old = mean, var
            mean = x.sum(0) / len(x)
            var = ((x - mean) ** 2).sum(0) / len(x)
            self.running[f"{name}.mean"] = 0.99 * old[0] + 0.01 * mean.detach()
            self.running[f"{name}.var"] = 0.99 * old[1] + 0.01 * var.detach()
        scale, shift = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        return (x - mean) / torch.sqrt(var + 0.001) * scale + shift


class Reference:
    """The published update on plain tensors, with autograd and torch.optim.Adam."""

    def __init__(self, agent):
        self.config, state = agent.config, agent.state()
        self.actor = Net(self._part(state, "actor/"))
        self.critics = [
            Net(self._part(state, "critic/stacked.", i)) for i in range(self.config.num_critics)
        ]
        self.log_alpha = state["alpha/log"].clone().requires_grad_()
        weights = [p for critic in self.critics for p in critic.weights.values()]
        betas = {"betas": (0.5, 0.999)}
        self.critic_adam = torch.optim.Adam(weights, lr=self.config.critic_lr, **betas)
        own = self.actor.weights.values()
        self.actor_adam = torch.optim.Adam(own, lr=self.config.actor_lr, **betas)
        self.alpha_adam = torch.optim.Adam([self.log_alpha], lr=self.config.alpha.lr)

    @staticmethod
    def _part(state, prefix, member=None):
        part = {n.removeprefix(prefix): x.data for n, x in state.items() if n.startswith(prefix)}
        if member is None:  # nn.Linear has (out, in)
            return {n: x.T if x.ndim == 2 else x for n, x in part.items()}
        return {n: x[member, 0] if x.shape[1] == 1 else x[member] for n, x in part.items()}

    def policy(self, obs, noise, *, learning):
        mean, raw = self.actor(obs, learning=learning).chunk(2, dim=-1)
        log_std = -5 + 3.5 * (torch.tanh(raw) + 1)
        u = mean + torch.exp(log_std) * noise
        action = torch.tanh(u)
        normal = torch.distributions.Normal(mean, torch.exp(log_std)).log_prob(u)
        slope = 2 * (math.log(2) - u - torch.nn.functional.softplus(-2 * u))
        return action, (normal - slope).sum(-1)

    def update(self, batch, noise, *, actor):
        config, alpha = self.config, torch.exp(self.log_alpha.detach())
        with torch.no_grad():
            next_action, next_log = self.policy(batch.next_obs, noise.next_action, learning=False)
        first = torch.cat((batch.obs, batch.action), dim=1)
        second = torch.cat((batch.next_obs, next_action), dim=1)
        values = [q(torch.cat((first, second)), learning=True)[:, 0] for q in self.critics]
        q, next_q = (torch.stack([v[part] for v in values]) for part in HALVES)
        value = next_q.min(dim=0).values - alpha * next_log
        y = batch.reward + config.gamma * (1 - batch.terminated.double()) * value
        y = (y + config.target_noise * noise.target).detach()
        critic_loss = sum(0.5 * ((one - y) ** 2).mean() for one in q)
        self.critic_adam.zero_grad()
        critic_loss.backward()
        self.critic_adam.step()
        self.gradients = [{n: p.grad.clone() for n, p in q.weights.items()} for q in self.critics]
        metrics = {
            "train/critic_loss": critic_loss.detach(),
            "train/q_mean": q.detach().mean(),
            "train/q_max": q.detach().abs().max(),
            "train/target_q_mean": y.mean(),
            "train/alpha": alpha,
        }
        if actor:
            action, log_prob = self.policy(batch.obs, noise.action, learning=True)
            x = torch.cat((batch.obs, action), dim=1)
            q = torch.stack([critic(x)[:, 0] for critic in self.critics]).min(dim=0).values
            loss = (alpha * log_prob - q).mean()
            self.actor_adam.zero_grad()
            loss.backward()
            self.actor_adam.step()
            self.alpha_adam.zero_grad()
            (torch.exp(self.log_alpha) * (-log_prob.detach().mean() + ACT)).backward()
            self.alpha_adam.step()
            metrics["train/actor_loss"] = loss.detach()
            metrics["train/entropy"] = -log_prob.detach().mean()
        return metrics

    def check(self, agent):
        state = agent.state()
        pairs = [(self._part(state, "actor/"), self.actor)]
        pairs += [(self._part(state, "critic/stacked.", i), q) for i, q in enumerate(self.critics)]
        for ours, net in pairs:
            theirs = net.weights | net.running
            assert ours.keys() == theirs.keys()
            assert len(theirs) == 18
            for name, value in theirs.items():
                torch.testing.assert_close(ours[name], value.detach(), **EXACT, msg=name)
        torch.testing.assert_close(state["alpha/log"].data, self.log_alpha.detach(), **EXACT)


HALVES = slice(None, SIZE), slice(SIZE, None)


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("pattern", [(False,), (True,), (True, False, False, True)], ids=str)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"num_critics": 1},
        {"num_critics": 3, "target_noise": 3.0},
        {"gamma": 0.5, "critic_lr": 1e-2, "actor_lr": 3e-3},
    ],
    ids=str,
)
def test_updates_equal_a_reference_by_hand(options, pattern):
    """Losses, weights after Adam and running statistics; the reference knows none of our layers."""
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
    obs = torch.randn(7, OBS)
    mean = reference.actor(obs).detach()[:, :ACT]
    torch.testing.assert_close(agent.act(obs), torch.tanh(mean), **EXACT)


@pytest.mark.usefixtures("double")
def test_the_gradient_of_one_update_is_the_references():
    """Adam's first step hides a factor of the gradient; its first moment does not."""
    agent = make()
    reference = Reference(agent)
    batch, noise = draw(agent)
    reference.update(batch, noise, actor=True)
    agent.update(batch, noise, actor=True)
    state = agent.state()
    for i, gradients in enumerate(reference.gradients):
        first = Reference._part(state, "adam/critic/first/stacked.", i)
        for name, gradient in gradients.items():
            torch.testing.assert_close(first[name], 0.5 * gradient, **EXACT, msg=name)
    first = Reference._part(state, "adam/actor/first/")
    for name, weight in reference.actor.weights.items():
        torch.testing.assert_close(first[name], 0.5 * weight.grad, **EXACT, msg=name)


@pytest.mark.usefixtures("double")
def test_batch_norm_equals_torchs_and_members_are_plain():
    ours, x = BatchNorm(4, members=3), torch.randn(3, 9, 4)
    ours.weight.data.normal_()
    ours.bias.data.normal_()
    seen = ours.blank()
    learning = torch.func.functional_call(ours, {"seen": seen}, (x,))
    ours.move(seen, momentum=0.9)
    for i in range(3):
        theirs = torch.nn.BatchNorm1d(4, eps=1e-3, momentum=0.1)
        theirs.weight.data.copy_(ours.weight[i, 0])
        theirs.bias.data.copy_(ours.bias[i, 0])
        torch.testing.assert_close(learning[i], theirs(x[i]))
        torch.testing.assert_close(ours.mean[i, 0], theirs.running_mean)
        unbiased = 0.9 + 0.1 * 9 / 8 * x[i].var(dim=0, correction=0)
        torch.testing.assert_close(theirs.running_var, unbiased)  # ours is the biased one
        torch.testing.assert_close(ours.var[i, 0], 0.9 + 0.1 * x[i].var(dim=0, correction=0))
        member = ours.member(i)
        torch.testing.assert_close(member(x[i]), ours(x)[i])
        assert member.weight.shape == (4,)
    assert ours.seen.numel() == 0  # the layer itself is as it was


def test_acting_and_values_do_not_move_the_statistics():
    agent = make()
    agent.update(*draw(agent))
    before = {name: value.clone() for name, value in agent.state().items()}
    obs, action = torch.randn(9, OBS), torch.rand(9, ACT)
    whole = agent.act(obs)
    agent.value(obs, action)
    assert all(torch.equal(value, before[name]) for name, value in agent.state().items())
    torch.testing.assert_close(agent.act(obs[3]), whole[3])  # a row does not depend on the others


def test_without_the_actor_only_the_critics_move():
    agent = make()
    before = {name: value.clone() for name, value in agent.state().items()}
    agent.update(*draw(agent), actor=False)
    changed = {n for n, v in agent.state().items() if not torch.equal(v, before[n])}
    assert {name.split("/")[0] for name in changed} == {"adam", "critic"}
    assert "critic/stacked.trunk.3.1.mean" in changed


def test_a_fourier_front_works_behind_the_first_norm():
    net = NetConfig(Fourier(fourier_dim=8, sigma=0.1), MLPTrunk((16, 16)))
    agent = make(net=net)
    start = agent.critic.parameters["stacked.front.1.B"].clone()
    for seed in range(3):
        agent.update(*draw(agent, seed))
    assert not torch.equal(agent.critic.parameters["stacked.front.1.B"], start)


def test_there_is_no_target_network():
    agent = make()
    assert {*agent.networks} == {"actor", "critic"}
    assert not [name for name in agent.state() if name.startswith(("target", "polyak"))]


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
    config = CrossQConfig(actor=MLP, critic=MLP, momentum=0.9)
    data = to_dict(config)
    assert data["type"] == "crossq"
    again = from_dict(ALGORITHMS[data["type"]], data)
    assert again == config
    assert digest(again) == digest(config)
    run = small("probe/action", algo=config)
    assert from_dict(RunConfig, to_dict(run)) == run


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"target": PolyakTarget()}, "target must be none for CrossQ, got PolyakTarget"),
        ({"regularizers": (Dropout(p=0.1),)}, "regularizers must be without dropout"),
        ({"regularizers": (FunctionalRegularization(kappa=1.0),)}, "regularizers must be without"),
        ({"momentum": 1.0}, r"momentum must be in \[0, 1\)"),
        (
            {"critic": NetConfig(trunk=SimBaTrunk(width=8))},
            "nonlinearities of the trunk must be one after each of its 5 hidden layers, got 2",
        ),
    ],
)
def test_what_it_does_not_do_is_refused(options, says):
    with pytest.raises(BadInputError, match=says):
        CrossQConfig(**({"actor": MLP, "critic": MLP} | options)).build(Spaces((OBS,), ACT))


@pytest.mark.usefixtures("unchecked")
def test_it_finds_the_known_action(tmp_path):
    """The best action of probe/observation-action is half the observation, its value 0."""
    net = NetConfig(trunk=MLPTrunk((32, 32)))
    algo = CrossQConfig(
        actor=net,
        critic=net,
        batch_size=64,
        actor_lr=3e-3,
        critic_lr=3e-3,
        alpha=FixedAlpha(value=0.005),
        momentum=0.9,  # 0.99 would take longer than the run to follow the actor
    )
    assert_learns_the_probe(algo, tmp_path / "run", steps=1_000, near=0.12)
