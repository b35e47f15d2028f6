import copy
import math

import pytest
import torch
from torch.distributions import Normal
from torch.distributions.transforms import TanhTransform

from lff import Fourier, MLPTrunk, NetConfig
from lff.algos import FixedAlpha, LearnedAlpha, NoTarget, PolyakTarget, SACConfig, Spaces
from lff.algos.base import Exploration
from lff.algos.off_policy import critic_loss
from lff.algos.sac import Temperature, actor_loss, bootstrap, split_head, squash
from lff.core import BadInputError, digest, from_dict, to_dict
from lff.data import Batch
from lff.optim import Adam, Rule
from tests.algos.batches import random_batch

NET = NetConfig(Fourier(fourier_dim=8, sigma=0.1), MLPTrunk((16, 16)))
OBS, ACT, SIZE = 5, 2, 32


def make(seed=0, **options):
    config = SACConfig(actor=NET, critic=NET, batch_size=SIZE, **options)
    return config.build(Spaces((OBS,), ACT), generator=torch.Generator().manual_seed(seed))


def draw_batch(seed=0, size=SIZE):
    generator = torch.Generator().manual_seed(seed)
    return random_batch(generator, size=size, obs=OBS, act=ACT)


def temperature():
    return Temperature(LearnedAlpha(), 2, device=torch.device("cpu"))


def test_squash_equals_torch_distributions():
    head = torch.randn(64, 2 * ACT, dtype=torch.double)
    noise = torch.randn(64, ACT, dtype=torch.double)
    action, log_prob = squash(head, noise)
    mean, log_std = split_head(head)
    u = mean + log_std.exp() * noise
    jacobian = TanhTransform().log_abs_det_jacobian(u, u.tanh())
    torch.testing.assert_close(action, u.tanh())
    expected = Normal(mean, log_std.exp()).log_prob(u) - jacobian
    torch.testing.assert_close(log_prob, expected.sum(-1))


def test_log_std_stays_in_its_range_for_any_network_output():
    _, log_std = split_head(torch.tensor([[0.0, -1e9], [0.0, 0.0], [0.0, 1e9]]))
    torch.testing.assert_close(log_std[:, 0], torch.tensor([-5.0, -1.5, 2.0]))


def test_saturated_actions_have_finite_probability():
    head = torch.tensor([[50.0, 0.0, 3.0, -3.0]])
    action, log_prob = squash(head, torch.zeros(1, 2))
    assert action[0, 0] == 1.0
    assert log_prob.isfinite().all()


def test_bootstrap_by_hand():
    batch = Batch(
        obs=torch.zeros(2, 1),
        action=torch.zeros(2, 1),
        reward=torch.tensor([1.0, 2.0]),
        next_obs=torch.zeros(2, 1),
        terminated=torch.tensor([False, True]),
    )
    next_q = torch.tensor([[10.0, 10.0], [8.0, 12.0]])
    target = bootstrap(
        batch,
        next_q,
        torch.tensor([-2.0, -2.0]),
        alpha=torch.tensor(0.5),
        gamma=0.9,
        noise=torch.tensor([0.1, 0.2]),
    )
    # 1 + 0.9 (8 + 0.5·2) + 0.1;  2 + 0.2 at a terminal state
    torch.testing.assert_close(target, torch.tensor([9.2, 2.2]))


def test_losses_by_hand():
    q = torch.tensor([[1.0, 2.0], [3.0, 0.0]])
    assert critic_loss(q, torch.tensor([0.0, 1.0])).item() == pytest.approx(1.0 + 5.0)
    loss = actor_loss(q, torch.tensor([-1.0, 1.0]), torch.tensor(0.5))
    assert loss.item() == pytest.approx(((-0.5 - 1.0) + (0.5 - 0.0)) / 2)
    slope = temperature().gradient(torch.tensor(0.5), torch.tensor([-1.0, 3.0]))
    assert slope.item() == pytest.approx(0.5 * ((1 + 2) + (-3 + 2)) / 2)


def test_alpha_gradient_is_the_derivative_of_its_loss():
    log_alpha = torch.tensor(-1.0, requires_grad=True)
    log_prob = torch.randn(16)
    (log_alpha.exp() * (-log_prob + 2.0)).mean().backward()
    torch.testing.assert_close(
        log_alpha.grad, temperature().gradient(log_alpha.detach().exp(), log_prob)
    )


def reference_update(agent, batch, noise):
    """The same update by autograd and torch.optim, critics in a loop, as anybody would write it."""
    config = agent.config
    actor = copy.deepcopy(agent.actor.network).requires_grad_(requires_grad=True)
    critics = [agent.critic.network.member(i).requires_grad_() for i in range(config.num_critics)]
    targets = copy.deepcopy(critics)
    log_alpha = agent.alpha.log_alpha.clone().requires_grad_(requires_grad=True)
    alpha = log_alpha.exp().detach()
    with torch.no_grad():
        next_action, next_log_prob = squash(actor(batch.next_obs), noise.next_action)
        source = critics if isinstance(config.target, NoTarget) else targets
        next_q = torch.stack([c(batch.next_obs, next_action)[:, 0] for c in source]).amin(0)
        y = batch.reward + config.gamma * ~batch.terminated * (next_q - alpha * next_log_prob)
        y = y + config.target_noise * noise.target
    weights = [p for c in critics for p in c.parameters()]
    loss = sum((c(batch.obs, batch.action)[:, 0] - y).square().mean() for c in critics)
    optimizer = torch.optim.Adam(weights, lr=config.critic_lr)
    loss.backward()
    optimizer.step()
    action, log_prob = squash(actor(batch.obs), noise.action)
    q = torch.stack([c(batch.obs, action)[:, 0] for c in critics]).amin(0)
    optimizer = torch.optim.Adam(actor.parameters(), lr=config.actor_lr)
    (alpha * log_prob - q).mean().backward()
    optimizer.step()
    if isinstance(config.alpha, LearnedAlpha):
        optimizer = torch.optim.Adam([log_alpha], lr=config.alpha.lr)
        (log_alpha.exp() * (-log_prob.detach() + ACT)).mean().backward()
        optimizer.step()
    return actor, critics, log_alpha


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"num_critics": 1},
        {"num_critics": 5},
        {"target": NoTarget()},
        {"target_noise": 3.0},
        {"alpha": FixedAlpha(value=0.3)},
        {"gamma": 0.5, "critic_lr": 1e-2, "actor_lr": 3e-3},
    ],
    ids=str,
)
def test_update_equals_autograd_and_torch_optim(options):
    torch.set_default_dtype(torch.double)
    try:
        agent = make(**options)
        batch = draw_batch()
        noise = agent.draw(torch.Generator().manual_seed(1), SIZE)
        actor, critics, log_alpha = reference_update(agent, batch, noise)
        agent.update(batch, noise)
        for name, parameter in agent.actor.network.named_parameters():
            torch.testing.assert_close(parameter.data, actor.get_parameter(name).data, msg=name)
        for i, critic in enumerate(critics):
            for name, parameter in agent.critic.network.member(i).named_parameters():
                torch.testing.assert_close(parameter.data, critic.get_parameter(name).data)
        torch.testing.assert_close(agent.alpha.log_alpha, log_alpha.detach())
    finally:
        torch.set_default_dtype(torch.float)


def test_target_moves_every_second_update_by_tau():
    agent = make(target=PolyakTarget(tau=0.25, period=2))
    start = {name: value.clone() for name, value in agent.target.items()}
    g = torch.Generator().manual_seed(1)
    agent.update(draw_batch(), agent.draw(g, SIZE))
    assert all(torch.equal(agent.target[name], value) for name, value in start.items())
    agent.update(draw_batch(), agent.draw(g, SIZE))
    for name, value in start.items():
        expected = value + 0.25 * (agent.critic.parameters[name] - value)
        torch.testing.assert_close(agent.target[name], expected.data)


def test_target_is_a_copy():
    agent = make()
    for name, value in agent.target.items():
        assert value.data_ptr() != agent.critic.parameters[name].data_ptr()
        assert torch.equal(value, agent.critic.parameters[name])


@pytest.mark.parametrize("decoupled", [False, True])
def test_adam_equals_torchs(decoupled):
    parameter = torch.randn(4, 3, dtype=torch.double)
    reference = parameter.clone().requires_grad_(requires_grad=True)
    kind = torch.optim.AdamW if decoupled else torch.optim.Adam
    theirs = kind([reference], lr=0.01, weight_decay=0.1)
    ours = Adam({"w": parameter}, {"w": Rule(lr=0.01, l2=0.1, decoupled=decoupled)})
    for _ in range(20):
        gradient = torch.randn(4, 3, dtype=torch.double)
        reference.grad = gradient.clone()
        theirs.step()
        ours.step({"w": gradient})
    torch.testing.assert_close(parameter, reference.data)


def test_adam_penalties_by_hand():
    """The first Adam step moves by lr·sign of gradient + l1·sign(w) + anchor·(w - w₀)."""
    start = torch.tensor([1.0, -1.0])
    parameter = start.clone()
    ours = Adam({"w": parameter}, {"w": Rule(lr=0.1, l1=2.0, anchor=3.0)})
    parameter.add_(torch.tensor([0.5, 0.0]))
    ours.step({"w": torch.tensor([-10.0, 1.0])})
    # gradients: -10 + 2 + 1.5 < 0 and 1 - 2 + 0 < 0: both move up
    torch.testing.assert_close(parameter, torch.tensor([1.6, -0.9]))
    torch.testing.assert_close(ours.first["w"], 0.1 * torch.tensor([-6.5, -1.0]))


def test_state_round_trip_continues_bit_for_bit():
    one, other = make(seed=0), make(seed=1)
    g = torch.Generator().manual_seed(2)
    noises = [one.draw(g, SIZE) for _ in range(6)]
    for noise in noises[:3]:
        one.update(draw_batch(), noise)
    other.load_state({name: value.clone() for name, value in one.state().items()})
    for noise in noises[3:]:
        one.update(draw_batch(), noise)
        other.update(draw_batch(), noise)
    assert all(
        torch.equal(a, b) for a, b in zip(one.state().values(), other.state().values(), strict=True)
    )


def test_same_seed_same_agent():
    one, other, third = make(seed=0), make(seed=0), make(seed=1)
    assert torch.equal(one.state()["actor/front.B"], other.state()["actor/front.B"])
    assert not torch.equal(one.state()["actor/front.B"], third.state()["actor/front.B"])


def test_act_is_the_mean_or_a_sample():
    agent = make()
    obs, noise = torch.randn(3, OBS), torch.randn(3, ACT)
    mean, log_std = split_head(agent.actor(obs))
    torch.testing.assert_close(agent.act(obs), mean.tanh())
    torch.testing.assert_close(
        agent.act(obs, Exploration(noise)), (mean + log_std.exp() * noise).tanh()
    )


def test_metrics_are_tensors_with_the_right_values():
    agent = make()
    batch, noise = draw_batch(), agent.draw(torch.Generator().manual_seed(1), SIZE)
    before = copy.deepcopy(agent)
    metrics = agent.update(batch, noise)
    q = before.q(before.critic.parameters, batch.obs, batch.action)
    assert metrics["train/q_mean"].item() == pytest.approx(q.mean().item(), rel=1e-5)
    assert metrics["train/q_max"].item() == pytest.approx(q.abs().max().item(), rel=1e-5)
    assert metrics["train/alpha"].item() == pytest.approx(0.1)
    assert all(value.ndim == 0 and not value.requires_grad for value in metrics.values())


def test_config_travels():
    config = SACConfig(actor=NET, critic=NET, target=NoTarget(), alpha=FixedAlpha(value=1.0))
    again = from_dict(SACConfig, to_dict(config))
    assert again == config
    assert digest(again) == digest(config)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    "options",
    [{"gamma": 1.0}, {"num_critics": 0}, {"actor_lr": -1.0}, {"target_noise": math.nan}],
    ids=str,
)
def test_bad_values(options):
    with pytest.raises(BadInputError, match=next(iter(options))):
        make(**options)


def test_bad_tau_and_foreign_checkpoint():
    with pytest.raises(BadInputError, match="tau"):
        PolyakTarget(tau=0.0)
    state = make().state()
    state.pop("alpha/log")
    with pytest.raises(BadInputError, match="alpha/log"):
        make().load_state(state)


@pytest.mark.usefixtures("unchecked")
def test_fault_17_the_temperature_moves_in_a_graph_of_float64():
    """A plain float64 number held by the agent became a constant of the graph.

    ``aot_eager`` makes the graph as the compiler does, but needs no compiler.
    """
    torch.set_default_dtype(torch.double)
    try:
        eager, traced = make(), make()
        update = torch.compile(traced.update, fullgraph=True, dynamic=False, backend="aot_eager")
        g = torch.Generator().manual_seed(1)
        for _ in range(3):
            batch, noise = draw_batch(), eager.draw(g, SIZE)
            eager.update(batch, noise)
            update(batch, noise)
        assert traced.alpha.log_alpha.item() != math.log(0.1)
        state = eager.state()
        for name, value in traced.state().items():
            torch.testing.assert_close(value, state[name], msg=name)
    finally:
        torch.set_default_dtype(torch.float)
        torch.compiler.reset()
