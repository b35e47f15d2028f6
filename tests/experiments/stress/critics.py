"""Critics that are known to be good or bad, and some that cannot be stressed."""

from itertools import pairwise

import torch
from torch import Tensor, nn

WIDTH = 64


def mlp(inputs, outputs, width=WIDTH, depth=2):
    sizes = [inputs, *[width] * depth]
    layers = [nn.Linear(*pair) for pair in pairwise(sizes)]
    body = [module for layer in layers for module in (layer, nn.ReLU())]
    return nn.Sequential(*body, nn.Linear(width, outputs))


def deep(inputs, outputs):
    """Deep, and of large gain: bootstrapping from itself it runs away."""
    net = mlp(inputs, outputs, depth=5)
    for layer in net[::2]:
        nn.init.orthogonal_(layer.weight, gain=1.5)
    return net


def normed(inputs, outputs):
    first, second = nn.Linear(inputs, WIDTH), nn.Linear(WIDTH, WIDTH)
    norms = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
    body = [first, norms[0], nn.ReLU(), second, norms[1], nn.ReLU()]
    return nn.Sequential(*body, nn.Linear(WIDTH, outputs))


class Times(nn.Module):
    """Multiplies its input."""

    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        return self.factor * x


def loud(inputs, outputs):
    """A deep network whose output is a hundred times that of its last layer, as is its rate."""
    return nn.Sequential(deep(inputs, outputs), Times(100.0))


def frozen(inputs, outputs):
    """Hidden layers that are not trained: the features stay as they are."""
    net = mlp(inputs, outputs)
    net[:-1].requires_grad_(requires_grad=False)
    return net


def standardized(inputs, outputs):
    """Blind to the units of its inputs."""
    return nn.Sequential(nn.BatchNorm1d(inputs), *mlp(inputs, outputs))


class Mixed(nn.Module):
    """A forward of its own, dropout, and batch norm that changes its buffers in training."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.first, self.last = nn.Linear(inputs, 8), nn.Linear(8, outputs)
        self.norm, self.drop = nn.BatchNorm1d(8), nn.Dropout(0.2)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.drop(torch.relu(self.norm(self.first(x)))))


class Wrapped(nn.Module):
    """Calls a function of a Linear layer and the input."""

    def __init__(self, inputs, outputs, call):
        super().__init__()
        self.layer, self.call = nn.Linear(inputs, outputs), call

    def forward(self, x):
        return self.call(self.layer, x)


def wrapped(call):
    return lambda inputs, outputs: Wrapped(inputs, outputs, call)


def raising(inputs, outputs):
    raise ValueError("no such width")


CONSTANT = torch.ones(1)

REFUSED = {
    "runs in single precision alone": (
        wrapped(lambda layer, x: layer(x) @ CONSTANT[:, None]),
        "runs in float64.*register_buffer",
    ),
    "raises when it is made": (raising, "one that can be made.*ValueError: no such width"),
    "raises when it runs": (wrapped(lambda m, x: m(x[:, :1])), "one that runs.*RuntimeError"),
    "returns a wrong shape": (wrapped(lambda m, x: m(x)[:, 0]), r"shape \(8, 1\), got \(8,\)"),
    "returns a pair": (wrapped(lambda m, x: (m(x), x)), r"shape \(8, 1\), got 'tuple'"),
    "gives NaN": (wrapped(lambda m, x: m(x) * torch.nan), "must be finite, got 'NaN"),
    "ignores the action": (
        lambda inputs, outputs: nn.Sequential(Head(inputs), nn.Linear(max(1, inputs - 1), outputs)),
        "a function of the action too.*the last of its 4 inputs",
    ),
    "has nothing to train": (lambda _i, _o: nn.Identity(), "one with trained parameters"),
    "is frozen": (
        lambda i, o: mlp(i, o).requires_grad_(requires_grad=False),
        "one with trained parameters",
    ),
    "is not a module": (lambda _i, _o: 3.0, "a torch.nn.Module.*return the network"),
    "branches on data": (
        wrapped(lambda m, x: m(x) if x.sum() > 0 else -m(x)),
        "trainable by torch.func.*data-dependent",
    ),
}
"""What is refused: why, the network, and what the one line says."""


class Head(nn.Module):
    """All inputs but the last, where there are several."""

    def __init__(self, inputs):
        super().__init__()
        self.width = max(1, inputs - 1)

    def forward(self, x):
        return x[..., : self.width]
