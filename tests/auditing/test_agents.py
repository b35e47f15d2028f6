"""The audit on whole agents: after training, with targets, shared networks, odd containers."""

import copy
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from lff import LearnedFourierFeatures, MLPTrunk, NetConfig, audit
from lff.nn import FFN, Fourier2d, LogUniformFourier, PixelEncoderConfig
from tests.auditing.agents import agent, make, problems, train


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


def test_a_lone_target_beside_another_kind_of_layer():
    owner = agent(q=make())
    train(owner, 1)
    owner.v_target = NetConfig(FFN(scale=0.1), MLPTrunk((8,))).build(6, 1)
    assert audit(owner, show=False).ok


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


class Critic(nn.Module):
    """q(s, a) with a front on the observation, or on both."""

    def __init__(self, *, joint):
        super().__init__()
        width = 5 + 2 * joint
        self.fourier = LearnedFourierFeatures(width, 64, sigma=0.01)
        self.fc1, self.fc2 = nn.Linear(64 + width + 2 * (not joint), 16), nn.Linear(16, 1)
        self.joint = joint

    def join(self, obs, action):
        if self.joint:
            return self.fourier(torch.cat([obs, action], dim=-1))
        return torch.cat([self.fourier(obs), action], dim=-1)

    def forward(self, obs, action):
        return self.fc2(self.fc1(self.join(obs, action)).relu())


class ActionFirst(Critic):
    def forward(self, a, s):
        return super().forward(s, a)


class Unnamed(Critic):
    def forward(self, x, y):
        return super().forward(x, y)


class OneHot(Critic):
    """Of discrete actions."""

    def forward(self, obs, action):
        return super().forward(obs, nn.functional.one_hot(action, 2).float())


class Twins(nn.Module):
    def __init__(self, *, joint):
        super().__init__()
        self.q1, self.q2 = Critic(joint=joint), Critic(joint=joint)

    def forward(self, state, act):
        return torch.minimum(self.q1(state, act), self.q2(state, act))


BATCH = torch.randn(64, 5), torch.rand(64, 2)


@pytest.mark.parametrize(
    ("kind", "obs"),
    [
        (Critic, None),
        (Critic, BATCH),
        (ActionFirst, None),
        (ActionFirst, BATCH),
        (Unnamed, BATCH),
        (Twins, None),
    ],
)
@pytest.mark.parametrize("joint", [False, True])
def test_any_critic_is_asked_whether_its_waves_read_the_action(kind, obs, joint):
    owner = agent(q=kind(joint=joint))
    owner.q_target = copy.deepcopy(owner.q)
    report = audit(owner, obs, show=False)
    fronts = ["q.q1.fourier", "q.q2.fourier"] if kind is Twins else ["q.fourier"]
    assert problems(report) == ([] if joint else [("action", name) for name in fronts])


def test_a_critic_that_cannot_be_run_is_named():
    owner = agent(q=OneHot(joint=False))
    report = audit(owner, show=False)
    assert report.ok
    assert "note [action] q: cannot tell whether its waves depend on the action" in str(report)
    batch = BATCH[0], torch.arange(64) % 2
    assert problems(audit(owner, batch, show=False)) == [("action", "q.fourier")]
    assert audit(agent(q=OneHot(joint=True)), batch, show=False).ok
