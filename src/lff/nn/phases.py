"""Phases of the waves on given inputs, and the share of the embedding that is not a wave."""

from dataclasses import dataclass

import torch
from torch import Tensor

from lff.nn.fourier import BasisLayer, LearnedFourierFeatures2d

QUANTILES = (0.05, 0.5, 0.95)
Quantiles = tuple[float, float, float]
CONSTANT_STD = 0.01
"""A feature that moves less than this (its amplitude is 1) is counted as constant."""
LINEAR_R2 = 0.99
"""A feature that its phase explains this well is counted as linear."""
LARGEST_SAMPLE = 4096
FEWEST_POINTS = 8


@dataclass(frozen=True)
class Phases:
    """Statistics of a basis layer on given inputs."""

    quantiles: Quantiles
    """5 %, 50 % and 95 % quantiles of ``|2πBx|``, in radians."""
    linear_share: float
    """Share of the waves that are, on these inputs, a linear function of x to R² >= 0.99."""
    constant_share: float
    """Share of the waves whose standard deviation is below 0.01."""
    points: int
    """Number of inputs (pixels, for images) they were measured on."""

    @property
    def wave_share(self) -> float:
        """Share of the Fourier features that are neither linear nor constant."""
        return max(0.0, 1 - self.linear_share - self.constant_share)


def count_points(layer: BasisLayer, x: Tensor) -> int:
    """Return how many inputs of the layer (pixels, for images) a batch holds; 0 if none fits."""
    axis, width = -1, layer.in_features
    if isinstance(layer, LearnedFourierFeatures2d):
        axis, width = -3, layer.in_channels
    fits = x.ndim >= -axis and x.shape[axis] == width
    return x.numel() // width if fits else 0


def quantiles(values: Tensor) -> Quantiles:
    """Return the 5 %, 50 % and 95 % quantiles."""
    if values.numel() > 2**22:  # torch.quantile takes 16 million numbers at the most
        values = values.flatten()[:: values.numel() // 2**22 + 1]
    levels = torch.tensor(QUANTILES, dtype=values.dtype, device=values.device)
    low, middle, high = torch.quantile(values, levels).tolist()
    return low, middle, high


@torch.no_grad()
def measure_phases(layer: BasisLayer, x: Tensor) -> Phases:
    """Measure the layer on a batch of its inputs; members of a stacked layer are pooled."""
    phase, waves = _phase_and_waves(layer, x)
    constant = waves.std(dim=-2) < CONSTANT_STD
    linear = (_r2(waves, phase) >= LINEAR_R2) & ~constant
    return Phases(
        quantiles=quantiles(phase.abs().flatten()),
        linear_share=linear.double().mean().item(),
        constant_share=constant.double().mean().item(),
        points=phase.shape[-2],
    )


def _phase_and_waves(layer: BasisLayer, x: Tensor) -> tuple[Tensor, Tensor]:
    """Return phases and waves as (*member, point, feature), each wave beside its phase."""
    x = x.to(layer.B)
    if isinstance(layer, LearnedFourierFeatures2d):
        x = x.reshape(-1, *x.shape[-3:])
        phase, embedding = _pixels(layer.phase(x)), _pixels(layer(x))
    else:
        x = x.reshape(-1, x.shape[-1])[:LARGEST_SAMPLE]
        x = x.expand(len(layer.B), *x.shape) if layer.B.ndim == 3 else x
        phase, embedding = layer.phase(x), layer(x)
    waves = embedding[..., : layer.wave_features]
    repeats = layer.wave_features // phase.shape[-1]
    return phase.repeat(*(1,) * (phase.ndim - 1), repeats).double(), waves.double()


def _pixels(values: Tensor) -> Tensor:
    """Return at most 4,096 pixels of images, their channels last."""
    flat = values.movedim(-3, -1).reshape(-1, values.shape[-3])
    return flat[:: max(1, len(flat) // LARGEST_SAMPLE)][:LARGEST_SAMPLE]


def _r2(waves: Tensor, phase: Tensor) -> Tensor:
    """Squared correlation of each wave with its phase over the points."""
    waves = waves - waves.mean(dim=-2, keepdim=True)
    phase = phase - phase.mean(dim=-2, keepdim=True)
    cross = (waves * phase).sum(dim=-2).square()
    return cross / (waves.square().sum(dim=-2) * phase.square().sum(dim=-2)).clamp_min(1e-30)
