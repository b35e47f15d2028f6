"""Each regularizer's effect on one update equals a formula written by hand, in float64."""

import pytest
import torch

from lff.regularizers import (
    BasisRule,
    Dropout,
    FunctionalRegularization,
    LayerNorm,
    SpectralNorm,
    WeightDecay,
)
from tests.regularizers.agents import (
    SIZE,
    Reference,
    advance,
    assert_first_step,
    draw_batch,
    make,
    moved,
)


@pytest.fixture(autouse=True)
def _double():
    torch.set_default_dtype(torch.double)
    yield
    torch.set_default_dtype(torch.float)


nets = pytest.mark.parametrize("net", ["lff", "mlp"])


def update(agent, *, change=None, **how):
    batch, noise = draw_batch(5), agent.draw(torch.Generator().manual_seed(6), SIZE)
    if how.pop("masked", False):
        how["call"] = (how.get("call") or {}) | {"masks": masks_of(noise)}
    reference = Reference(agent, batch, noise, **how)
    metrics = agent.update(batch, noise)
    assert_first_step(agent, reference, change=change)
    return metrics


def masks_of(noise):
    def masks(name, member):
        if name not in noise.masks:
            return (1.0, 1.0)
        found = noise.masks[name].values()
        return tuple(mask if member is None else mask[member] for mask in found)

    return masks


@nets
def test_nothing(net):
    update(moved(make(net=net)))


@nets
@pytest.mark.parametrize("where", ["actor", "critic", "both"])
@pytest.mark.parametrize("kind", ["l2", "decoupled", "l1"])
def test_weight_decay(net, kind, where):
    decay = 0.3

    def change(role, name, value, gradient, lr):
        if where not in (role, "both") or name == "front.B":
            return value, gradient, lr
        if kind == "decoupled":
            return value * (1 - lr * decay), gradient, lr
        return value, gradient + decay * (value if kind == "l2" else value.sign()), lr

    agent = moved(make(WeightDecay(coefficient=decay, kind=kind, where=where), net=net))
    update(agent, change=change)


def test_weight_decay_without_biases():
    def change(role, name, value, gradient, lr):
        decays = name.startswith("trunk") and name.endswith("weight")
        return value, gradient + 0.3 * value if decays else gradient, lr

    update(moved(make(WeightDecay(coefficient=0.3, biases=False))), change=change)


@pytest.mark.parametrize("kind", ["l2", "decoupled", "l1"])
def test_basis_rule(kind):
    rule = BasisRule(lr=0.02, decay=0.5, kind=kind, anchor=0.7, where="critic")
    start = make(rule).state()["critic/stacked.front.B"].clone()
    agent = moved(make(rule))
    assert not torch.equal(agent.state()["critic/stacked.front.B"], start)
    now = agent.state()["critic/stacked.front.B"].clone()

    def change(role, name, value, gradient, lr):
        if (role, name) != ("critic", "front.B"):
            return value, gradient, lr
        (member,) = [m for m in range(2) if torch.equal(now[m], value)]
        gradient = gradient + 2 * 0.7 * (value - start[member])
        if kind == "decoupled":
            return value * (1 - 0.02 * 0.5), gradient, 0.02
        return value, gradient + 0.5 * (value if kind == "l2" else value.sign()), 0.02

    update(agent, change=change)


@nets
@pytest.mark.parametrize("options", [{}, {"in_targets": False}, {"where": "critic"}], ids=str)
def test_dropout(net, options):
    agent = moved(make(Dropout(p=0.4, **options), net=net))
    noise = agent.draw(torch.Generator().manual_seed(0), SIZE)
    passes = {"critic", "actor_critic"}
    if options.get("in_targets", True):
        passes |= {"next_critic"}
    if "where" not in options:
        passes |= {"actor"} | ({"next_actor"} if "in_targets" not in options else set())
    assert set(noise.masks) == passes
    update(agent, masked=True)


@nets
def test_functional_regularization(net):
    agent = moved(make(FunctionalRegularization(kappa=0.7, lag=1000), net=net))
    assert any(not torch.equal(agent.target[n], v) for n, v in agent.critic.parameters.items())
    metrics = update(agent, online=True, penalty=0.7)
    assert metrics["train/penalty"].item() > 0


@nets
@pytest.mark.parametrize("where", ["critic", "both"])
def test_spectral_norm(net, where):
    spectral = {"spectral": lambda _, member: member is not None or where == "both"}
    update(moved(make(SpectralNorm(where=where), net=net)), call=spectral)


@nets
def test_layer_norm(net):
    update(moved(make(LayerNorm(), net=net)), call={"layer_norm": True})


@nets
@pytest.mark.parametrize("backwards", [False, True])
def test_all_together(net, backwards):
    decay, kappa = 0.2, 0.4
    regularizers = [
        WeightDecay(coefficient=decay),
        BasisRule(lr=0.01),
        Dropout(p=0.3),
        FunctionalRegularization(kappa=kappa),
        SpectralNorm(where="both"),
        LayerNorm(),
    ]

    def change(role, name, value, gradient, lr):
        if name == "front.B":
            return value, gradient, 0.01
        return value, gradient + decay * value, lr

    agent = moved(make(*regularizers[:: -1 if backwards else 1], net=net))
    call = {"layer_norm": True, "spectral": True}
    update(agent, change=change, call=call, online=True, penalty=kappa, masked=True)


def test_the_order_of_regularizers_does_not_matter():
    pair = (Dropout(p=0.3), SpectralNorm(where="both"), LayerNorm())
    one, other = make(*pair), make(*pair[::-1])
    advance(one, 3)
    advance(other, 3)
    assert one.state().keys() == other.state().keys()
    assert all(torch.equal(value, other.state()[name]) for name, value in one.state().items())
