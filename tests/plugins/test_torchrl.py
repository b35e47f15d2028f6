"""TorchRL's losses of SAC and PPO with our networks: vmap, compile, training, the audit."""

import pytest
import torch
from tensordict import TensorDict
from torchrl.data import Bounded
from torchrl.objectives import ClipPPOLoss, SACLoss, SoftUpdate
from torchrl.objectives.value import GAE

from lff import Fourier, MLPTrunk, NetConfig, audit
from lff.core.errors import BadInputError
from lff.plugins.torchrl import make_actor, make_critics, make_value
from tests.auditing.agents import problems

OBS, ACT, SIGMA = 3, 2, 0.02
NET = NetConfig(Fourier(fourier_dim=128, sigma=SIGMA), MLPTrunk((16, 16)))
SPEC = Bounded(-2 * torch.ones(ACT), 2 * torch.ones(ACT), shape=(ACT,))


def draw(size=32, seed=0):
    g = torch.Generator().manual_seed(seed)
    flags = {name: torch.zeros(size, 1, dtype=torch.bool) for name in ("done", "terminated")}
    reward = torch.randn(size, 1, generator=g)
    after = {"observation": torch.randn(size, OBS, generator=g), "reward": reward, **flags}
    action = torch.rand(size, ACT, generator=g) * 2 - 1
    obs = torch.randn(size, OBS, generator=g)
    return TensorDict({"observation": obs, "action": action, "next": after}, [size])


def sac(net=NET, critics=None):
    torch.manual_seed(0)
    critics = critics or make_critics(net, obs_dim=OBS, action_dim=ACT)
    actor = make_actor(net, SPEC, obs_dim=OBS)
    loss = SACLoss(actor, critics, num_qvalue_nets=2, loss_function="l2")
    loss.make_value_estimator()
    loss.__dict__["move_target"] = SoftUpdate(loss, eps=0.99).step
    return loss


def total(losses):
    return sum(value for name, value in losses.items() if name.startswith("loss_"))


def test_critics_under_vmap_are_our_networks():
    critics = make_critics(NET, obs_dim=OBS, action_dim=ACT)
    loss = sac(critics=critics)
    batch = draw()
    params = loss.qvalue_network_params
    q = loss._vmap_qnetworkN0(batch.select("observation", "action"), params)["state_action_value"]
    assert q.shape == (2, 32, 1)
    for i, critic in enumerate(critics):  # stacked as they are, not drawn anew
        expected = critic.module(batch["observation"], batch["action"])
        torch.testing.assert_close(q[i], expected, rtol=1e-6, atol=1e-6)


def test_sac_is_built_trained_saved_and_loaded():
    loss = sac()
    optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)
    owner = {"loss": loss, "optimizer": optimizer}
    report = audit(owner, show=False)
    assert report.ok, str(report)
    assert [layer.in_optimizers for layer in report.layers] == [1, 1, 1, 0, 0]
    assert all(layer.spread.fits for layer in report.layers)
    start = loss.qvalue_network_params["module", "front", "B"].detach().clone()
    for step in range(200):
        total(loss(draw(seed=step))).backward()
        optimizer.step()
        optimizer.zero_grad()
        loss.move_target()
    moved = (loss.qvalue_network_params["module", "front", "B"] - start).abs().max().item()
    assert 1e-3 < moved <= 0.2  # Adam: at most its rate a step
    report = audit(owner, show=False)
    assert report.ok, str(report)
    assert report.layers[0].steps == 200

    again = sac()
    again.load_state_dict(loss.state_dict())
    batch = draw(seed=99)
    for one, other in zip(loss(batch).values(), again(batch).values(), strict=True):
        assert one.isfinite().all()
        assert other.shape == one.shape
    obs = batch.select("observation")
    with loss.actor_network_params.to_module(loss.actor_network):
        expected = loss.actor_network.get_dist(obs.clone()).deterministic_sample
    with again.actor_network_params.to_module(again.actor_network):
        actual = again.actor_network.get_dist(obs.clone()).deterministic_sample
    torch.testing.assert_close(actual, expected, rtol=0, atol=0)


def test_ppo_is_built_and_trained():
    torch.manual_seed(0)
    critic = make_value(NET, obs_dim=OBS)
    plain = NetConfig(trunk=MLPTrunk((16, 16), activation="tanh"))
    actor = make_actor(plain, SPEC, obs_dim=OBS, use="ppo")
    loss = ClipPPOLoss(actor, critic)
    optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)
    owner = {"loss": loss, "optimizer": optimizer}
    report = audit(owner, show=False)
    assert report.ok, str(report)
    assert [layer.name for layer in report.layers] == ["loss.critic_network.module.front"]
    with torch.no_grad():
        batch = actor(draw())
    assert "action_log_prob" in batch.keys()  # noqa: SIM118
    GAE(gamma=0.99, lmbda=0.95, value_network=critic)(batch)
    start = critic.module.front.B.detach().clone()
    for _ in range(5):
        total(loss(batch)).backward()
        optimizer.step()
        optimizer.zero_grad()
    assert not torch.equal(critic.module.front.B, start)
    assert audit(owner, show=False).ok


def test_a_single_critic_is_drawn_anew_and_found():
    loss = sac(critics=make_critics(NET, obs_dim=OBS, action_dim=ACT)[0])
    owner = {"loss": loss, "optimizer": torch.optim.Adam(loss.parameters())}
    report = audit(owner, show=False)
    assert {check for check, _ in problems(report)} == {"spread"}
    assert len(problems(report)) == 4
    assert "resample a single critic this way: pass a list" in str(report)


def test_a_fixed_b_is_in_no_optimizer():
    net = NetConfig(Fourier(fourier_dim=128, sigma=SIGMA, trainable=False), MLPTrunk((16,)))
    loss = sac(net)
    optimizer = torch.optim.AdamW(loss.parameters(), weight_decay=0.1)
    assert audit({"loss": loss, "optimizer": optimizer}, show=False).ok
    held = {id(p) for group in optimizer.param_groups for p in group["params"]}
    assert id(loss.qvalue_network_params["module", "front", "B"]) not in held


def test_waves_of_the_observation_alone_are_found():
    from tensordict.nn import TensorDictModule
    from torch import nn

    from lff import LearnedFourierFeatures

    class Behind(nn.Module):
        def __init__(self):
            super().__init__()
            self.fourier = LearnedFourierFeatures(OBS, 128, sigma=SIGMA)
            self.out = nn.Linear(self.fourier.out_features + ACT, 1)

        def forward(self, obs, action):
            return self.out(torch.cat([self.fourier(obs), action], dim=-1))

    keys = {"in_keys": ["observation", "action"], "out_keys": ["state_action_value"]}
    loss = sac(critics=[TensorDictModule(Behind(), **keys) for _ in range(2)])
    owner = {"loss": loss, "optimizer": torch.optim.Adam(loss.parameters())}
    assert problems(audit(owner, show=False)) == [("action", "loss.qvalue_network.module.fourier")]


def test_bad_choices_are_told_in_one_line():
    with pytest.raises(BadInputError, match="use must be one of sac, ppo"):
        make_actor(NET, SPEC, obs_dim=OBS, use="dqn")
    with pytest.raises(BadInputError, match="count must be a positive integer"):
        make_critics(NET, obs_dim=OBS, action_dim=ACT, count=0)
