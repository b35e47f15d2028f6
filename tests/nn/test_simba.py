"""SimBa's trunk: against a reference by hand in float64, its law, its size, and it learns."""

import math

import pytest
import torch

from lff import Fourier, MLPTrunk, NetConfig
from lff.algos import FixedAlpha, SACConfig, Spaces
from lff.core import BadInputError
from lff.nn import Ensemble, MatchedSimBa, SimBaTrunk, count
from lff.regularizers import Dropout, LayerNorm
from lff.training.presets import preset
from tests.algos.batches import random_batch
from tests.training.runs import assert_learns_the_probe

OBS, ACT, SIZE, WIDTH = 5, 2, 32, 6
EXACT = {"rtol": 1e-10, "atol": 1e-10}


def norm(x, scale, shift):
    mean = x.sum(-1, keepdim=True) / x.shape[-1]
    var = ((x - mean) ** 2).sum(-1, keepdim=True) / x.shape[-1]
    return scale * (x - mean) / torch.sqrt(var + 1e-6) + shift


def by_hand(w, x, blocks):
    """The published network on plain tensors; matrices are (out, in), names those of a state."""
    h = x @ w["trunk.0.weight"].T + w["trunk.0.bias"]
    for i in range(blocks):
        block = f"trunk.1.{i}"
        z = norm(h, w[f"{block}.0.weight"], w[f"{block}.0.bias"])
        z = torch.clamp(z @ w[f"{block}.1.weight"].T + w[f"{block}.1.bias"], min=0)
        h = h + z @ w[f"{block}.3.weight"].T + w[f"{block}.3.bias"]
    h = norm(h, w[f"trunk.1.{blocks}.weight"], w[f"trunk.1.{blocks}.bias"])
    return h @ w["trunk.2.weight"].T + w["trunk.2.bias"]


def weights(network):
    """The network's numbers, with layer norms that do something."""
    for name, parameter in network.named_parameters():
        if parameter.ndim == 1:
            parameter.data.add_(0.1 * torch.randn_like(parameter))
        assert "." in name
    return {name: p.detach().clone().requires_grad_() for name, p in network.named_parameters()}


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("blocks", [1, 2, 3])
def test_forward_and_gradient_by_hand(blocks):
    torch.manual_seed(0)
    network = NetConfig(trunk=SimBaTrunk(width=WIDTH, blocks=blocks)).build(OBS, 3)
    w, x = weights(network), torch.randn(9, OBS)
    expected = by_hand(w, x, blocks)
    torch.testing.assert_close(network(x), expected, **EXACT)
    expected.square().sum().backward()
    network(x).square().sum().backward()
    for name, parameter in network.named_parameters():
        torch.testing.assert_close(parameter.grad, w[name].grad, **EXACT, msg=name)


def statistics(agent, past):
    """Shift and scale of the agent, which are float32, after these observations."""
    shift, scale = (agent.norm.tensors[name].double() for name in ("shift", "scale"))
    spread = torch.sqrt(((past - past.mean(0)) ** 2).mean(0) + 1e-8)
    torch.testing.assert_close(shift, past.mean(0), rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(scale, 1 / spread, rtol=1e-6, atol=1e-6)
    return shift, scale


@pytest.mark.usefixtures("double")
def test_one_critic_update_of_sac_by_hand():
    """Targets, loss, gradient and Adam step with observations normalised by running statistics."""
    torch.manual_seed(0)
    net = NetConfig(trunk=SimBaTrunk(width=WIDTH, blocks=2))
    config = SACConfig(actor=net, critic=net, batch_size=SIZE, critic_lr=1e-3, normalize_obs=True)
    agent = config.build(Spaces((OBS,), ACT))
    g = torch.Generator().manual_seed(1)
    past = 3 + 2 * torch.randn(50, OBS, generator=g)
    agent.observe(past.numpy())
    batch, noise = random_batch(g, size=SIZE, obs=OBS, act=ACT), agent.draw(g, SIZE)

    shift, scale = statistics(agent, past)
    obs, next_obs = ((x - shift) * scale for x in (batch.obs, batch.next_obs))
    actor = weights(agent.networks["actor"])
    critics = [weights(agent.networks["critic"].member(i)) for i in range(2)]
    for i, critic in enumerate(critics):  # the agent gets the numbers of the reference
        for name, value in critic.items():
            stacked = agent.critic.parameters[f"stacked.{name}"]
            stacked[i] = value.T if value.ndim == 2 else value[None]
    for name, value in agent.target.items():
        value.copy_(agent.critic.parameters[name])
    head = by_hand(actor, next_obs, 2).detach()
    log_std = -5 + 3.5 * (torch.tanh(head[:, ACT:]) + 1)
    u = head[:, :ACT] + torch.exp(log_std) * noise.next_action
    log_prob = -0.5 * noise.next_action**2 - log_std - 0.5 * math.log(2 * math.pi)
    log_prob = (log_prob - torch.log(1 - torch.tanh(u) ** 2)).sum(-1)
    x = torch.cat((next_obs, torch.tanh(u)), dim=1)
    next_q = torch.stack([by_hand(w, x, 2)[:, 0] for w in critics]).detach().min(dim=0).values
    y = batch.reward + 0.99 * ~batch.terminated * (next_q - 0.1 * log_prob)
    x = torch.cat((obs, batch.action), dim=1)
    loss = sum(((by_hand(w, x, 2)[:, 0] - y) ** 2).mean() for w in critics)
    every = [value for critic in critics for value in critic.values()]
    adam = torch.optim.Adam(every, lr=1e-3)
    loss.backward()
    adam.step()

    metrics = agent.update(batch, noise)
    torch.testing.assert_close(metrics["train/critic_loss"], loss.detach(), **EXACT)
    torch.testing.assert_close(metrics["train/target_q_mean"], y.mean(), **EXACT)
    for i, critic in enumerate(critics):
        member = agent.networks["critic"].member(i)
        moments = agent.critic.adam.first
        for name, value in critic.items():
            torch.testing.assert_close(member.get_parameter(name).data, value.data, **EXACT)
            first = moments[f"stacked.{name}"][i]
            gradient = value.grad.T if value.ndim == 2 else value.grad[None]
            torch.testing.assert_close(first, 0.1 * gradient, **EXACT, msg=name)


def test_initial_law_is_the_published_one():
    """Orthogonal ends, He's law cut at two standard deviations inside, as flax draws it."""
    g = torch.Generator().manual_seed(0)
    net = NetConfig(trunk=SimBaTrunk(width=128, blocks=1)).build(64, 2, generator=g)
    first, (block, _), last = net.trunk
    eye = first.weight.T @ first.weight
    torch.testing.assert_close(eye, torch.eye(64), rtol=0, atol=1e-5)
    torch.testing.assert_close(last.weight @ last.weight.T, torch.eye(2), rtol=0, atol=1e-5)
    for layer, fan_in in ((block[1], 128), (block[3], 512)):
        std = math.sqrt(2 / fan_in)
        assert layer.weight.std().item() == pytest.approx(std, rel=0.01)
        cut = 2 * std / 0.87962566
        assert 0.98 * cut < layer.weight.abs().max().item() <= cut * (1 + 1e-6)
        assert not layer.bias.any()
    assert [m.eps for m in (block[0], net.trunk[1][1])] == [1e-6, 1e-6]


def test_the_global_generator_is_left_alone():
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    SimBaTrunk(width=8).build(3, 1, generator=torch.Generator().manual_seed(0))
    assert torch.equal(torch.rand(1), expected)


@pytest.mark.parametrize("blocks", [1, 2])
@pytest.mark.parametrize("task", [(17, 6), (9, 2), (24, 6)])
def test_the_matched_trunk_has_the_nearest_count(task, blocks):
    obs, act = task
    like = preset("laptop", "dmc/cheetah-run").sizes.net("lff")
    for sizes in ((obs, 2 * act), (obs + act, 1)):
        goal = count(like, *sizes)
        width = MatchedSimBa(like=like, blocks=blocks).resolve(*sizes).width
        counts = [count(NetConfig(trunk=SimBaTrunk(w, blocks)), *sizes) for w in range(40, 72)]
        assert abs(count(NetConfig(trunk=SimBaTrunk(width, blocks)), *sizes) - goal) == min(
            abs(one - goal) for one in counts
        )
        assert min(abs(one - goal) for one in counts) <= 0.02 * goal


def test_names_give_two_blocks_or_one():
    sizes = preset("laptop", "dmc/cheetah-run").sizes
    assert sizes.net("simba").resolve(23, 1).trunk == SimBaTrunk(width=47, blocks=2)
    assert sizes.net("simba-1").resolve(23, 1).trunk == SimBaTrunk(width=66, blocks=1)
    assert sizes.net("simba").hidden(23, 1) == (47, 188, 47, 188, 47)


def test_a_front_before_the_matched_trunk_is_refused():
    like = NetConfig(Fourier(fourier_dim=8, sigma=0.1), MLPTrunk((16, 16)))
    with pytest.raises(BadInputError, match="front must be Identity before a MatchedSimBa"):
        NetConfig(like.front, MatchedSimBa(like=like))


@pytest.mark.parametrize("regularizer", [Dropout(p=0.1), LayerNorm()])
def test_regularizers_of_every_nonlinearity_are_refused(regularizer):
    critics = Ensemble.build(NetConfig(trunk=SimBaTrunk(width=8)), 2, in_features=3, out_features=1)
    with pytest.raises(BadInputError, match="one after each of its 5 hidden layers, got 2"):
        regularizer.wrap(critics)


@pytest.mark.usefixtures("unchecked")
def test_sac_with_it_finds_the_known_action(tmp_path):
    """The best action of probe/observation-action is half the observation, its value 0."""
    actor, critic = (NetConfig(trunk=SimBaTrunk(width=16, blocks=n)) for n in (1, 2))
    algo = SACConfig(
        actor=actor,
        critic=critic,
        batch_size=32,
        actor_lr=3e-3,
        critic_lr=3e-3,
        alpha=FixedAlpha(value=0.005),
        normalize_obs=True,
    )
    assert_learns_the_probe(algo, tmp_path / "run", steps=500, near=0.12)
