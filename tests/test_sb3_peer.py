"""The peers of the learning studies have our rates and schedule."""

from pathlib import Path

import torch

from lff.training.presets import preset

EXAMPLES = Path(__file__).parents[1] / "examples"
TASK = "dmc/cheetah-run"


def test_the_peer_has_our_rates_sizes_and_target_period(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    from sb3_sac import Peer

    run = preset("laptop", TASK).replace(steps=40, warmup_steps=10).config("mlp")
    algo, peer = run.algo, Peer(run)
    widths = [m.out_features for m in peer.critic.qf0 if isinstance(m, torch.nn.Linear)]
    assert widths == [*algo.critic.hidden(23, 1), 1]
    moved = []
    for _ in range(4):
        before = [p.clone() for p in peer.critic_target.parameters()]
        peer.learn(11 if not moved else 1, reset_num_timesteps=False)
        after = peer.critic_target.parameters()
        moved.append(not all(torch.equal(a, b) for a, b in zip(before, after, strict=True)))
    assert peer._n_updates == 4
    assert moved == [False, True, False, True]
    optimizers = (peer.actor.optimizer, peer.critic.optimizer, peer.ent_coef_optimizer)
    rates = [optimizer.param_groups[0]["lr"] for optimizer in optimizers]
    assert rates == [algo.actor_lr, algo.critic_lr, algo.alpha.lr] == [3e-4, 3e-4, 1e-4]


def test_the_peer_of_td3_has_our_rates_sizes_and_delay(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    from sb3_td3 import Peer

    chosen = preset("laptop", "gym/Pendulum-v1", algo="td3").replace(steps=40, warmup_steps=10)
    run = chosen.config("mlp")
    algo, peer = run.algo, Peer(run)
    for net, shape in ((peer.actor.mu, (3, 1)), (peer.critic.qf0, (4, 1))):
        widths = [m.out_features for m in net if isinstance(m, torch.nn.Linear)]
        role = algo.actor if net is peer.actor.mu else algo.critic
        assert widths == [*role.hidden(*shape), 1]
    moved = []
    for _ in range(4):
        before = [p.clone() for p in peer.actor_target.parameters()]
        peer.learn(11 if not moved else 1, reset_num_timesteps=False)
        after = peer.actor_target.parameters()
        moved.append(not all(torch.equal(a, b) for a, b in zip(before, after, strict=True)))
    assert peer._n_updates == 4
    assert moved == [False, True, False, True]
    rates = [one.optimizer.param_groups[0]["lr"] for one in (peer.actor, peer.critic)]
    assert rates == [algo.actor_lr, algo.critic_lr] == [3e-4, 3e-4]
    assert (peer.tau, peer.policy_delay) == (algo.target.tau, algo.actor_period) == (0.005, 2)
    assert (peer.target_policy_noise, peer.target_noise_clip) == (0.2, 0.5)
    assert peer.action_noise._sigma.tolist() == [algo.exploration] == [0.1]
