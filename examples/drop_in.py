"""The three-line change in somebody's own agent (`pendulum_dqn.py`), before and after.

`FourierQNetwork` is the agent's `QNetwork` with three lines changed, marked below.  Nothing else in
the agent knows; `lff.audit` looks at the finished agent and tells whether σ survived.
"""

import torch
from pendulum_dqn import DQN, QNetwork, observe
from study import parse_arguments, save_table
from torch import nn

import lff
from lff.report import draw_curves, new_figure, save_figure
from lff.stats import Row


class FourierQNetwork(nn.Module):
    def __init__(self, obs_dim=3, actions=3):
        super().__init__()
        self.fourier = lff.LearnedFourierFeatures(obs_dim, 128, sigma=0.01)  # new
        self.fc1 = nn.Linear(self.fourier.out_features, 128)  # was nn.Linear(obs_dim, 128)
        self.fc2, self.fc3 = nn.Linear(128, 128), nn.Linear(128, actions)

    def forward(self, obs):
        return self.fc3(self.fc2(self.fc1(self.fourier(obs)).relu()).relu())  # was self.fc1(obs)


SEEDS = 5
arguments = parse_arguments(__doc__, name="drop_in", steps=4000)
torch.set_num_threads(1)  # networks this small only wait for a second thread
inputs = observe(torch.rand(512) * 6.3, torch.rand(512) * 16 - 8)
rows = []
for name, network in (("MLP", QNetwork), ("LFF σ=0.01", FourierQNetwork)):
    for seed in range(SEEDS):
        agent = DQN(network, seed)
        if network is FourierQNetwork and seed == 0:
            print("\nbefore training:")
            lff.audit(agent, inputs)
        for step, value in agent.train(arguments.steps):
            rows.append(Row("drop_in", name, "pendulum", seed, step, "return", value))
        print(f"{name:10s} seed {seed}  return of the last episode {rows[-1].value:8.1f}")
print("\nafter training:")
lff.audit(agent, inputs)

save_table(arguments, "drop_in", rows, seeds=SEEDS)
figure, axes = new_figure(1, width=5, height=3)
draw_curves(axes[0], rows, metric="return", as_paper=True)
axes[0].set(xlabel="environment steps", title="DQN, pendulum swing-up, 5 seeds")
print("\npicture:", save_figure(figure, arguments.out / "drop_in.png"))
