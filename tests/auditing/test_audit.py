"""The audit is tested by breaking real networks in each way it claims to see."""

import copy
from importlib.metadata import EntryPoint
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from lff import Ensemble, Fourier, LearnedFourierFeatures, MLPTrunk, NetConfig, audit
from lff.auditing import Parts, unpack
from lff.nn import (
    FFN,
    Fourier2d,
    LinearControl,
    LogUniformFourier,
    PixelEncoderConfig,
)
from lff.optim import Adam, Rule
from tests.auditing.agents import agent, make, problems
from tests.nn.test_ensemble import OwnNetwork


def test_a_healthy_agent_passes_and_the_table_says_so(capsys):
    report = audit(agent(actor=make(seed=0), q1=make(seed=1), q2=make(seed=2)))
    assert report.ok
    assert [layer.name for layer in report.layers] == ["actor.front", "q1.front", "q2.front"]
    assert all(layer.in_optimizers == 1 for layer in report.layers)
    text = capsys.readouterr().out
    assert "q1.front" in text
    assert "ok: 3 Fourier layer(s)" in text


def test_show_false_prints_nothing(capsys):
    audit(make(), show=False)
    assert capsys.readouterr().out == ""


OVERWRITES = {
    "orthogonal": (nn.init.orthogonal_, "orthogonal initialisation with gain 1"),
    "xavier uniform": (nn.init.xavier_uniform_, "xavier_uniform_"),
    "xavier normal": (nn.init.xavier_normal_, "xavier_normal_"),
    "default of nn.Linear": (
        lambda B: nn.init.kaiming_uniform_(B, a=5**0.5),
        "the default of nn.Linear",
    ),
    "uniform between the old extremes": (
        lambda B: B.data.uniform_(B.min().item(), B.max().item()),
        "TorchRL",
    ),
    "zeros": (nn.init.zeros_, "zeros"),
    "constant": (lambda B: nn.init.constant_(B, 0.01), "one constant"),
    "unit normal": (nn.init.normal_, "normal_ with its default std"),
    "nan": (lambda B: B.data.fill_(float("nan")), "non-finite"),
    "scaled": (lambda B: B.data.mul_(3), "overwritten, or trained by an unknown optimizer"),
}


@pytest.mark.parametrize(("overwrite", "words"), OVERWRITES.values(), ids=OVERWRITES.keys())
def test_overwritten_basis_is_found_and_the_culprit_named(overwrite, words):
    q = make()
    overwrite(q.front.B)
    report = audit(agent(q=q), show=False)
    assert problems(report) == [("spread", "q.front")]
    assert words in report.findings[0].message


def test_orthogonal_of_the_right_spread_is_still_found():
    q = make(sigma=0.05)
    nn.init.orthogonal_(q.front.B, gain=0.05 * 64**0.5)
    assert audit(q, show=False).layers[0].spread.fits
    assert problems(audit(q, show=False)) == [("spread", "front")]


@pytest.mark.parametrize("seed", range(20))
def test_fresh_draws_raise_no_alarm(seed):
    for width in (1, 2, 24):
        assert audit(make(width=width, seed=seed), show=False).ok


def test_training_moves_the_spread_and_is_not_called_a_fault():
    q = make(sigma=0.001)
    owner = agent(q=q)
    for _ in range(50):
        q(torch.randn(32, 6)).square().mean().backward()
        owner.optimizer.step()
    report = audit(owner, show=False)
    assert report.ok
    assert report.layers[0].steps == 50
    assert report.layers[0].spread.ratio > 2
    assert "B has moved over 50 updates" in report.findings[0].message


def test_a_target_that_follows_a_trained_network_is_no_fault():
    q = make(sigma=0.001)
    owner = agent(q=q)
    owner.q_target = copy.deepcopy(q)
    for _ in range(50):
        q(torch.randn(32, 6)).square().mean().backward()
        owner.optimizer.step()
    with torch.no_grad():
        owner.q_target.front.B.lerp_(q.front.B, 0.5)
    report = audit(owner, show=False)
    assert report.ok, str(report)
    assert report.layers[1].spread.ratio > 1.5
    assert "target" in str(report).splitlines()[3]


def test_an_overwritten_target_of_an_untrained_agent_is_found():
    q = make()
    owner = agent(q=q)
    owner.q_target = copy.deepcopy(q)
    nn.init.orthogonal_(owner.q_target.front.B)
    assert problems(audit(owner, show=False)) == [("spread", "q_target.front")]


def test_optimizer_made_before_the_layer():
    q = make()
    optimizer = torch.optim.Adam(q.trunk.parameters())
    report = audit(q, optimizers=optimizer, show=False)
    assert problems(report) == [("optimizer", "front")]
    assert "in no optimizer" in report.findings[0].message
    assert report.layers[0].in_optimizers == 0


def test_two_optimizers_for_one_basis():
    q = make()
    two = [torch.optim.Adam(q.parameters()), torch.optim.SGD([q.front.B], lr=0.1)]
    report = audit(q, optimizers=two, show=False)
    assert problems(report) == [("optimizer", "front")]
    assert report.layers[0].in_optimizers == 2


def test_gradient_switched_off():
    q = make()
    q.front.B.requires_grad_(requires_grad=False)
    report = audit(agent(q=q), show=False)
    assert problems(report) == [("optimizer", "q.front")]
    assert "requires_grad is False" in report.findings[0].message


def test_frozen_basis_needs_no_optimizer():
    report = audit(agent(q=make(trainable=False)), show=False)
    assert report.ok
    assert report.layers[0].in_optimizers is None
    assert "frozen" in str(report)


def test_two_critics_share_one_layer():
    q1, q2 = make(seed=1), make(seed=2)
    q2.front = q1.front
    report = audit(SimpleNamespace(q1=q1, q2=q2), show=False)
    assert problems(report) == [("shared", "q1.front and q2.front")]
    assert "would not be independent" in str(report)


def test_two_critics_drawn_from_one_seed():
    report = audit(agent(q1=make(seed=1), q2=make(seed=1)), show=False)
    assert problems(report) == [("shared", "q1.front and q2.front")]
    assert "same seed" in str(report)


def test_members_of_an_ensemble_drawn_from_one_seed():
    assert problems(audit(Ensemble([make(seed=1), make(seed=1)]), show=False)) == [
        ("shared", "stacked.front[0] and stacked.front[1]")
    ]
    assert audit(Ensemble([make(seed=1), make(seed=2)]), show=False).ok


def test_a_target_is_a_copy_and_may_be_equal():
    q = make()
    owner = agent(q=q)
    owner.q_target = copy.deepcopy(q)
    assert audit(owner, show=False).ok
    owner.q_target = q
    report = audit(owner, show=False)
    assert problems(report) == [("shared", "q.front and q_target.front")]
    assert "the target does not lag" in str(report)


def test_a_lagged_copy_under_another_name_is_no_second_critic():
    q = make()
    owner = agent(q=q)
    owner.q_slow = copy.deepcopy(q).requires_grad_(requires_grad=False)
    assert ("shared", "q.front and q_slow.front") not in problems(audit(owner, show=False))


def test_shared_encoder_of_actor_and_critic_is_only_a_remark():
    encoder = PixelEncoderConfig(front=Fourier2d(fourier_dim=64, sigma=0.1), num_filters=4)
    encoder = encoder.build((9, 21, 21))
    actor, critic = nn.Module(), nn.Module()
    actor.encoder = critic.encoder = encoder
    report = audit(SimpleNamespace(actor=actor, critic=critic), show=False)
    assert report.ok
    assert any("as with a shared encoder" in finding.message for finding in report.findings)


def test_phases_are_those_of_the_inputs():
    q = make(sigma=0.1)
    obs = torch.randn(500, 6)
    layer = audit(q, obs, show=False).layers[0]
    expected = q.front.phase(obs).abs().flatten().quantile(torch.tensor([0.05, 0.5, 0.95]))
    torch.testing.assert_close(torch.tensor(layer.phases.quantiles), expected.detach())
    assert layer.phases.points == 500


@pytest.mark.parametrize(
    ("sigma", "linear", "constant"), [(1e-3, 0.5, 0.5), (1e-5, 0.0, 1.0), (1.0, 0.0, 0.0)]
)
def test_share_of_the_embedding_that_is_no_wave(sigma, linear, constant):
    """At σ = 0.001 sines are linear and cosines constant; below, all constant; at 1, all waves."""
    report = audit(make(sigma=sigma), 3 * torch.randn(500, 6), show=False)
    phases = report.layers[0].phases
    assert phases.linear_share == pytest.approx(linear, abs=0.02)
    assert phases.constant_share == pytest.approx(constant, abs=0.02)
    remarks = [finding.message for finding in report.findings if finding.check == "phase"]
    expected = "100% of the Fourier features are linear or constant on these inputs; normal before"
    assert [remark.startswith(expected) for remark in remarks] == [True] * (sigma < 1)
    assert report.ok


def test_a_fixed_b_without_waves_is_told_which_sigma_to_take():
    net = NetConfig(Fourier(fourier_dim=64, sigma=1e-3, trainable=False), MLPTrunk((8,)))
    (finding,) = audit(net.build(6, 1), torch.randn(500, 6), show=False).findings
    assert finding.message.endswith(
        "and B is fixed; `lff sigma` names the σ that spreads phases by 1 rad"
    )


def test_linear_control_is_seen_as_linear():
    net = NetConfig(LinearControl(fourier_dim=128, sigma=1.0), MLPTrunk((8,))).build(6, 1)
    phases = audit(net, torch.randn(500, 6), show=False).layers[0].phases
    assert (phases.linear_share, phases.constant_share) == (0.5, 0.5)


def test_critic_inputs_are_given_as_a_pair():
    obs, action = torch.randn(100, 4), torch.randn(100, 2)
    owner = SimpleNamespace(actor=make(width=4, seed=1), critic=make(width=6, seed=2))
    report = audit(owner, (obs, action), show=False)
    assert [layer.phases.points for layer in report.layers] == [100, 100]
    expected = owner.critic.front.phase(torch.cat([obs, action], dim=-1)).abs().median().item()
    assert report.layers[1].phases.quantiles[1] == pytest.approx(expected, rel=1e-2)


def test_inputs_of_a_wrong_width_are_remarked():
    report = audit(make(), torch.randn(100, 7), show=False)
    assert report.layers[0].phases is None
    assert "width 6" in report.findings[0].message


def test_images_and_their_pixels():
    config = PixelEncoderConfig(front=Fourier2d(fourier_dim=64, sigma=0.1), num_filters=4)
    encoder = config.build((9, 21, 21))
    images = torch.randint(256, (10, 9, 21, 21), dtype=torch.uint8)
    phases = audit(encoder, images, show=False).layers[0].phases
    expected = encoder.front.phase(images / 255).abs().median().item()
    assert phases.quantiles[1] == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("front", [LogUniformFourier(fourier_dim=64), FFN(scale=0.1)], ids=repr)
def test_other_bases_are_found_too(front):
    net = NetConfig(front, MLPTrunk((8,))).build(6, 1)
    assert audit(net, torch.randn(50, 6), show=False).ok
    with torch.no_grad():
        net.front.B.mul_(3)
    assert problems(audit(net, show=False)) == [("spread", "front")]


def test_layers_inside_a_vmapped_ensemble_are_found():
    ensemble = Ensemble([OwnNetwork(), OwnNetwork()])
    report = audit(agent(q=ensemble), show=False)
    assert [layer.name for layer in report.layers] == [
        "q.stacked.fourier[0]",
        "q.stacked.fourier[1]",
    ]
    assert [layer.in_optimizers for layer in report.layers] == [1, 1]


def test_optimizer_held_by_a_module_is_found():
    q = make()
    q.optimizer = torch.optim.Adam(q.parameters())
    assert audit(q, show=False).layers[0].in_optimizers == 1


def test_nothing_to_audit_is_a_problem():
    report = audit(nn.Linear(3, 1), show=False)
    assert problems(report) == [("layers", "")]


class Host:
    """An agent whose networks no search through attributes finds."""

    __slots__ = ("hidden",)

    def __init__(self):
        self.hidden = make()


def unpack_host(value):
    return Parts(modules={"net": value.hidden}) if isinstance(value, Host) else None


def test_a_plug_in_registers_its_host_by_an_entry_point(monkeypatch):
    assert not audit(Host(), show=False).layers
    point = EntryPoint(__name__, f"{__name__}:unpack_host", unpack.GROUP)
    monkeypatch.setattr(unpack, "_hosts", lambda: (point,))
    unpack._unpackers.cache_clear()
    try:
        assert audit(Host(), show=False).layers[0].name == "net.front"
    finally:
        unpack._unpackers.cache_clear()


class Agent:
    """An agent as ours are: networks and optimizers by name, gradients from torch.func."""

    def __init__(self):
        self.networks = {name: make(seed=i).requires_grad_(False) for i, name in enumerate("qv")}
        parameters = dict(nn.ModuleDict(self.networks).named_parameters())
        self.optimizers = {"adam": Adam(parameters, dict.fromkeys(parameters, Rule(1e-3)))}


def test_an_agent_with_networks_and_our_optimizers_needs_no_plug_in():
    report = audit(Agent(), show=False)
    assert report.ok
    assert [(x.name, x.in_optimizers) for x in report.layers] == [("q.front", 1), ("v.front", 1)]
    agent = Agent()
    del agent.optimizers["adam"].parameters["v.front.B"]
    assert problems(audit(agent, show=False)) == [("optimizer", "v.front")]


@pytest.mark.parametrize("name", ["sbx", "stable_baselines3", "tianshou", "torchrl"])
def test_our_hosts_are_entry_points(name):
    assert name in {point.name for point in unpack._hosts()}


def test_layer_alone():
    report = audit(LearnedFourierFeatures(6, 64, sigma=0.1), show=False)
    assert report.layers[0].name == "LearnedFourierFeatures"


def test_fourier_config_still_names_sigma():
    assert audit(NetConfig(Fourier(fourier_dim=64, sigma=0.2)).build(3, 1), show=False).layers[
        0
    ].spread.expected == pytest.approx(0.2)
