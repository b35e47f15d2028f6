"""Does it learn as well as Stable-Baselines3?  Our SAC, PPO and TD3 beside theirs, the same MLP.

    python examples/study.py peers:peer-sb3
    python examples/study.py peers:peer-sb3-ppo
    python examples/study.py peers:peer-sb3-td3

Same tasks, episodes, sizes, rates, schedule and evaluations; initial weights, the order of
minibatches and the form of the losses are each one's own.  The value loss of PPO is not clipped in
either (the two clip it in different ways).
"""

from dataclasses import dataclass
from typing import Annotated, Any

from lff.experiments.grids import Training
from lff.experiments.spec import Experiment, Panel, ours, rival
from lff.launch.job import JOBS, JobRow
from lff.stats import RETURN, AsGood, Better


@dataclass(frozen=True)
class PeerJob:
    """Train their agent with the sizes, rates and schedule of one of our training jobs."""

    train: Annotated[Any, JOBS]

    def run(self, _folder, report):
        import torch
        from sb3_peer import Peer
        from sb3_ppo import PPOPeer
        from sb3_td3 import TD3Peer

        torch.set_num_threads(1)
        torch.set_flush_denormal(True)
        config = self.train.config
        peer = {"sac": Peer, "ppo": PPOPeer, "td3": TD3Peer}[config.algo.tag](config)
        for step, value in peer.curve():
            report(step / config.steps, f"return {value:.1f}")
            yield JobRow(config.seed, step, RETURN.key, value)


def peer(job, _scale):
    """Return the job of the peer of a training job."""
    return PeerJob(job)


PENDULUM = {"algo": "td3", "net": "mlp", "hidden_dim": 64, "lr": 1e-3, "warmup_steps": 1_000}
EXPERIMENTS = (
    Experiment(
        name="peer-sb3",
        title="Does our SAC learn as well as Stable-Baselines3's?",
        source="beyond the paper",
        arms={"sb3": rival(net="mlp", then=peer), "lff": ours(net="mlp")},
        grid=Training(
            laptop=("dmc/cheetah-run",), steps=50_000, episodes=5, looks=10, largest="laptop"
        ),
        metrics=(RETURN,),
        sentences={"P-sb3: Our SAC learns better than theirs.": Better("lff", than="sb3")},
        panels=(Panel(RETURN),),
        whole_at="laptop",
    ),
    Experiment(
        name="peer-sb3-ppo",
        title="Does our PPO learn as well as Stable-Baselines3's?",
        source="beyond the paper",
        arms={
            "sb3": rival(algo="ppo", net="mlp", value_clip=None, then=peer),
            "lff": ours(algo="ppo", net="mlp", value_clip=None),
        },
        grid=Training(laptop=("gym/HalfCheetah-v5", "gym/Hopper-v5"), episodes=5, largest="laptop"),
        metrics=(RETURN,),
        sentences={"P-sb3-ppo: Our PPO learns as well as theirs.": AsGood("lff", than="sb3")},
        panels=(Panel(RETURN),),
        whole_at="laptop",
    ),
    Experiment(
        name="peer-sb3-td3",
        title="Does our TD3 learn as well as Stable-Baselines3's?",
        source="beyond the paper",
        arms={"sb3": rival(**PENDULUM, then=peer), "lff": ours(**PENDULUM)},
        grid=Training(
            laptop=("gym/Pendulum-v1",), steps=10_000, episodes=5, looks=10, largest="laptop"
        ),
        metrics=(RETURN,),
        sentences={
            "P-sb3-td3: Our TD3 learns as well as theirs: their mean returns over the curve "
            "differ by at most 20 % of the magnitude of theirs.": AsGood("lff", than="sb3")
        },
        panels=(Panel(RETURN),),
        whole_at="laptop",
    ),
)
