"""Critics of other libraries, for ``lff stress stress_networks:sb3_critic --path examples``.

``lff stress`` calls such a function with two numbers of features; the inputs of the module that it
returns are observation and action side by side.
"""

import torch.nn.functional as F
from torch import Tensor, nn

CLEANRL_LR = 1e-3
"""CleanRL's ``q_lr``; Stable-Baselines3 has 3e-4."""


def sb3_critic(in_features: int, out_features: int) -> nn.Module:
    """One critic of Stable-Baselines3's SAC with ``"MlpPolicy"``."""
    return nn.Sequential(
        nn.Linear(in_features, 256),
        nn.ReLU(),
        nn.Linear(256, 256),
        nn.ReLU(),
        nn.Linear(256, out_features),
    )


class Functional(nn.Module):
    """Two hidden layers whose nonlinearities are calls, not modules."""

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.first = nn.Linear(in_features, 256)
        self.second = nn.Linear(256, 256)
        self.last = nn.Linear(256, out_features)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(F.relu(self.second(F.relu(self.first(x)))))


def cleanrl_critic(in_features: int, out_features: int) -> nn.Module:
    """One critic of CleanRL's ``sac_continuous_action.py``."""
    return Functional(in_features, out_features)
