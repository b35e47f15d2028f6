"""The three-line change in a user's own agent (`pendulum_dqn.py`), before and after.

`FourierQNetwork` is the agent's `QNetwork` with three lines changed, marked below.  Nothing else in
the agent knows.  Run as a script, `lff.audit` checks the agent; the study of its learning is

    lff experiment run drop-in
"""

import torch
from pendulum_dqn import DQN, QNetwork, observe
from torch import nn

import lff
from lff.stats import RETURN


class FourierQNetwork(nn.Module):
    def __init__(self, obs_dim=3, actions=3):
        super().__init__()
        self.fourier = lff.LearnedFourierFeatures(obs_dim, 128, sigma=0.01)  # new
        self.fc1 = nn.Linear(self.fourier.out_features, 128)  # was nn.Linear(obs_dim, 128)
        self.fc2, self.fc3 = nn.Linear(128, 128), nn.Linear(128, actions)

    def forward(self, obs):
        return self.fc3(self.fc2(self.fc1(self.fourier(obs)).relu()).relu())  # was self.fc1(obs)


def run(variant, seed, steps, _every):
    """Train with one of the two networks; yield (environment steps, metric, return)."""
    for step, value in DQN({"MLP": QNetwork, "LFF": FourierQNetwork}[variant], seed).train(steps):
        yield step, RETURN.key, value


if __name__ == "__main__":
    lff.audit(DQN(FourierQNetwork, 0), observe(torch.rand(512) * 6.3, torch.rand(512) * 16 - 8))
