"""The peer of the learning study has our rates and schedule."""

from pathlib import Path

import torch

from lff.training import TrainConfig, preset, sac_config

EXAMPLES = Path(__file__).parents[1] / "examples"
TASK = "dmc/cheetah-run"


def test_the_peer_has_our_rates_sizes_and_target_period(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    from sb3_peer import Peer

    algo = sac_config(preset("laptop", TASK), actor="mlp", critic="mlp", obs_dim=17, action_dim=6)
    peer = Peer(TrainConfig(env=TASK, algo=algo, steps=40, warmup_steps=10))
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
