"""The audit on our own agent: whose gradients and optimizer torch does not know."""

import pytest
import torch

from lff import audit
from lff.algos import NoTarget, PolyakTarget, SACConfig, Spaces
from lff.data import Batch
from lff.nn import ConstantControl, Fourier, Fourier2d, MLPTrunk, NetConfig, NoFront
from lff.optim import Adam, Rule
from tests.algos.pixel_agents import advance, make_pixel_agent
from tests.auditing.agents import problems

NET = NetConfig(Fourier(fourier_dim=128, sigma=0.01), MLPTrunk((16,)))
FIXED = NetConfig(Fourier(fourier_dim=128, sigma=0.01, trainable=False), MLPTrunk((16,)))


def draw_batch(rng, size=8):
    def draw(*shape):
        return torch.randn(*shape, generator=rng)

    ended = torch.zeros(size, dtype=torch.bool)
    return Batch(draw(size, 5), draw(size, 2).tanh(), draw(size), draw(size, 5), ended)


def agent(rng, *, critic=NET, target=None, updates=0, **options):
    config = SACConfig(
        actor=NET, critic=critic, target=target or PolyakTarget(), batch_size=8, **options
    )
    made = config.build(Spaces((5,), 2), generator=rng)
    for _ in range(updates):
        made.update(draw_batch(rng), made.draw(rng, 8))
    return made


def test_a_fresh_agent_is_green_with_a_basis_for_each_critic_and_its_target(rng):
    report = audit(agent(rng, num_critics=3), show=False)
    assert report.ok, str(report)
    names = [layer.name for layer in report.layers]
    assert names == [
        "actor.front",
        *(f"critic.stacked.front[{i}]" for i in range(3)),
        *(f"critic_target.stacked.front[{i}]" for i in range(3)),
    ]
    assert [layer.in_optimizers for layer in report.layers[:4]] == [1] * 4
    assert [layer.is_target for layer in report.layers] == [False] * 4 + [True] * 3


def test_training_is_counted_and_its_drift_is_a_note(rng):
    made = agent(rng, updates=40, actor_lr=3e-3, critic_lr=3e-3)
    report = audit(made, show=False)
    assert report.ok, str(report)
    assert {layer.steps for layer in report.layers if not layer.is_target} == {40}
    critic = report.layers[1].spread
    stored = made.state()["critic/stacked.front.B"][0]
    assert critic.expected == 0.01
    assert critic.actual == pytest.approx(stored.square().mean().sqrt().item(), rel=1e-6)
    assert critic.actual > 1.5 * critic.expected
    assert "B has moved over 40 updates" in str(report)


def test_the_agent_is_left_as_it_was(rng):
    made = agent(rng, updates=1)
    before = {name: value.clone() for name, value in made.state().items()}
    audit(made, show=False)
    assert not any(p.requires_grad for p in made.critic.network.parameters())
    for name, value in made.state().items():
        assert torch.equal(value, before[name]), name


def test_without_a_target_network_none_is_shown(rng):
    report = audit(agent(rng, target=NoTarget()), show=False)
    assert report.ok
    assert len(report.layers) == 3


def test_a_fixed_basis_is_frozen_and_a_control_without_one_is_no_layer(rng):
    report = audit(agent(rng, critic=FIXED, updates=2), show=False)
    assert report.ok, str(report)
    assert [layer.trainable for layer in report.layers] == [True, False, False, False, False]
    control = NetConfig(ConstantControl(fourier_dim=8), MLPTrunk((16,)))
    assert len(audit(agent(rng, critic=control), show=False).layers) == 1


def test_a_basis_that_adam_does_not_hold_is_found(rng):
    made = agent(rng)
    rest = {n: p for n, p in made.actor.adam.parameters.items() if n != "front.B"}
    made.optimizers["actor"] = Adam(rest, {name: Rule(1e-3) for name in rest})
    assert problems(audit(made, show=False)) == [("optimizer", "actor.front")]


def test_an_adam_that_moves_a_copy_is_found(rng):
    made = agent(rng)
    made.critic.adam.parameters["stacked.front.B"] = (
        made.critic.network.stacked.front.B.detach().clone()
    )
    found = problems(audit(made, show=False))
    assert ("optimizer", "critic.stacked.front[0]") in found


@pytest.mark.parametrize("damage", ["zeros", "equal", "target"])
def test_damage_is_found(damage, rng):
    made = agent(rng, updates=3)
    B = made.critic.network.stacked.front.B
    if damage == "zeros":
        B.zero_()
        assert ("spread", "critic.stacked.front[0]") in problems(audit(made, show=False))
    elif damage == "equal":
        B[1] = B[0]
        where = "critic.stacked.front[0] and critic.stacked.front[1]"
        assert problems(audit(made, show=False)) == [("shared", where)]
    else:
        made.state()["target/stacked.front.B"].normal_(generator=rng)
        found = problems(audit(made, show=False))
        assert found == [("spread", f"critic_target.stacked.front[{i}]") for i in (0, 1)]


def test_the_audit_sees_one_basis_its_copy_and_who_trains_it():
    agent = make_pixel_agent(front=Fourier2d(fourier_dim=256, sigma=0.1))
    report = audit(agent, show=False)
    assert report.ok, str(report)
    names = [layer.name for layer in report.layers]
    assert names == ["critic.encoder.front", "critic_target.encoder.front"]
    assert [layer.is_target for layer in report.layers] == [False, True]
    assert report.layers[0].in_optimizers == 1
    advance(agent, 3)
    assert audit(agent, show=False).layers[0].steps == 3


def test_the_audit_of_a_fixed_basis_and_of_damage():
    wide = {"fourier_dim": 256, "sigma": 0.1}
    fixed = make_pixel_agent(front=Fourier2d(**wide, trainable=False))
    advance(fixed, 2)
    report = audit(fixed, show=False)
    assert report.ok, str(report)
    assert [layer.trainable for layer in report.layers] == [False, False]
    agent = make_pixel_agent(front=Fourier2d(**wide))
    agent.critic.adam.parameters["encoder.front.B"] = (
        agent.critic.network.encoder.front.B.detach().clone()
    )
    assert ("optimizer", "critic.encoder.front") in problems(audit(agent, show=False))
    assert audit(make_pixel_agent(front=NoFront()), show=False).layers == ()
