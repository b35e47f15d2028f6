"""The audit is tested by breaking real networks in each way it claims to see."""

import copy
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from lff import LFF, Ensemble, Fourier, LearnedFourierFeatures, MLPTrunk, NetConfig, audit
from lff.nn import (
    FFN,
    Fourier2d,
    LinearControl,
    LogUniformFourier,
    Parts,
    PixelEncoderConfig,
    register_unpacker,
)
from lff.nn.unpack import _UNPACKERS
from tests.nn.test_ensemble import OwnNetwork


def make(sigma=0.01, width=6, seed=0, **options):
    rng = torch.Generator().manual_seed(seed)
    return LFF(width, 1, sigma=sigma, fourier_dim=128, hidden_dim=16, generator=rng, **options)


def agent(**parts):
    trained = [p for part in parts.values() for p in part.parameters()]
    return SimpleNamespace(**parts, optimizer=torch.optim.Adam(trained))


def problems(report):
    return [(finding.check, finding.layer) for finding in report.findings if finding.problem]


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
    "scaled": (lambda B: B.data.mul_(3), "overwritten, or trained by an optimizer not seen"),
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
    assert "there is no target network" in str(report)


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
    remarked = any(finding.check == "phase" for finding in report.findings)
    assert remarked == (linear + constant >= 0.5)
    assert report.ok


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


def train(owner, steps, *, width=6):
    for _ in range(steps):
        owner.q(torch.randn(32, width)).square().mean().backward()
        owner.optimizer.step()


@pytest.mark.parametrize(
    "damage",
    [
        lambda B: B.data.fill_(float("nan")),
        nn.init.zeros_,
        lambda B: nn.init.constant_(B, 0.01),
        nn.init.orthogonal_,
        nn.init.normal_,
    ],
    ids=["nan", "zeros", "constant", "orthogonal", "normal"],
)
def test_damage_is_found_after_training_has_begun(damage):
    owner = agent(q=make())
    train(owner, 1)
    damage(owner.q.front.B)
    assert problems(audit(owner, show=False)) == [("spread", "q.front")]


def test_a_target_that_was_overwritten_in_a_trained_agent_is_found():
    owner = agent(q=make())
    owner.q_target = copy.deepcopy(owner.q)
    train(owner, 5)
    nn.init.normal_(owner.q_target.front.B)
    report = audit(owner, show=False)
    assert problems(report) == [("spread", "q_target.front")]
    assert "does not follow" in str(report)


def test_plain_sgd_keeps_no_record_and_is_no_fault():
    q = make(sigma=0.01)
    optimizer = torch.optim.SGD(q.parameters(), lr=1e-3)
    with torch.no_grad():
        q.front.B.mul_(2)
    report = audit(q, optimizers=optimizer, show=False)
    assert report.ok, str(report)
    assert report.layers[0].steps is None
    assert "counts no updates" in str(report)


LAGGED = ("ac_targ", "q_tgt", "q_slow", "q_bar", "critic_old", "q_avg", "shadow")


@pytest.mark.parametrize("name", LAGGED)
def test_a_lagged_copy_is_known_by_name_or_by_structure(name):
    owner = agent(q=make())
    setattr(owner, name, copy.deepcopy(owner.q))
    assert audit(owner, show=False).ok
    train(owner, 3)
    report = audit(owner, show=False)
    assert report.ok, str(report)
    assert report.layers[1].is_target


def test_averaged_model_of_torch_is_a_lagged_copy():
    owner = agent(q=make())
    owner.model = torch.optim.swa_utils.AveragedModel(owner.q)
    assert audit(owner, show=False).ok


def test_a_target_in_an_optimizer_is_found():
    q, q_target = make(seed=0), make(seed=1)
    report = audit(agent(q=q, q_target=q_target), show=False)
    assert ("optimizer", "q_target.front") in problems(report)


def test_one_network_under_two_names_is_not_shared():
    """As Stable-Baselines3 has it: model.actor is model.policy.actor."""
    policy = nn.Module()
    policy.actor, policy.critic = make(seed=0), make(seed=1)
    policy.critic_target = copy.deepcopy(policy.critic)
    policy.actor.optimizer = torch.optim.Adam(policy.actor.parameters())
    policy.critic.optimizer = torch.optim.Adam(policy.critic.parameters())
    model = SimpleNamespace(policy=policy, actor=policy.actor, critic=policy.critic)
    model.critic_target = policy.critic_target
    report = audit(model, show=False)
    assert report.ok, str(report)
    assert len(report.layers) == 3


def test_a_shared_features_extractor_is_one_layer():
    """As SB3's PPO has it: features_extractor is pi_features_extractor is vf_features_extractor."""
    policy = nn.Module()
    policy.features_extractor = make()
    policy.pi_features_extractor = policy.vf_features_extractor = policy.features_extractor
    policy.optimizer = torch.optim.Adam(policy.parameters())
    report = audit(SimpleNamespace(policy=policy), show=False)
    assert report.ok, str(report)
    assert len(report.layers) == 1


def test_critics_listed_twice_are_not_shared():
    q1, q2 = make(seed=1), make(seed=2)
    owner = agent(q1=q1, q2=q2)
    owner.critics = nn.ModuleList([q1, q2])
    assert audit(owner, show=False).ok


def test_one_network_as_both_critics_is_found():
    q = make()
    report = audit(SimpleNamespace(q1=q, q2=q), show=False)
    assert problems(report) == [("shared", "q1.front and q2.front")]
    report = audit({"critics": [q, q]}, show=False)
    assert problems(report) == [("shared", "critics.0.front and critics.1.front")]


def test_one_tensor_in_two_layers_is_found():
    q1, q2 = make(seed=1), make(seed=2)
    q2.front.B = q1.front.B
    report = audit({"q1": q1, "q2": q2}, show=False)
    assert problems(report) == [("shared", "q1.front and q2.front")]


def test_optimizers_and_networks_in_containers_of_a_module_are_found():
    class Agent(nn.Module):
        def __init__(self):
            super().__init__()
            self.q = make()
            self.hidden = [make(seed=3)]
            self.opts = {"q": [torch.optim.Adam(self.q.trunk.parameters())]}

    report = audit(Agent(), show=False)
    assert {layer.name for layer in report.layers} == {"q.front", "hidden.0.front"}
    assert ("optimizer", "q.front") in problems(report)


def test_optimizers_may_be_given_in_any_container():
    q = make()
    optimizer = torch.optim.Adam(q.parameters())
    for given in (optimizer, [optimizer], {"q": optimizer}, (optimizer, optimizer)):
        assert audit(q, optimizers=given, show=False).layers[0].in_optimizers == 1


def test_a_replay_buffer_is_not_searched():
    owner = agent(q=make())
    owner.replay = [(torch.zeros(1),)] * 300_000
    owner.me = owner
    assert audit(owner, show=False).ok


@pytest.mark.parametrize("front", [LogUniformFourier(fourier_dim=64), FFN(scale=0.1)], ids=repr)
def test_other_laws_are_audited_as_strictly(front):
    net = NetConfig(front, MLPTrunk((8,))).build(6, 1)
    spread = net.front.B.detach().square().mean().sqrt()
    with torch.no_grad():
        nn.init.orthogonal_(net.front.B)
        net.front.B.mul_(spread / net.front.B.square().mean().sqrt())
    assert audit(net, show=False).layers[0].spread.fits
    assert problems(audit(net, show=False)) == [("spread", "front")]


def test_twin_ffn_critics_of_one_seed_are_found():
    config = NetConfig(FFN(scale=0.1), MLPTrunk((8,)))
    q1, q2 = (config.build(6, 1, generator=torch.Generator().manual_seed(0)) for _ in "ab")
    assert problems(audit({"q1": q1, "q2": q2}, show=False)) == [
        ("shared", "q1.front and q2.front")
    ]


def test_weight_norm_on_the_basis_is_still_in_the_optimizer():
    q = make()
    nn.utils.parametrizations.weight_norm(q.front, name="B")
    report = audit(agent(q=q), show=False)
    assert ("optimizer", "q.front") not in problems(report)


@pytest.mark.parametrize(
    "obs",
    [
        torch.randn(1, 500, 6),
        torch.randn(500, 6).numpy(),
        {"state": torch.randn(500, 4), "goal": torch.randn(500, 2)},
        [torch.rand(4, 9, 8, 8), torch.randn(500, 6)],
    ],
    ids=["leading axes", "numpy", "dict", "images and vectors"],
)
def test_observations_come_in_many_shapes(obs):
    assert audit(make(), obs, show=False).layers[0].phases.points == 500


def test_few_images_have_many_pixels():
    layer = PixelEncoderConfig(front=Fourier2d(fourier_dim=64, sigma=0.1), num_filters=4)
    report = audit(layer.build((9, 21, 21)), torch.rand(2, 9, 21, 21), show=False)
    assert report.layers[0].phases.points == 2 * 21 * 21
    report = audit(layer.build((9, 21, 21)), torch.rand(100, 6), show=False)
    assert report.layers[0].phases is None


def test_one_observation_is_too_few():
    report = audit(make(), torch.randn(6), show=False)
    assert report.layers[0].phases is None
    assert "no batch of 8 inputs" in str(report)


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
    assert problems(report) == [("found", "")]


def test_a_plug_in_can_teach_the_audit_its_host():
    class Host:
        __slots__ = ("hidden",)

        def __init__(self):
            self.hidden = make()

    assert not audit(Host(), show=False).layers
    register_unpacker(lambda x: isinstance(x, Host), lambda x: Parts(modules={"net": x.hidden}))
    try:
        assert audit(Host(), show=False).layers[0].name == "net.front"
    finally:
        _UNPACKERS.clear()


def test_layer_alone():
    report = audit(LearnedFourierFeatures(6, 64, sigma=0.1), show=False)
    assert report.layers[0].name == "LearnedFourierFeatures"


def test_fourier_config_still_names_sigma():
    assert audit(NetConfig(Fourier(fourier_dim=64, sigma=0.2)).build(3, 1), show=False).layers[
        0
    ].spread.expected == pytest.approx(0.2)
