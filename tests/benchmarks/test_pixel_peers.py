"""The RAD-style peer computes what our SAC from pixels computes: losses, gradients, targets."""

import copy
import math
import sys
from pathlib import Path

import pytest
import torch

from lff.algos import LearnedAlpha, PixelSACConfig, PolyakTarget, Spaces
from lff.algos.base import Exploration
from lff.data import Batch, RandomCrop
from lff.nn import Conv1x1, Fourier2d, MLPTrunk, NetConfig, NoFront, PixelEncoderConfig
from lff.regularizers import WeightDecay

FOLDER = str(Path(__file__).parents[2] / "benchmarks")
SHAPE, CROPPED, ACT, SIZE = (9, 24, 24), 20, 2, 8
EXACT = {"rtol": 1e-9, "atol": 1e-12}
"""Both compute in float64; what is left is the order of sums."""
FIRST_SHARE = 0.1
"""1 - β1: after one update Adam's first moment is this part of the gradient."""
DECAY = WeightDecay(coefficient=1e-2)
CASES = {
    "none": (NoFront(), ()),
    "decay": (NoFront(), (DECAY,)),
    "1x1": (Conv1x1(channels=12, scale=2 * math.pi), ()),
    "trained": (Fourier2d(fourier_dim=8, sigma=0.1), ()),
    "trained, decay": (Fourier2d(fourier_dim=8, sigma=0.1), (DECAY,)),
    "fixed": (Fourier2d(fourier_dim=8, sigma=0.1, trainable=False), ()),
    "no concat": (Fourier2d(fourier_dim=8, sigma=0.1, concat_input=False), ()),
}


@pytest.fixture
def rad(monkeypatch):
    """The peer, whose script is found by its folder, in float64."""
    monkeypatch.syspath_prepend(FOLDER)
    torch.set_default_dtype(torch.float64)
    import rad_style

    yield rad_style
    torch.set_default_dtype(torch.float32)
    del sys.modules["rad_style"]


def build(case):
    front, regularizers = CASES[case]
    net = NetConfig(trunk=MLPTrunk(hidden=(16, 16)))
    config = PixelSACConfig(
        actor=net,
        critic=net,
        encoder=PixelEncoderConfig(front=front, num_filters=4),
        augmentation=RandomCrop(size=CROPPED),
        batch_size=SIZE,
        actor_lr=1e-3,
        critic_lr=1e-3,
        alpha=LearnedAlpha(initial=0.1, lr=1e-2, beta1=0.5),
        target=PolyakTarget(tau=0.01, encoder_tau=0.05, period=2),
        actor_period=2,
        log_std_min=-10.0,
        regularizers=regularizers,
    )
    return config.build(Spaces(SHAPE, ACT), generator=torch.Generator().manual_seed(0))


def peer_of(rad, ours):
    theirs = rad.Agent(ours.config, SHAPE, ACT)
    theirs.load(ours)
    theirs.floor = 0.0  # the published code adds 1e-6 inside a logarithm
    return theirs


def draw_batch(g):
    images = (SIZE, 9, CROPPED, CROPPED)
    return Batch(
        obs=torch.randint(256, images, generator=g, dtype=torch.uint8),
        action=2 * torch.rand(SIZE, ACT, generator=g) - 1,
        reward=torch.randn(SIZE, generator=g),
        next_obs=torch.randint(256, images, generator=g, dtype=torch.uint8),
        terminated=torch.rand(SIZE, generator=g) < 0.3,
    )


def as_theirs(batch):
    """Floats up to 255, and a column each for reward and 1 - terminated."""
    return (
        batch.obs.double(),
        batch.action,
        batch.reward[:, None],
        batch.next_obs.double(),
        (~batch.terminated).double()[:, None],
    )


def step(ours, theirs, g, *, actor):
    """One update of each; losses as (ours, theirs)."""
    batch, noise = draw_batch(g), ours.draw(g, SIZE)
    metrics = ours.update(batch, noise, actor=actor)
    losses = theirs.update(as_theirs(batch), noise.next_action, noise.action)
    pairs = [(metrics["train/critic_loss"], losses["critic"])]
    if actor:
        gap = metrics["train/entropy"] - ours.alpha.target_entropy
        pairs.append((metrics["train/actor_loss"], losses["actor"]))
        pairs.append((metrics["train/alpha"] * gap, losses["alpha"]))
    return pairs


def gradients(adam):
    """Gradients of the first update, decay included."""
    return {name: moment / FIRST_SHARE for name, moment in adam.first.items()}


def with_tensors(network, tensors):
    """A copy of a network whose parameters are other tensors; the rest is 0."""
    other = copy.deepcopy(network)
    for name, parameter in (*other.named_parameters(), *other.named_buffers()):
        parameter.data = tensors.get(name, torch.zeros_like(parameter)).clone()
    return other


def their_gradients(network, decay):
    """Gradient and decay of each parameter, by name; B is left out of decay, and may be fixed."""
    found = {}
    for name, p in network.named_parameters():
        of_basis = name == "encoder.front.weight" and network.encoder.waves
        found[name] = torch.zeros_like(p) if p.grad is None else p.grad.clone()
        found[name] += 0.0 if of_basis else decay * p.detach()
    return found


@pytest.mark.parametrize("case", CASES)
def test_losses_and_every_gradient_of_the_first_update(rad, case, rng):
    ours = build(case)
    theirs = peer_of(rad, ours)
    decay = sum(r.coefficient for r in ours.config.regularizers)
    batch, noise = draw_batch(rng), ours.draw(rng, SIZE)
    metrics = ours.update(batch, noise, actor=True)
    read = as_theirs(batch)
    before = copy.deepcopy(theirs.critic)
    critic_loss = theirs.update_critic(read, noise.next_action)
    for p, q in zip(before.parameters(), theirs.critic.parameters(), strict=True):
        p.grad = q.grad
    critic_gradients = their_gradients(before, decay)
    trunk = {name: p.detach().clone() for name, p in theirs.actor.named_parameters()}
    actor_loss, _ = theirs.update_actor_and_alpha(read[0], noise.action)
    torch.testing.assert_close(metrics["train/critic_loss"], critic_loss, **EXACT)
    torch.testing.assert_close(metrics["train/actor_loss"], actor_loss, **EXACT)
    expected = rad.Agent(ours.config, SHAPE, ACT)  # our gradients by their names
    rad.copy_networks(
        expected,
        with_tensors(ours.actor.network, gradients(ours.actor.adam)),
        with_tensors(ours.critics, gradients(ours.critic.adam)),
    )
    for name, parameter in expected.critic.named_parameters():
        torch.testing.assert_close(critic_gradients[name], parameter.data, **EXACT, msg=name)
    named, wanted = dict(theirs.actor.named_parameters()), dict(expected.actor.named_parameters())
    own = [n for n in named if not n.startswith(("encoder.convs", "encoder.front"))]
    for name in own:
        gradient = named[name].grad + decay * trunk[name]
        torch.testing.assert_close(gradient, wanted[name].data, **EXACT, msg=name)
    assert len(own) == 2 * 5  # projection, layer norm, three layers
    assert all(named[n].grad is None for n in named if n not in own)  # the critics train the rest
    assert all(
        g.abs().max() > 0
        for n, g in critic_gradients.items()
        if case != "fixed" or "front" not in n
    )


@pytest.mark.parametrize("case", CASES)
def test_parameters_and_targets_after_four_updates(rad, case, rng):
    ours = build(case)
    theirs = peer_of(rad, ours)
    start = copy.deepcopy(theirs.target)
    for number in range(4):  # two with the actor, two moves of the targets
        for one, other in step(ours, theirs, rng, actor=number % 2 == 0):
            torch.testing.assert_close(one, other, **EXACT)
    expected = peer_of(rad, ours)
    for part in ("actor", "critic", "target"):
        actual, wanted = getattr(theirs, part), getattr(expected, part)
        for (name, one), other in zip(actual.named_parameters(), wanted.parameters(), strict=True):
            torch.testing.assert_close(one.data, other.data, rtol=1e-7, atol=1e-9, msg=name)
    torch.testing.assert_close(theirs.log_alpha.data, ours.alpha.log_alpha, **EXACT)
    moved = {
        n: not torch.allclose(p, q, rtol=1e-12, atol=0.0)
        for (n, p), q in zip(start.named_parameters(), theirs.target.parameters(), strict=True)
    }
    assert all(moved[n] == ("front" not in n or case != "fixed") for n in moved)


@pytest.mark.parametrize("case", ["none", "trained"])
def test_both_act_alike(rad, case, rng):
    ours = build(case)
    theirs = rad.Agent(ours.config, SHAPE, ACT)
    theirs.load(ours)
    obs = torch.randint(256, SHAPE, generator=rng, dtype=torch.uint8)
    theirs.actor.float()
    for noise in (None, torch.randn(ACT, generator=rng)):
        noised = Exploration(noise)
        there = theirs.act(obs.numpy(), None if noise is None else noise.float())
        torch.testing.assert_close(
            torch.from_numpy(there).double(), ours.act(obs, noised), rtol=1e-4, atol=1e-5
        )
