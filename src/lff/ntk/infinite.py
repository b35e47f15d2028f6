"""Infinite-width kernels of deep networks, exact in float64.

NTK parameterisation: a Dense layer is z = (weight_std/√n) W y + bias_std b with W, b ~ N(0, 1), and
gradients are taken by W and b.  With K the covariance of the pre-activations (NNGP) and Θ the
tangent kernel, a network of L hidden layers is

    Dense         K ← weight_std² K + bias_std²,    Θ ← K_new + weight_std² Θ
    nonlinearity  K ← E[τ(u) τ(v)],                 Θ ← Θ · E[τ'(u) τ'(v)],   (u, v) ~ N(0, K)

applied L times in turn and ended by one more Dense.  It starts from K₀ = φ(x)·φ(x')/n for n input
features φ, and Θ₀ = 0 if these are fixed.  If the front trains its basis B, then
Θ₀ = Σ_i ∂φ_i(x)/∂B · ∂φ_i(x')/∂B / n: the front's own gradients reach the output through weights
that are independent of one another, so that only equal features meet.  This last step is exact for
many features; with few, the rest is of the order of 1/F.
"""

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import torch
from torch import Tensor, nn

from lff.core.checks import check_choice, check_positive, check_scale, check_size
from lff.core.errors import BadTypeError
from lff.nn import (
    ConstantControl,
    ConstantFeatures,
    Fourier,
    Identity,
    LearnedFourierFeatures,
    LinearFeatures,
)
from lff.nn.fourier import TWO_PI
from lff.ntk.closed_form import as_pair

Nonlinearity = Literal["relu", "erf"]
Front = Identity | Fourier | ConstantControl | nn.Module


@dataclass(frozen=True)
class Kernels:
    """The two kernels of an infinitely wide network, each ``(points of x1, points of x2)``."""

    ntk: Tensor
    """Θ: how a gradient step at x' moves the output at x."""
    nngp: Tensor
    """K: the covariance of the outputs at initialisation."""


class _State(NamedTuple):
    """K and Θ between the two sets, and K of each set with itself (its diagonal)."""

    cov: Tensor
    ntk: Tensor
    var1: Tensor
    var2: Tensor


def deep_ntk(
    x1: Tensor,
    x2: Tensor | None = None,
    *,
    hidden_layers: int,
    weight_std: float = math.sqrt(2),
    bias_std: float = 0.0,
    front: Front | None = None,
    nonlinearity: Nonlinearity = "relu",
) -> Kernels:
    """Return the kernels of an infinitely wide network on raw inputs or behind a front.

    Points are rows; ``x2=None`` stands for x1.  The hidden layers are counted behind the front,
    which is None for raw inputs; ``Fourier(...)`` for the mean over the law of B; a layer with a
    basis of its own (drawn, trained) for just that basis; or ``ConstantControl(...)``.

    >>> x = torch.tensor([[1.0, 0.0]])
    >>> round(deep_ntk(x, hidden_layers=1).ntk.item(), 12)  # 1 from each of the two layers
    2.0
    """
    first, second = as_pair(x1, x2)
    check_size("hidden_layers", hidden_layers)
    check_positive("weight_std", weight_std)
    check_scale("bias_std", bias_std)
    check_choice("nonlinearity", nonlinearity, get_args(Nonlinearity))
    state = _input_state(first, second, front)
    for _ in range(hidden_layers):
        state = _dense(state, weight_std, bias_std)
        state = _relu(state) if nonlinearity == "relu" else _erf(state)
    state = _dense(state, weight_std, bias_std)
    return Kernels(ntk=state.ntk, nngp=state.cov)


def _dense(state: _State, weight_std: float, bias_std: float) -> _State:
    gain, shift = weight_std**2, bias_std**2
    cov, var1, var2 = (gain * k + shift for k in (state.cov, state.var1, state.var2))
    return _State(cov, cov + gain * state.ntk, var1, var2)


def _relu(state: _State) -> _State:
    """Arc-cosine kernels of order 1 and 0 (Cho and Saul, 2009)."""
    scale = (state.var1[:, None] * state.var2).sqrt()
    cosine = (state.cov / scale.clamp_min(1e-300)).clamp(-1, 1)
    # 1 - c loses digits near c = 1; there the points are equal and both terms vanish anyway
    sine = ((1 - cosine) * (1 + cosine)).sqrt()
    angle = torch.atan2(sine, cosine)
    return _State(
        cov=scale * (sine + (math.pi - angle) * cosine) / TWO_PI,
        ntk=state.ntk * (math.pi - angle) / TWO_PI,
        var1=state.var1 / 2,
        var2=state.var2 / 2,
    )


def _erf(state: _State) -> _State:
    """The kernel of Williams (1997) and its derivative."""
    product = (1 + 2 * state.var1[:, None]) * (1 + 2 * state.var2)
    var1, var2 = (torch.asin(2 * v / (1 + 2 * v)) * 2 / math.pi for v in (state.var1, state.var2))
    return _State(
        cov=2 / math.pi * torch.asin((2 * state.cov / product.sqrt()).clamp(-1, 1)),
        ntk=state.ntk * 4 / math.pi / (product - 4 * state.cov.square()).sqrt(),
        var1=var1,
        var2=var2,
    )


def _input_state(x1: Tensor, x2: Tensor, front: Front | None) -> _State:
    if isinstance(front, Fourier):
        return _expected_fourier(x1, x2, front)
    if front is None or isinstance(front, Identity | nn.Identity):
        return _fixed_features(x1, x2, lambda x: x)
    if isinstance(front, ConstantControl):
        front = front.build(x1.shape[1])
    if isinstance(front, LearnedFourierFeatures | LinearFeatures | ConstantFeatures):
        return _drawn_features(x1, x2, front)
    if isinstance(front, nn.Module) and not any(True for _ in front.parameters()):
        return _fixed_features(x1, x2, front)
    wanted = "None, Fourier, ConstantControl, one of our layers or a module without parameters"
    raise BadTypeError("front", front, wanted, "build the front first: config.build(width)")


def _fixed_features(x1: Tensor, x2: Tensor, features: Callable[[Tensor], Tensor]) -> _State:
    with torch.no_grad():
        y1, y2 = features(x1), features(x2)
    cov = y1 @ y2.mT / y1.shape[1]
    var1, var2 = (y.square().mean(dim=1) for y in (y1, y2))
    return _State(cov, torch.zeros_like(cov), var1, var2)


def _drawn_features(x1: Tensor, x2: Tensor, front: nn.Module) -> _State:
    """Features of a layer as it stands; a trained B brings its own tangent kernel."""
    layer = copy.deepcopy(front).double()
    state = _fixed_features(x1, x2, layer)
    if not isinstance(layer, LearnedFourierFeatures | LinearFeatures) or not layer.trainable:
        return state
    with torch.no_grad():
        p1, p2 = layer.phase(x1), layer.phase(x2)
        if isinstance(layer, LinearFeatures):
            meet = torch.full((len(x1), len(x2)), float(p1.shape[1]), dtype=x1.dtype)
        else:  # ∂sin·∂sin + ∂cos·∂cos = cos(p - p')
            meet = p1.cos() @ p2.cos().mT + p1.sin() @ p2.sin().mT
    return state._replace(ntk=TWO_PI**2 * (x1 @ x2.mT) * meet / layer.out_features)


def _expected_fourier(x1: Tensor, x2: Tensor, front: Fourier) -> _State:
    """The mean over B ~ N(0, σ²): E Σ_i cos(2πb_i·(x - x')) = F/2 exp(-(2πσ)²‖x - x'‖²/2)."""
    half, concat = front.fourier_dim / 2, float(front.concat_input)
    width = front.fourier_dim + x1.shape[1] * concat
    distance = torch.cdist(x1, x2, compute_mode="donot_use_mm_for_euclid_dist")
    meet = half * torch.exp(-0.5 * (TWO_PI * front.sigma * distance).square())
    inner = x1 @ x2.mT
    var1, var2 = ((half + concat * x.square().sum(dim=1)) / width for x in (x1, x2))
    ntk = TWO_PI**2 * inner * meet / width if front.trainable else torch.zeros_like(meet)
    return _State(cov=(meet + concat * inner) / width, ntk=ntk, var1=var1, var2=var2)
