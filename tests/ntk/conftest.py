"""Networks in the parameterisation of the infinite limit."""

import pytest
import torch
from torch import nn


class NTKNet(nn.Module):
    """front, Dense, ReLU, Dense with weight_std √2, as wide as one likes."""

    def __init__(self, front, width, *, seed):
        super().__init__()
        rng = torch.Generator().manual_seed(seed)
        self.front = front.double()
        self.first = nn.Linear(front.out_features, width, bias=False).double()
        self.last = nn.Linear(width, 1, bias=False).double()
        for layer in (self.first, self.last):
            nn.init.normal_(layer.weight, generator=rng)

    def forward(self, x):
        y = self.front(x)
        y = (2 / y.shape[1]) ** 0.5 * self.first(y)
        y = y.relu()
        return (2 / y.shape[1]) ** 0.5 * self.last(y)


@pytest.fixture
def ntk_net():
    return NTKNet
