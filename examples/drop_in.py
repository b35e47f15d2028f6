"""The three-line change in a user's own agent (`pendulum_dqn.py`), before and after.

`FourierQNetwork` is the agent's `QNetwork` with three lines changed, marked below.  Nothing else in
the agent knows.  Run as a script, `lff.audit` checks the agent; the study of its learning is

    python examples/study.py drop_in:drop-in
"""

from dataclasses import dataclass

import torch
from pendulum_dqn import DQN, QNetwork, observe
from torch import nn

import lff
from lff.experiments.spec import Each, Experiment, Panel, baseline, ours
from lff.launch.job import JobRow
from lff.stats import RETURN


class FourierQNetwork(nn.Module):
    def __init__(self, obs_dim=3, actions=3):
        super().__init__()
        self.fourier = lff.LearnedFourierFeatures(obs_dim, 128, sigma=0.01)  # new
        self.fc1 = nn.Linear(self.fourier.out_features, 128)  # was nn.Linear(obs_dim, 128)
        self.fc2, self.fc3 = nn.Linear(128, 128), nn.Linear(128, actions)

    def forward(self, obs):
        return self.fc3(self.fc2(self.fc1(self.fourier(obs)).relu()).relu())  # was self.fc1(obs)


@dataclass(frozen=True)
class DropInJob:
    """Train the agent with one of the two networks, all seeds."""

    network: str
    seeds: int = 5
    steps: int = 4_000

    def run(self, _folder, report):
        torch.set_num_threads(1)  # networks this small only wait for a second thread
        for seed in range(self.seeds):
            agent = DQN({"mlp": QNetwork, "lff": FourierQNetwork}[self.network], seed)
            for step, value in agent.train(self.steps):
                yield JobRow(seed, step, RETURN.key, value)
            report((seed + 1) / self.seeds, f"return {value:.1f}")


def job(scale, network):
    return DropInJob(network, seeds=2, steps=200) if scale == "smoke" else DropInJob(network)


EXPERIMENTS = (
    Experiment(
        name="drop-in",
        title="What do three changed lines do in a user's own agent?",
        source='§5, "only changing a few lines of code"',
        arms={"MLP": baseline(network="mlp"), "LFF σ=0.01": ours(network="lff")},
        grid=Each(job, {"pendulum": {}}),
        metrics=(RETURN,),
        panels=(Panel(RETURN),),
        whole_at="laptop",
    ),
)

if __name__ == "__main__":
    lff.audit(DQN(FourierQNetwork, 0), observe(torch.rand(512) * 6.3, torch.rand(512) * 16 - 8))
