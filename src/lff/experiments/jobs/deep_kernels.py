"""Jobs on the kernels of deep networks, infinitely wide and not: Figure 4, §4.2, NEW-T1."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from lff.core.checks import Scale, Size, Sizes
from lff.experiments.jobs.kernels import DrawsJob, log_spaced, rows_of
from lff.launch.job import JobRow
from lff.nn import ConstantControl, Fourier, LinearControl, NetConfig
from lff.ntk import circle, circle_spectrum, deep_ntk, empirical_ntk

GAIN = math.sqrt(2)  # scale of the weights, √2/√fan_in: it keeps the size of ReLU features

HIGHEST = 128  # frequencies above are left out of the tables


@dataclass(frozen=True, kw_only=True)
class DeepKernelJob(DrawsJob):
    """The spectrum of a ReLU network's kernel on the circle, behind a front or not.

    Rows: ``eigenvalue``, λ_k over n and over the kernel's mean diagonal, by frequency k; ``tail
    eigenvalue``, the one at k = 16; ``first eigenvalue``; ``tail over first``.  With a ``width``
    also ``eigenvalue over the limit``, and ``factor from the limit``, the larger of that and its
    inverse, for the same B.
    """

    tag: ClassVar[str] = "deep-kernel"

    front: Literal["none", "fourier", "linear", "constant"] = "none"
    sigma: Scale = 0.0
    """The layer's, with 2π."""
    fourier_dim: int = 1024
    trainable: bool = False
    """Whether B is trained, so that its gradients count."""
    concat: bool = False
    hidden: Size = 3
    """Hidden layers behind the front."""
    width: int = 0
    """Of the hidden layers; 0 is infinite."""
    sizes: Sizes = (256,)
    """Points on the circle; draw i takes the i-th of them, from the first again after the last."""
    draws: int = 10
    tail: int = 16

    def draw(self, seed: int, rng: torch.Generator) -> Iterable[JobRow]:
        x = circle(self.sizes[seed % len(self.sizes)])
        front = self._front(rng)
        limit = normalised(deep_ntk(x, hidden_layers=self.hidden, front=front).ntk)
        if not self.width:
            return spectrum_rows(seed, limit, self.tail)
        with torch.no_grad():
            features = x if front is None else front(x)
        values = normalised(finite_kernel(features, (self.width,) * self.hidden, rng))
        kept = log_spaced(len(limit) - 1)
        ratio = values[kept] / limit[kept]
        return [
            *spectrum_rows(seed, values, self.tail),
            *rows_of(seed, "eigenvalue over the limit", kept, ratio),
            *rows_of(seed, "factor from the limit", kept, torch.maximum(ratio, 1 / ratio)),
        ]

    def _front(self, rng: torch.Generator) -> nn.Module | None:
        sizes: dict[str, Any] = {"fourier_dim": self.fourier_dim, "sigma": self.sigma}
        match self.front:
            case "none":
                return None
            case "constant":
                return ConstantControl(fourier_dim=self.fourier_dim).build(2)
            case "linear":
                config: Any = LinearControl(**sizes)
            case "fourier":
                config = Fourier(**sizes, trainable=self.trainable, concat_input=self.concat)
        layer: nn.Module = config.build(2, generator=rng)
        return layer.double()


@dataclass(frozen=True, kw_only=True)
class NetKernelJob(DrawsJob):
    """The same rows for whole networks as they are built and trained: all parameters count."""

    tag: ClassVar[str] = "net-kernel"

    net: NetConfig
    points: Size = 64
    draws: Size = 5
    tail: int = 16

    def draw(self, seed: int, rng: torch.Generator) -> Iterable[JobRow]:
        net = self.net.build(2, 1, generator=rng).double()
        kernel = empirical_ntk(net, circle(self.points)).ntk
        return spectrum_rows(seed, normalised(kernel), self.tail)


def spectrum_rows(seed: int, values: Tensor, tail: int) -> list[JobRow]:
    """Return the rows of a spectrum, up to the same frequency for all numbers of points."""
    kept = log_spaced(min(len(values) - 1, HIGHEST))
    first, last = values[1].item(), values[tail].item()
    return [
        *rows_of(seed, "eigenvalue", kept, values[kept].tolist()),
        JobRow(seed, tail, "tail eigenvalue", last),
        JobRow(seed, 1, "first eigenvalue", first),
        JobRow(seed, tail, "tail over first", last / first),
    ]


def normalised(kernel: Tensor) -> Tensor:
    """Return λ_k over n and over the mean of the diagonal."""
    return circle_spectrum(kernel).eigenvalues / len(kernel) / kernel.diagonal().mean()


def finite_kernel(features: Tensor, hidden: tuple[int, ...], rng: torch.Generator) -> Tensor:
    """Return the tangent kernel of one drawn ReLU network on fixed features.

    NTK parameterisation: the weights are √2/√n times numbers of N(0, 1) and the gradient is taken
    by these, so the share of each layer is 2/n times that of a plain Linear.
    """
    widths = (features.shape[1], *hidden, 1)
    linear = [nn.Linear(*sizes, bias=False).double() for sizes in pairwise(widths)]
    for layer in linear:
        with torch.no_grad():
            layer.weight.normal_(generator=rng).mul_(GAIN / math.sqrt(layer.in_features))
    net = nn.Sequential(linear[0], *(m for layer in linear[1:] for m in (nn.ReLU(), layer)))
    kernel = features.new_zeros(len(features), len(features))
    for layer in linear:
        for other in linear:
            other.weight.requires_grad_(other is layer)
        kernel += GAIN**2 / layer.in_features * empirical_ntk(net, features).ntk
    return kernel
