import math

import numpy as np
import pytest
import torch
from torch import nn

from lff.algos import PPOConfig, Spaces
from lff.algos.base import Minibatch
from lff.algos.policy_gradient import (
    entropy,
    log_probability,
    policy_loss,
    standardized,
    value_loss,
)
from lff.auditing import audit
from lff.core.errors import BadInputError
from lff.data.rollout import Rollout
from lff.nn import Fourier, MLPTrunk, NetConfig
from lff.regularizers import (
    BasisRule,
    Dropout,
    FunctionalRegularization,
    LayerNorm,
    SpectralNorm,
    WeightDecay,
)

OBS, ACT = 3, 2
NET = NetConfig(Fourier(fourier_dim=8, sigma=0.1), MLPTrunk((16, 16), activation="tanh"))
MLP = NetConfig(trunk=MLPTrunk((16, 16), activation="tanh"))


def agent(seed=0, *, num_envs=2, **options):
    config = PPOConfig(
        **{"actor": NET, "critic": NET, "rollout_steps": 32, "batch_size": 8} | options
    )
    g = torch.Generator().manual_seed(seed)
    return config.build(Spaces((OBS,), ACT), num_envs=num_envs, generator=g)


def rollout(seed=0, *, steps=16, envs=2):
    g = torch.Generator().manual_seed(seed)
    found = Rollout(steps, envs=envs, obs_dim=OBS, action_dim=ACT)
    for name, value in found.state().items():
        if value.dtype == torch.bool:
            value.copy_(torch.rand(value.shape, generator=g) < (0.1 if name != "valid" else 2))
        else:
            value.normal_(generator=g)
    found.at = steps
    return found


def test_gaussian_is_torchs():
    g = torch.Generator().manual_seed(0)
    action, mean = torch.randn(2, 5, ACT, generator=g)
    log_std = torch.tensor([0.3, -1.2])
    law = torch.distributions.Normal(mean, log_std.exp())
    torch.testing.assert_close(
        log_probability(action, mean, log_std), law.log_prob(action).sum(dim=-1)
    )
    torch.testing.assert_close(entropy(log_std), law.entropy()[0].sum())


@pytest.mark.parametrize(
    ("ratio", "advantage", "expected"),
    [
        (1.1, 2.0, -2.2),  # inside: ρA
        (1.5, 2.0, -2.4),  # too far in the good direction: 1.2 A
        (0.5, 2.0, -1.0),  # the bad direction counts in full
        (0.5, -2.0, 1.6),  # too far in the good direction: 0.8 A
        (1.5, -2.0, 3.0),
    ],
)
def test_clipped_objective_in_numbers(ratio, advantage, expected):
    log_ratio = torch.tensor([math.log(ratio)])
    loss = policy_loss(log_ratio, torch.zeros(1), torch.tensor([advantage]), clip=0.2)
    torch.testing.assert_close(loss, torch.tensor(expected))


@pytest.mark.parametrize(
    ("value", "clip", "expected"),
    [
        (1.1, 0.2, 0.5 * 0.9**2),  # within 0.2 of V_old = 1: (1.1 - 2)²/2
        (1.9, 0.2, 0.5 * 0.8**2),  # moved too far to the target: counts as 1.2
        (1.9, None, 0.5 * 0.1**2),
        (0.5, 0.2, 0.5 * 1.5**2),  # away from it: counts in full
    ],
)
def test_clipped_value_loss_in_numbers(value, clip, expected):
    loss = value_loss(torch.tensor([value]), torch.ones(1), torch.tensor([2.0]), clip=clip)
    torch.testing.assert_close(loss, torch.tensor(expected))


def test_advantages_are_standardized():
    found = standardized(torch.tensor([1.0, 2.0, 3.0, 10.0]))
    torch.testing.assert_close(found.mean(), torch.tensor(0.0))
    torch.testing.assert_close(found.std(), torch.tensor(1.0))


def test_gains_at_the_start():
    one = agent(actor=MLP, critic=MLP, actor_gain=0.01, critic_gain=1.0)
    for network, last in ((one.networks["actor"], 0.01), (one.networks["critic"], 1.0)):
        layers = [m for m in network.modules() if isinstance(m, nn.Linear)]
        for layer, gain in zip(layers, (math.sqrt(2), math.sqrt(2), last), strict=True):
            W = layer.weight if layer.weight.shape[0] <= layer.weight.shape[1] else layer.weight.T
            torch.testing.assert_close(W @ W.T, gain**2 * torch.eye(len(W)), atol=1e-5, rtol=1e-5)
            assert not layer.bias.any()
    lff = agent(seed=1)
    expected = NET.build(OBS, ACT, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(
        lff.actor.network.front.B.data, expected.front.B.data
    )  # sigma is kept


def reference_update(one, sample, rows):
    """The same update by torch's own autograd, clip and Adam."""
    config = one.config
    actor, critic = NET.build(OBS, ACT), NET.build(OBS, 1)
    state = {n: v.clone() for n, v in one.state().items()}
    for role, network in (("actor", actor), ("critic", critic)):
        start = f"{role}/"
        network.load_state_dict(
            {
                n[len(start) :]: v
                for n, v in state.items()
                if n.startswith(start) and "log_std" not in n
            }
        )
    log_std = nn.Parameter(state["actor/log_std"])
    parameters = [*actor.parameters(), log_std, *critic.parameters()]
    adam = torch.optim.Adam(parameters, lr=config.lr * one.lr_share.item(), eps=config.adam_eps)
    for index in rows:
        batch = type(sample)(*(column[index] for column in sample))
        law = torch.distributions.Normal(actor(batch.obs), log_std.exp())
        ratio = (law.log_prob(batch.action).sum(-1) - batch.log_prob).exp()
        A = (batch.advantage - batch.advantage.mean()) / (batch.advantage.std() + 1e-8)
        policy = -torch.min(ratio * A, ratio.clamp(0.8, 1.2) * A).mean()
        value = critic(batch.obs)[:, 0]
        held = batch.value + (value - batch.value).clamp(-0.2, 0.2)
        errors = torch.max((value - batch.target) ** 2, (held - batch.target) ** 2)
        loss = (
            policy + 0.5 * 0.5 * errors.mean() - config.entropy_coef * law.entropy().sum(-1).mean()
        )
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, config.max_grad_norm)
        adam.step()
    return actor, critic, log_std


def test_updates_are_those_of_torchs_autograd_and_adam():
    one = agent(lr=1e-2, entropy_coef=0.01, actor_gain=1.0)
    one.lr_share.fill_(0.7)
    sample, _ = one.prepare(rollout())
    rows = torch.randperm(32, generator=torch.Generator().manual_seed(2)).view(4, 8)
    actor, critic, log_std = reference_update(one, sample, rows)
    for index in rows:
        one.update(Minibatch(sample, index), {})
    for ours, theirs in ((one.networks["actor"], actor), (one.networks["critic"], critic)):
        for (name, p), q in zip(ours.named_parameters(), theirs.parameters(), strict=True):
            torch.testing.assert_close(p.data, q.data, rtol=1e-4, atol=1e-5, msg=name)
    torch.testing.assert_close(one.log_std, log_std.data, rtol=1e-4, atol=1e-6)


def test_prepared_rows_are_those_of_the_rollout():
    one, steps = agent(gamma=0.9, gae_lambda=0.8, normalize_reward=False), rollout()
    steps.valid[3, 1] = False
    sample, metrics = one.prepare(steps)
    assert len(sample.obs) == 31
    torch.testing.assert_close(sample.obs[6], steps.obs[3, 0])
    torch.testing.assert_close(sample.obs[7], steps.obs[4, 0])  # (3, 1) is gone
    values = one.critic(steps.obs)[..., 0]
    last = one.critic(steps.next_obs[-1])[..., 0]
    # the last row by hand: no A after it
    delta = steps.reward[-1] + 0.9 * ~steps.terminated[-1] * last - values[-1]
    torch.testing.assert_close(sample.advantage[-2:], delta)
    torch.testing.assert_close(sample.target, sample.advantage + sample.value)
    error = sample.advantage.square().mean().sqrt()
    torch.testing.assert_close(metrics["train/value_error"], error)
    # ρ = 1 before the first update
    lone = one.update(Minibatch(sample, torch.arange(8)), {})
    assert lone["train/kl"].abs() < 1e-6
    assert lone["train/clip_share"] == 0


def test_the_norm_of_the_gradient_is_of_both_networks():
    # Adam's first step does not tell the size of a gradient, its first moment does
    small, free = agent(max_grad_norm=1e-3), agent(max_grad_norm=None)
    for one in (small, free):
        sample, _ = one.prepare(rollout())
        norm = one.update(Minibatch(sample, torch.arange(8)), {})["train/grad_norm"]
        moments = [*one.actor.adam.first.values(), *one.critic.adam.first.values()]
        found = torch.cat([m.flatten() for m in moments]).norm() / 0.1
        wanted = norm if one is free else torch.tensor(1e-3)
        torch.testing.assert_close(found, wanted, rtol=1e-2, atol=0)


def test_state_goes_there_and_back_with_the_statistics():
    one, other = agent(seed=0), agent(seed=1)
    one.observe(np.random.default_rng(0).normal(size=(50, OBS)).astype(np.float32))
    one.scale_reward(np.array([3.0, -1.0]), np.array([False, True]))
    sample, _ = one.prepare(rollout())
    one.update(Minibatch(sample, torch.arange(8)), {})
    kept = {name: value.clone() for name, value in one.state().items()}
    assert {"norm/mean", "norm/squares", "reward/sums", "reward/mean", "adam/share"} <= kept.keys()
    other.load_state(kept)
    obs = torch.randn(4, OBS)
    torch.testing.assert_close(other.act(obs), one.act(obs), rtol=0, atol=0)
    torch.testing.assert_close(other.value(obs), one.value(obs), rtol=0, atol=0)
    np.testing.assert_array_equal(other.normalize(obs.numpy()), one.normalize(obs.numpy()))
    with pytest.raises(BadInputError, match="of this agent"):
        agent(normalize_obs=False).load_state(kept)


def test_value_is_in_the_environments_units():
    one = agent(num_envs=1)
    for reward in (1.0, 5.0, -3.0):
        one.scale_reward(np.array([reward]), np.array([True]))
    obs = torch.randn(5, OBS)
    spread = np.std([1.0, 5.0, -3.0])
    torch.testing.assert_close(one.value(obs), spread * one.critic(obs)[:, 0], rtol=1e-5, atol=1e-6)


def test_actions_are_clipped_for_the_environment_only():
    one = agent(actor_gain=50.0)
    obs = torch.randn(6, OBS)
    assert one.act(obs).abs().max() == 1
    assert one.choose(torch.from_numpy(one.normalize(obs.numpy()))).abs().max() > 1


def test_every_regularizer_of_both_kinds_of_agent():
    extra = (
        WeightDecay(coefficient=1e-2),
        BasisRule(lr=1e-2),
        Dropout(p=0.5),
        LayerNorm(),
        SpectralNorm(where="both"),
    )
    one = agent(regularizers=extra, lr=1e-2)
    sample, _ = one.prepare(rollout())
    g = torch.Generator().manual_seed(0)
    before = one.actor.network.front.B.clone()
    masks = one.draw(g, 8)
    assert masks.keys() == {"actor", "critic"}
    plain = agent(regularizers=extra, lr=1e-2)
    loss = one.update(Minibatch(sample, torch.arange(8)), masks)["train/critic_loss"]
    assert loss != plain.update(Minibatch(sample, torch.arange(8)), {})["train/critic_loss"]
    assert (one.actor.network.front.B - before).abs().max() > 5e-3
    with pytest.raises(BadInputError, match="Q-learning"):
        agent(regularizers=(FunctionalRegularization(),))


def test_the_audit_sees_the_networks():
    one = agent()
    report = audit(one, torch.randn(20, OBS), show=False)
    assert report.ok
    assert len(report.layers) == 2


@pytest.mark.parametrize(
    "bad",
    [
        {"gamma": 1.5},
        {"gae_lambda": -0.1},
        {"clip": 0.0},
        {"batch_size": 64, "rollout_steps": 32},
        {"epochs": 0},
        {"max_grad_norm": 0.0},
    ],
)
def test_bad_values_are_refused(bad):
    with pytest.raises(BadInputError):
        PPOConfig(**({"actor": NET, "critic": NET} | bad))
