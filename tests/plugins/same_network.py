"""The same network, built by lff.nn: B and weights of a host's network in ours."""

import torch
from torch import nn

from lff import Fourier, MLPTrunk, NetConfig
from lff.nn import BasisLayer


def as_ours(*modules, activation="relu"):
    """Return our network with the B and the Linears of a host's modules, in their order."""
    parts = [m for module in modules for m in module.modules()]
    (layer,) = (m for m in parts if isinstance(m, BasisLayer))
    linears = [m for m in parts if isinstance(m, nn.Linear)]
    front = Fourier(
        fourier_dim=layer.fourier_dim,
        sigma=layer.sigma,
        trainable=layer.trainable,
        concat_input=layer.concat_input,
    )
    hidden = tuple(linear.out_features for linear in linears[:-1])
    trunk = MLPTrunk(hidden=hidden, activation=activation)
    ours = NetConfig(front, trunk).build(layer.in_features, linears[-1].out_features)
    with torch.no_grad():
        ours.front.B.copy_(layer.B)
        mine = [m for m in ours.trunk.modules() if isinstance(m, nn.Linear)]
        for to, source in zip(mine, linears, strict=True):
            to.load_state_dict(source.state_dict())
    return ours


def assert_same(actual, expected):
    torch.testing.assert_close(actual, expected, rtol=1e-6, atol=1e-6)
