"""The learning study: the peer has our rates and schedule, and the study runs and goes on."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from lff.stats import Row, read_table
from lff.stats.claims import judge_learning
from lff.training import TrainConfig, preset, sac_config

EXAMPLES = Path(__file__).parents[1] / "examples"
TASK = "dmc/cheetah-run"


def test_the_peer_has_our_rates_sizes_and_target_period(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    from sb3_peer import Peer

    algo = sac_config(preset("laptop", TASK), actor="mlp", critic="mlp", obs_dim=17, action_dim=6)
    peer = Peer(TrainConfig(env=TASK, algo=algo, steps=40, warmup_steps=10))
    widths = [m.out_features for m in peer.critic.qf0 if isinstance(m, torch.nn.Linear)]
    assert widths == [*algo.critic.trunk.hidden, 1]
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


def test_the_study_writes_a_table_and_takes_finished_seeds_from_it(tmp_path):
    command = [sys.executable, str(EXAMPLES / "sb3_learning.py"), "--out", str(tmp_path)]
    command += ["--steps", "20", "--eval-every", "20", "--eval-episodes", "1", "--seeds", "2"]
    outputs = []
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]
    assert "fewer than 5 seeds" in outputs[0]
    rows = read_table(tmp_path / "sb3_learning.csv")
    assert [(row.variant, row.seed, row.step) for row in rows] == [
        (variant, seed, 20) for variant in ("sb3", "lff") for seed in (0, 1)
    ]


def test_learning_is_judged_by_the_mean_of_the_curves():
    rows = [
        Row("study", variant, "task", seed, step, "return", step * rise + seed)
        for variant, rise in (("a", 3.0), ("b", 2.0))
        for seed in range(5)
        for step in (1, 2)
    ]
    verdict = judge_learning(rows, arm="a", rival="b")
    assert verdict.outcome == "confirmed"
    assert "1.5 [1.5, 1.5]" in verdict.because  # mean of 1 and 2
    assert judge_learning(rows, arm="b", rival="a").outcome == "refuted"
    with pytest.raises(ValueError, match="same seeds"):
        judge_learning(rows[:-2], arm="a", rival="b")


@pytest.mark.system
def test_the_study_of_ppo_runs_and_judges(tmp_path):
    command = [sys.executable, str(EXAMPLES / "sb3_ppo_learning.py"), "--out", str(tmp_path)]
    command += ["--tasks", "gym/Hopper-v5", "--steps", "60", "--eval-every", "30"]
    done = subprocess.run(
        [*command, "--eval-episodes", "1", "--seeds", "1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "inconclusive" in done.stdout
    rows = read_table(tmp_path / "sb3_ppo_learning.csv")
    assert [(row.variant, row.step) for row in rows] == [
        (variant, step) for variant in ("sb3", "lff") for step in (30, 60)
    ]
