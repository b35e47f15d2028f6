import numpy as np
import pytest
import torch
from torch import nn

from lff.nn import (
    ConcatMLPTrunk,
    DeepFourierTrunk,
    Ensemble,
    Fourier,
    MLPTrunk,
    NetConfig,
    SIRENTrunk,
    activations,
    dormant_share,
    effective_rank,
)

TRUNKS = [MLPTrunk((6, 8)), ConcatMLPTrunk((6, 8)), SIRENTrunk((6, 8)), DeepFourierTrunk((6, 8))]


@pytest.mark.parametrize("trunk", TRUNKS, ids=lambda trunk: type(trunk).__name__)
def test_features_times_the_last_weights_are_the_output(trunk):
    net = NetConfig(Fourier(fourier_dim=4, sigma=0.5), trunk).build(3, 2)
    x = torch.randn(10, 3)
    seen = activations(net, x)
    last = [m for m in net.modules() if isinstance(m, nn.Linear)][-1]
    assert torch.equal(last(seen.features), net(x))
    assert [h.shape[-1] for h in seen.hidden] == [6, 8]


def test_an_ensemble_is_seen_member_by_member():
    critics = Ensemble.build(NetConfig(trunk=MLPTrunk((6, 8))), 3, in_features=5, out_features=1)
    obs, action = torch.randn(10, 3), torch.randn(10, 2)
    seen = activations(critics, obs, action)
    for i in range(3):
        alone = activations(critics.member(i), obs, action)
        torch.testing.assert_close(seen.features[i], alone.features)
        for h, h_alone in zip(seen.hidden, alone.hidden, strict=True):
            torch.testing.assert_close(h[i], h_alone)
        assert effective_rank(seen.features)[i] == effective_rank(alone.features)


def test_looking_leaves_no_hook_behind():
    net = NetConfig(trunk=MLPTrunk((6,))).build(3, 1)
    activations(net, torch.randn(4, 3))
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in net.modules())


def test_a_network_without_linear_layers_has_no_features():
    assert activations(nn.Identity(), torch.randn(4, 3)) is None


def test_effective_rank_by_hand():
    rotation = torch.linalg.qr(torch.randn(4, 4, dtype=torch.float64)).Q
    spectrum = torch.tensor([90.0, 9.0, 0.99, 0.01], dtype=torch.float64)  # sums to 100
    features = rotation * spectrum
    assert effective_rank(features, delta=0.2).item() == 1
    assert effective_rank(features, delta=0.05).item() == 2
    assert effective_rank(features, delta=0.005).item() == 3
    assert effective_rank(features, delta=1e-6).item() == 4
    assert effective_rank(torch.zeros(5, 3)).item() == 0


def test_effective_rank_equals_numpys():
    features = torch.randn(2, 40, 12) @ torch.randn(12, 12)
    values = np.linalg.svd(features.double().numpy(), compute_uv=False)
    shares = np.cumsum(values, axis=1) / values.sum(axis=1, keepdims=True)
    assert effective_rank(features).tolist() == [int(np.argmax(s >= 0.99)) + 1 for s in shares]


def test_dormant_units_are_counted_within_their_layer():
    first = torch.full((7, 4), 100.0)
    first[:, 0] = 2.0  # mean activity 75.5, a score of 0.0265: alive
    second = torch.ones(7, 4)
    second[:, :2] = 0.0
    assert dormant_share((first, second)) == 2 / 8
    assert dormant_share((first, second), tau=0.03) == 3 / 8
    assert dormant_share((-first, second)) == 2 / 8
    assert dormant_share(()) == 0.0
