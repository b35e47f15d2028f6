"""SAC from pixels; "B1" and so on are the bugs of the authors' code that docs/pixels.md lists."""

import copy
import math

import pytest
import torch

from lff.algos import PixelSACConfig, PolyakTarget, SACConfig, Spaces
from lff.algos.base import Exploration
from lff.algos.sac import split_head, squash
from lff.algos.sac_pixels import CRITICS
from lff.core import BadInputError
from lff.data import NoAugmentation, RandomCrop
from lff.nn import Conv1x1, Fourier2d, NoFront, PixelEncoderConfig
from lff.regularizers import (
    Dropout,
    FunctionalRegularization,
    LayerNorm,
    SpectralNorm,
    WeightDecay,
)
from lff.regularizers.base import kinds
from tests.algos.pixel_agents import (
    ACT,
    CROP,
    LFF,
    NET,
    OBS,
    SIDE,
    SIZE,
    TARGET,
    TRANSLATE,
    advance,
    changed,
    draw_images,
    make_pixel_agent,
    snapshot,
)

FIXED = Fourier2d(fourier_dim=6, sigma=0.1, trainable=False)
BASIS = "critic/encoder.front.B"
FRONTS = [NoFront(), Conv1x1(channels=4), LFF, FIXED]


def draw_raw(*batch, seed=7):
    g = torch.Generator().manual_seed(seed)
    return torch.randint(256, (*batch, *OBS), generator=g, dtype=torch.uint8)


def test_a_fixed_basis_is_fixed_and_a_trained_one_moves():
    """B1: theirs sets an attribute of a module, and B trains all the same."""
    fixed, trained = make_pixel_agent(front=FIXED), make_pixel_agent(front=LFF)
    before = {agent: agent.state()[BASIS].clone() for agent in (fixed, trained)}
    for agent in (fixed, trained):
        advance(agent, 3)
    assert torch.equal(fixed.state()[BASIS], before[fixed])
    assert not torch.equal(trained.state()[BASIS], before[trained])
    assert "encoder.front.B" in dict(fixed.critic.network.named_buffers())
    for adam in (fixed.actor.adam, fixed.critic.adam, fixed.alpha.adam):
        assert not any("front.B" in name for name in adam.parameters)
    assert not [name for name in fixed.state() if name.startswith("adam") and "front.B" in name]
    assert "encoder.front.B" in trained.critic.adam.parameters


@pytest.mark.parametrize("augmentation", [CROP, TRANSLATE], ids=["crop", "translate"])
@pytest.mark.parametrize("batch", [(), (3,)], ids=["one", "batch"])
def test_acting_and_values_take_the_deterministic_form(augmentation, batch):
    """B2: theirs shows the policy raw images of another size wherever it translates."""
    agent = make_pixel_agent(augmentation=augmentation)
    raw = draw_raw(*batch)
    seen = augmentation.center(raw)
    assert seen.shape[-1] == augmentation.size != SIDE
    action = 2 * torch.rand(*batch, ACT, generator=torch.Generator().manual_seed(0)) - 1
    noise = torch.randn(*batch, ACT, generator=torch.Generator().manual_seed(1))
    mean, log_std = split_head(agent.actor(agent.critic.network.encoder(seen)), log_std_min=-10.0)
    torch.testing.assert_close(agent.act(raw), mean.tanh())
    torch.testing.assert_close(
        agent.act(raw, Exploration(noise)), (mean + log_std.exp() * noise).tanh()
    )
    expected = agent.critic(seen, action).squeeze(-1)
    torch.testing.assert_close(agent.values(raw, action), expected)
    torch.testing.assert_close(agent.value(raw, action), expected.amin(dim=0))


@pytest.mark.parametrize("augmentation", [CROP, TRANSLATE, NoAugmentation()])
def test_values_of_augmented_images_are_those_of_a_batch(augmentation):
    agent = make_pixel_agent(augmentation=augmentation)
    batch = draw_images(side=augmentation.out_size(SIDE))
    assert torch.equal(agent.preprocess(batch.obs), batch.obs)
    expected = agent.critic(batch.obs, batch.action).squeeze(-1)
    torch.testing.assert_close(agent.values(batch.obs, batch.action), expected)


def test_acting_keeps_no_graph():
    """B11, first half: even with parameters that ask for gradients."""
    agent = make_pixel_agent()
    for network in agent.networks.values():
        network.requires_grad_(requires_grad=True)
    raw = draw_raw(2)
    for output in (agent.act(raw), agent.values(raw, torch.zeros(2, ACT))):
        assert not output.requires_grad
        assert output.grad_fn is None


def test_the_step_of_the_actor_touches_nothing_but_actor_and_temperature():
    """B11, second half: theirs gives the critics gradients of the actor's loss."""
    both, alone = make_pixel_agent(), make_pixel_agent()
    g = torch.Generator().manual_seed(3)
    for i in range(4):
        batch, noise = draw_images(i), both.draw(g, SIZE)
        noise = noise._replace(next_action=torch.zeros_like(noise.next_action))
        # the bootstrap asks the actor: keep it equal
        for name, value in alone.actor.parameters.items():
            value.copy_(both.actor.parameters[name])
        alone.alpha.log_alpha.copy_(both.alpha.log_alpha)
        both.update(batch, noise, actor=True)
        alone.update(batch, noise, actor=False)
    one, other = both.state(), alone.state()
    moved = {name for name in one if not torch.equal(one[name], other[name])}
    parts = ("actor/", "adam/actor/", "alpha/", "adam/alpha/")
    assert moved
    assert all(name.startswith(parts) for name in moved)
    for network in both.networks.values():
        assert all(p.grad is None and not p.requires_grad for p in network.parameters())


def test_who_is_differentiated_by_what(monkeypatch):
    """B11 and the shared encoder: the critic loss tracks the critics, the actor's the actor.

    In the actor loss neither the critics' weights nor the maps that both read are tracked.
    """
    agent = make_pixel_agent()

    def tracked(x):
        return x.requires_grad

    asked = {"encode": [], "q": [], "_policy": []}
    for name in asked:
        real = getattr(agent, name)

        def spy(parameters, seen, *rest, real=real, name=name):
            inputs = (seen, *(x for x in rest if isinstance(x, torch.Tensor)))
            found = [any(map(tracked, (parameters or {}).values())), any(map(tracked, inputs))]
            asked[name].append(found)
            return real(parameters, seen, *rest)

        monkeypatch.setattr(agent, name, spy)
    advance(agent, 1)
    # bootstrap by the critics' encoder and the target's, critic loss, actor step
    assert asked["encode"] == [[False, False], [False, False], [True, False], [False, False]]
    assert asked["_policy"] == [[False, False], [True, False]]  # bootstrap, actor loss
    assert asked["q"] == [[False, False], [True, True], [False, True]]  # the last by the action


def reference_update(agent, batch, noise):
    """Do one update as anybody would write it, with autograd and torch's optimizers.

    Return actor, critics, target and log α afterwards.
    """
    target = copy.deepcopy(agent.critic.network)
    actor, critic = (
        copy.deepcopy(one.network).requires_grad_() for one in (agent.actor, agent.critic)
    )
    log_alpha = agent.alpha.log_alpha.clone().requires_grad_()
    alpha = log_alpha.exp().detach()
    encoder, head = critic.encoder, critic.head
    with torch.no_grad():
        action, log_prob = squash(
            actor(encoder(batch.next_obs)), noise.next_action, log_std_min=-10.0
        )
        next_q = target(batch.next_obs, action).squeeze(-1).amin(dim=0)
        y = batch.reward + 0.99 * ~batch.terminated * (next_q - alpha * log_prob)
    adam = torch.optim.Adam(critic.parameters(), lr=3e-3)
    q = critic(batch.obs, batch.action).squeeze(-1)
    (q - y).square().mean(dim=1).sum().backward()
    adam.step()
    maps = encoder(batch.obs).detach()
    adam = torch.optim.Adam(actor.parameters(), lr=2e-3)
    action, log_prob = squash(actor(maps), noise.action, log_std_min=-10.0)
    (alpha * log_prob - head(maps, action).squeeze(-1).amin(dim=0)).mean().backward()
    adam.step()
    adam = torch.optim.Adam([log_alpha], lr=1e-2, betas=(0.5, 0.999))
    (log_alpha.exp() * (-log_prob.detach() + ACT).mean()).backward()
    adam.step()
    return actor, critic, log_alpha


@pytest.mark.parametrize("front", FRONTS, ids=repr)
def test_one_update_equals_autograd_and_torchs_adam(front):
    torch.set_default_dtype(torch.double)
    try:
        agent = make_pixel_agent(front=front)
        batch, noise = draw_images(5), agent.draw(torch.Generator().manual_seed(6), SIZE)
        actor, critic, log_alpha = reference_update(agent, batch, noise)
        agent.update(batch, noise)
    finally:
        torch.set_default_dtype(torch.float)
    for mine, theirs in ((agent.actor.network, actor), (agent.critic.network, critic)):
        for name, value in theirs.state_dict().items():
            torch.testing.assert_close(
                mine.state_dict()[name], value, rtol=1e-7, atol=1e-9, msg=name
            )
    torch.testing.assert_close(agent.alpha.log_alpha, log_alpha.detach(), rtol=1e-6, atol=0)


def test_actor_and_temperature_wait_for_their_period():
    agent = make_pixel_agent()
    before = snapshot(agent)
    metrics = advance(agent, actor=False)
    parts = {name.rpartition("/")[0].removeprefix("adam/") for name in changed(before, agent)}
    assert not parts & {"actor", "actor/first", "alpha", "alpha/first"}
    assert {"critic", "critic/first"} <= parts
    assert not {"train/actor_loss", "train/entropy"} & metrics.keys()
    before = snapshot(agent)
    assert {"train/actor_loss", "train/entropy"} <= advance(agent, actor=True).keys()
    moved = changed(before, agent)
    assert {"alpha/log", "actor/project.weight", "adam/actor/count"} <= moved


def test_the_encoder_of_the_target_follows_faster():
    """θ̄ + τ (θ - θ̄) at the second update, τ = 0.01 for the critics' own layers, 0.05 else."""
    agent = make_pixel_agent()
    start = {n: v.clone() for n, v in agent.target.items()}
    advance(agent, 1)
    assert all(torch.equal(agent.target[n], v) for n, v in start.items())
    advance(agent, 1)
    rates = set()
    for name, value in agent.target.items():
        rate = 0.01 if name.startswith("head.net.") else 0.05
        expected = start[name] + rate * (agent.critic.parameters[name] - start[name])
        torch.testing.assert_close(value, expected, rtol=1e-6, atol=1e-9, msg=name)
        rates.add((name.partition(".")[0], rate))
    # the projection and its layer norm count as encoder, as in the code base of RAD
    assert rates == {("encoder", 0.05), ("head", 0.05), ("head", 0.01)}
    assert CRITICS == "head.net."


def test_one_rate_for_all_unless_the_encoder_has_its_own():
    agent = make_pixel_agent(target=PolyakTarget(tau=0.25, period=1))
    start = {n: v.clone() for n, v in agent.target.items()}
    advance(agent, 1)
    for name, value in agent.target.items():
        torch.testing.assert_close(
            value, start[name].lerp(agent.critic.parameters[name], 0.25), msg=name
        )


def test_log_std_lies_between_minus_ten_and_two():
    head = torch.tensor([[0.0, -1e9], [0.0, 0.0], [0.0, 1e9]])
    _, log_std = split_head(head, log_std_min=-10.0)
    torch.testing.assert_close(log_std[:, 0], torch.tensor([-10.0, -4.0, 2.0]))
    agent = make_pixel_agent(log_std_min=-10.0)
    last = agent.actor.network.net.trunk[-1]
    with torch.no_grad():
        last.weight.zero_()
        last.bias.copy_(torch.tensor([0.0, 0.0, -1e9, 1e9]))
    sample = agent.act(draw_raw(), Exploration(torch.ones(ACT)))
    torch.testing.assert_close(sample, torch.tensor([math.exp(-10), math.exp(2)]).tanh())
    with pytest.raises(BadInputError, match="log_std_min"):
        make_pixel_agent(log_std_min=2.0)


def test_adam_of_the_temperature_has_beta_one_half():
    """Two steps by hand: m̂ = (½·½ g₁ + ½ g₂) / (1 - ½²), v̂ = (β₂ g₁² + g₂²)(1 - β₂)/(1 - β₂²)."""
    agent = make_pixel_agent()
    slopes = []
    real = agent.alpha.adam.step
    agent.alpha.adam.step = lambda g: (slopes.append(g["log_alpha"].clone()), real(g))
    start = agent.alpha.log_alpha.double()
    advance(agent, 2)
    one, two = (slope.double() for slope in slopes)
    first = (0.25 * one + 0.5 * two) / 0.75
    second = (0.999 * one**2 + two**2) * 0.001 / (1 - 0.999**2)
    expected = start - 1e-2 * one.sign() - 1e-2 * first / second.sqrt()
    torch.testing.assert_close(agent.alpha.log_alpha.double(), expected, rtol=1e-5, atol=0)


@pytest.mark.parametrize("kind", ["l2", "decoupled"])
def test_weight_decay_reaches_convolutions_but_not_the_basis(kind):
    """From equal gradients: decoupled decay shrinks by (1 - lr λ) and leaves B bit for bit."""
    plain = make_pixel_agent()
    agent = make_pixel_agent(WeightDecay(coefficient=0.5, kind=kind))
    rules = agent.critic.adam.rules
    found = kinds(agent.critic.network)
    assert found["encoder.front.B"] == "basis"
    assert found["encoder.convolutions.0.weight"] == found["head.project.weight"] == "weight"
    assert {n for n, rule in rules.items() if rule.l2 == 0} == {"encoder.front.B"}
    start = snapshot(plain)
    advance(plain)
    advance(agent)
    one, other = plain.state(), agent.state()
    assert torch.equal(one[BASIS], other[BASIS])
    for name in ("critic/encoder.convolutions.2.weight", "critic/head.project.weight"):
        assert not torch.equal(one[name], other[name])
        if kind == "decoupled":
            expected = one[name] - 3e-3 * 0.5 * start[name]
            torch.testing.assert_close(other[name], expected, rtol=1e-5, atol=1e-7)


def test_dropout_has_masks_for_the_heads():
    agent = make_pixel_agent(Dropout(p=0.5))
    noise = agent.draw(torch.Generator().manual_seed(0), SIZE)
    actor = {"net.trunk.1.1.mask", "net.trunk.3.1.mask"}
    critic = {f"head.net.stacked.trunk.{i}.1.mask" for i in (1, 3)}
    assert {name: {*part} for name, part in noise.masks.items()} == {
        "actor": actor,
        "next_actor": actor,
        "critic": critic,
        "actor_critic": critic,
        "next_critic": critic,
    }
    batch = draw_images()
    maps = agent.encode(agent.critic.parameters, batch.obs)
    everything = {n: torch.zeros_like(m) for n, m in noise.masks["critic"].items()}
    q = agent.q(agent.critic.parameters, maps, batch.action, everything)  # the last bias is left
    bias = agent.critic.network.head.net.stacked.trunk[-1].bias
    torch.testing.assert_close(q, bias[:, :, 0].expand(2, len(batch.reward)))
    before = snapshot(agent)
    advance(agent)
    assert BASIS in changed(before, agent)


def test_functional_regularization_holds_the_critics_to_their_lagging_copy():
    agent = make_pixel_agent(FunctionalRegularization(kappa=0.7, lag=2), target=PolyakTarget())
    metrics = advance(agent)
    assert metrics["train/penalty"].item() == 0.0  # the copy is equal at the first update
    batch = draw_images(9)
    q, lagged = (
        agent.q(tensors, agent.encode(tensors, batch.obs), batch.action)
        for tensors in (agent.critic.parameters, agent.target)
    )
    expected = 0.7 * (q - lagged).square().mean(dim=1).sum()
    noise = agent.draw(torch.Generator().manual_seed(0), SIZE)
    metrics = agent.update(batch, noise)
    torch.testing.assert_close(metrics["train/penalty"], expected)
    assert expected.item() > 0
    # the second update copies, encoder and all
    for name, value in (agent.critic.parameters | agent.critic.vectors).items():
        assert torch.equal(agent.target[name], value), name


@pytest.mark.parametrize("one", [SpectralNorm(where="both"), LayerNorm()], ids=repr)
def test_norms_are_put_into_the_heads_alone(one):
    plain, agent = make_pixel_agent(), make_pixel_agent(one)
    advance(agent, 3)
    names = {n for n in agent.state() if n not in plain.state() and n.startswith(("act", "cri"))}
    assert names
    assert all(".trunk." in name and "encoder" not in name for name in names)
    if isinstance(one, SpectralNorm):
        layer = agent.critic.network.head.net.stacked.trunk[2]
        norms = torch.linalg.matrix_norm(layer.weight / layer.norm()[:, None, None], ord=2)
        torch.testing.assert_close(norms, torch.ones(2), rtol=2e-2, atol=0)


@pytest.mark.parametrize("front", FRONTS, ids=repr)
def test_state_goes_round(front):
    agent, other = make_pixel_agent(front=front), make_pixel_agent(front=front, seed=1)
    advance(agent, 3)
    assert "polyak/encoder_tau" in agent.state()
    other.load_state(agent.state())
    for made in (agent, other):
        advance(made, 2, seed=5)
    for name, value in agent.state().items():
        assert torch.equal(other.state()[name], value), name
    assert torch.equal(agent.act(draw_raw()), other.act(draw_raw()))


def test_images_and_encoder_belong_together():
    encoder = PixelEncoderConfig(num_layers=2, num_filters=3)
    both = {"actor": NET, "critic": NET}
    with pytest.raises(BadInputError, match=r"\(channels, height, width\)"):
        PixelSACConfig(encoder=encoder, **both).build(Spaces((5,), ACT))
    with pytest.raises(TypeError, match="augmentation"):
        SACConfig(augmentation=CROP, **both)
    with pytest.raises(BadInputError, match="encoder_tau"):
        SACConfig(target=PolyakTarget(encoder_tau=0.05), **both)
    with pytest.raises(BadInputError, match="off for images"):
        PixelSACConfig(encoder=encoder, normalize_obs=True, **both)
    with pytest.raises(BadInputError, match="at most the image's side 20"):
        make_pixel_agent(augmentation=RandomCrop(size=21))


def test_one_seed_one_agent_and_actor_and_critics_have_layers_of_their_own():
    one, other = make_pixel_agent().state(), make_pixel_agent().state()
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert not torch.equal(one["actor/project.weight"], one["critic/head.project.weight"])
    stacked = one["critic/head.net.stacked.trunk.0.weight"]
    assert not torch.equal(*stacked)
    assert TARGET.encoder_tau == 0.05
