import math

import pytest
import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm

from lff import Fourier, MLPTrunk, NetConfig
from lff.algos import NoTarget, PolyakTarget, SACConfig
from lff.algos.base import GREEDY
from lff.core import BadInputError, digest, from_json, to_json
from lff.nn import ConcatMLPTrunk, D2RLTrunk, DeepFourierTrunk, Ensemble, SIRENTrunk
from lff.nn.ensemble import StackedLinear
from lff.regularizers import (
    BasisRule,
    Dropout,
    FunctionalRegularization,
    LayerNorm,
    SingularValuePenalty,
    SpectralNorm,
    WeightDecay,
    draw_masks,
)
from lff.regularizers.layers import SpectralLinear
from tests.regularizers.agents import (
    ACT,
    NETS,
    OBS,
    SIZE,
    advance,
    draw_batch,
    make,
    same,
    snapshot,
)

ALL = (
    WeightDecay(coefficient=1e-3, kind="decoupled"),
    BasisRule(lr=1e-3, decay=1e-3, anchor=0.1),
    Dropout(p=0.2, when_acting=True),
    FunctionalRegularization(kappa=0.5, lag=2),
    SpectralNorm(where="both"),
    LayerNorm(),
)
TRUNKS = [
    MLPTrunk((8, 6)),
    MLPTrunk((8,)),
    ConcatMLPTrunk((8, 6)),
    D2RLTrunk((8, 6, 4)),
    SIRENTrunk((8, 6)),
    DeepFourierTrunk((8, 6)),
]


def test_spectral_linear_equals_torchs():
    """Same vectors, then iteration by iteration the same weight, output and gradient."""
    linear = nn.Linear(7, 5, dtype=torch.double)
    ours = SpectralLinear(nn.Linear(7, 5, dtype=torch.double))
    ours.weight.data.copy_(linear.weight)
    ours.bias.data.copy_(linear.bias)
    theirs = spectral_norm(linear)
    vectors = theirs.parametrizations.weight[0]
    ours.u.copy_(vectors._u)
    ours.v.copy_(vectors._v)
    x = torch.randn(4, 7, dtype=torch.double)
    for _ in range(3):
        original = theirs.parametrizations.weight.original
        theirs.zero_grad()
        theirs(x).square().sum().backward()  # iterates once, then applies
        with torch.no_grad():
            ours.power_step(ours.weight, ours.u, ours.v)
        ours.zero_grad()
        ours(x).square().sum().backward()
        torch.testing.assert_close(ours.weight.grad, original.grad)
        torch.testing.assert_close(ours.u, vectors._u)
        with torch.no_grad():
            for weight in (original, ours.weight):
                weight.mul_(1.3).add_(torch.linspace(0, 1, 7, dtype=torch.double))


def test_stacked_spectral_linear_normalises_each_member():
    torch.manual_seed(0)  # with two nearly equal singular values 200 iterations are too few
    layers = [nn.Linear(7, 5, dtype=torch.double) for _ in range(3)]
    stacked = SpectralLinear(StackedLinear(layers))
    with torch.no_grad():
        for _ in range(200):
            stacked.power_step(stacked.weight, stacked.u, stacked.v)
        largest = torch.stack([torch.linalg.svdvals(layer.weight)[0] for layer in layers])
        torch.testing.assert_close(stacked.norm(), largest)
        x = torch.randn(3, 4, 7, dtype=torch.double)
        for m, layer in enumerate(layers):
            expected = x[m] @ layer.weight.T / largest[m] + layer.bias
            torch.testing.assert_close(stacked(x)[m], expected)
            torch.testing.assert_close(stacked.member(m)(x[m]), expected)


def test_an_orthogonal_layer_starts_with_norm_1():
    agent = make(SpectralNorm())
    (layer,) = [m for m in agent.critic.network.modules() if isinstance(m, SpectralLinear)]
    torch.testing.assert_close(layer.norm(), torch.ones(2))
    assert not any(isinstance(m, SpectralLinear) for m in agent.actor.network.modules())


@pytest.mark.parametrize("trunk", TRUNKS, ids=lambda t: f"{type(t).__name__}{len(t.hidden)}")
def test_every_trunk_takes_them_all(trunk):
    """One norm and one mask per hidden layer; the last hidden layer is the normalised one."""
    net = NetConfig(Fourier(fourier_dim=6, sigma=0.1), trunk)
    agent = make(*ALL, net=net)
    layers = len(trunk.hidden)
    for network in (agent.actor.network, agent.critic.network):
        kinds = [type(m).__name__ for m in network.modules()]
        assert sum("LayerNorm" in kind for kind in kinds) == layers
        assert kinds.count("MaskedDropout") == layers
        assert kinds.count("SpectralLinear") == 1
    advance(agent, 2)
    assert all(value.isfinite().all() for value in agent.state().values())
    critic = agent.critic.network.double()  # sines of large phases amplify float32's rounding
    obs, action = torch.randn(3, OBS).double(), torch.rand(3, ACT).double()
    members = torch.stack([critic.member(i)(obs, action) for i in range(2)])
    torch.testing.assert_close(critic(obs, action), members)


def test_masks_drop_with_probability_p_and_keep_the_mean(rng):
    agent = make(Dropout(p=0.3))
    masks = draw_masks(agent.critic.network, rng, batch=(2000,))
    assert [tuple(m.shape) for m in masks.values()] == [(2, 2000, 10), (2, 2000, 8)]
    for mask in masks.values():
        assert sorted(mask.unique().tolist()) == pytest.approx([0.0, 1 / 0.7])
        assert (mask == 0).float().mean().item() == pytest.approx(0.3, abs=0.01)
    one, other = masks["stacked.trunk.1.1.mask"]
    assert not torch.equal(one, other)


def test_acting_drops_nothing_unless_told_to(rng):
    plain, right, bug = (
        make(*extra) for extra in ((), (Dropout(p=0.5),), (Dropout(p=0.5, when_acting=True),))
    )
    obs = torch.randn(OBS)
    before = rng.get_state()
    assert right.explore(rng, greedy=True) == GREEDY
    assert torch.equal(rng.get_state(), before)
    torch.testing.assert_close(right.act(obs), plain.act(obs))
    exploration = bug.explore(rng, greedy=True)
    dropped = bug.act(obs, exploration)
    assert not torch.allclose(dropped, plain.act(obs))
    assert torch.equal(dropped, bug.act(obs, exploration))
    torch.testing.assert_close(bug.act(obs), plain.act(obs))
    torch.testing.assert_close(bug.value(obs, dropped), plain.value(obs, dropped))


def test_functional_copy_is_made_every_lag_updates():
    agent = make(FunctionalRegularization(lag=3))
    start = {name: value.clone() for name, value in agent.target.items()}
    advance(agent, 2)
    assert same(agent.target, start)
    advance(agent, 1)
    assert same(agent.target, agent.critic.parameters)
    advance(agent, 1)
    assert not same(agent.target, agent.critic.parameters)


def test_functional_copy_takes_its_singular_vectors_along():
    agent = make(FunctionalRegularization(lag=2), SpectralNorm())
    advance(agent, 2)
    buffers = dict(agent.critic.network.named_buffers())
    vectors = [name for name in agent.target if name.endswith((".u", ".v"))]
    assert len(vectors) == 2
    assert all(torch.equal(agent.target[name], buffers[name]) for name in vectors)


@pytest.mark.parametrize("regularizers", [(r,) for r in ALL] + [ALL], ids=lambda r: str(len(r)))
def test_state_round_trip_continues_bit_for_bit(regularizers):
    one = make(*regularizers, seed=0, normalize_obs=True)
    other = make(*regularizers, seed=1, normalize_obs=True)
    g = torch.Generator().manual_seed(2)
    noises = [one.draw(g, SIZE) for _ in range(6)]
    for i, noise in enumerate(noises[:3]):
        one.observe(draw_batch(i).obs.numpy())
        one.update(draw_batch(i), noise)
    state = snapshot(one)
    assert not any("mask" in name for name in state)
    other.load_state(state)
    for i, noise in enumerate(noises[3:]):
        for agent in (one, other):
            agent.observe(draw_batch(i).obs.numpy())
            agent.update(draw_batch(i), noise)
    assert same(one.state(), other.state())


def test_weights_are_those_of_the_seed_with_or_without_regularizers():
    plain, full = make().state(), make(*ALL).state()
    names = [n for n in plain if n.startswith(("actor/", "critic/"))]
    assert len(names) > 10
    assert all(torch.equal(plain[n], full[n]) for n in names)


def test_configs_travel_and_digests_hold():
    config = SACConfig(actor=NETS["lff"], critic=NETS["mlp"])
    assert digest(config) == "7a82aca5d9749126"
    full = SACConfig(actor=NETS["lff"], critic=NETS["mlp"], regularizers=ALL, normalize_obs=True)
    assert digest(full) != digest(config)
    assert from_json(SACConfig, to_json(full)) == full
    assert from_json(SACConfig, to_json(config)) == config


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"regularizers": (Dropout(), Dropout(p=0.1))}, "Dropout"),
        ({"regularizers": (WeightDecay(), WeightDecay(where="actor"))}, "actor must be unique"),
        ({"regularizers": (FunctionalRegularization(),), "target": NoTarget()}, "target must be"),
        (
            {"regularizers": (FunctionalRegularization(),), "target": PolyakTarget(tau=0.1)},
            "drop one of the two",
        ),
    ],
    ids=["two", "overlap", "no target", "other target"],
)
def test_contradictions_are_refused(options, says):
    with pytest.raises(BadInputError, match=says):
        SACConfig(actor=NETS["lff"], critic=NETS["lff"], **options)


def test_two_of_a_kind_on_different_networks_are_fine():
    pair = (Dropout(p=0.1, where="actor"), Dropout(p=0.4, where="critic"))
    agent = make(*pair)
    drops = {"actor": agent.actor.dropout.p, "critic": agent.critic.dropout.p}
    assert drops == {"actor": 0.1, "critic": 0.4}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: Dropout(p=1.0), r"in \(0, 1\)"),
        (lambda: Dropout(p=0.0), "leave dropout out"),
        (lambda: Dropout(when_acting=True, where="critic"), "the actor that acts"),
        (lambda: WeightDecay(coefficient=-1.0), "coefficient"),
        (lambda: WeightDecay(kind="l3"), "use l2, say"),
        (lambda: BasisRule(anchor=math.nan), "anchor"),
        (lambda: BasisRule(lr=-1.0), "lr must be"),
        (lambda: FunctionalRegularization(kappa=-1.0), "kappa"),
        (lambda: FunctionalRegularization(lag=0), "lag must be"),
        (lambda: FunctionalRegularization(where="actor"), "where must be one of critic"),
        (lambda: SingularValuePenalty(where="actor"), "where must be one of critic"),
        (lambda: LayerNorm(where="critics"), "did you mean critic"),
    ],
    ids=range(12),
)
def test_bad_values(build, says):
    with pytest.raises(BadInputError, match=says):
        build()


def test_every_name_under_device_meta():
    """Shapes and placement without a GPU: everything is on the device, and updates run there."""
    agent = make(*ALL, device="meta", normalize_obs=True)
    places = {name: value.device.type for name, value in agent.state().items()}
    statistics = {name for name in places if name.startswith("norm/")}
    assert len(statistics) == 5
    assert {places[name] for name in statistics} == {"cpu"}  # where observations arrive
    assert {places[name] for name in places if name not in statistics} == {"meta"}
    noise = agent.draw(torch.Generator().manual_seed(0), SIZE)
    assert noise.action.device.type == "meta"
    metrics = agent.update(draw_batch(), noise)
    assert {value.device.type for value in metrics.values()} == {"meta"}
    assert all(value.shape == () for value in metrics.values())


def test_a_device_draws_the_same_numbers():
    one, other = make(*ALL), make(*ALL, device=torch.device("cpu"))
    advance(one, 2)
    advance(other, 2)
    assert same(one.state(), other.state())
    assert one.act(torch.zeros(OBS)).device.type == "cpu"


def test_an_ensemble_of_any_size_is_regularized():
    agent = make(*ALL, num_critics=5)
    assert isinstance(agent.critic.network, Ensemble)
    advance(agent, 2)
    u = agent.state()["target/stacked.trunk.2.u"]
    torch.testing.assert_close(u.norm(dim=-1), torch.ones(5))
