"""Does it learn as well as Stable-Baselines3?  Our SAC and PPO beside theirs, with the same MLP.

    python examples/study.py peers:peer-sb3
    python examples/study.py peers:peer-sb3-ppo

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

        torch.set_num_threads(1)
        torch.set_flush_denormal(True)
        config = self.train.config
        peer = (PPOPeer if hasattr(config.algo, "rollout_steps") else Peer)(config)
        for step, value in peer.curve():
            report(step / config.steps, f"return {value:.1f}")
            yield JobRow(config.seed, step, RETURN.key, value)


def peer(job, _scale):
    """Return the job of the peer of a training job."""
    return PeerJob(job)


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
)
