"""Laws of the entries of B: signatures of the initialisers that overwrite σ."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from lff.nn.fourier import BasisLayer

STANDARD_ERRORS = 4.0
SMALLEST_SAMPLE = 128  # below this many entries uniform and Gaussian laws cannot be distinguished


@dataclass(frozen=True)
class Spread:
    """Spread of the entries of B, compared with the distribution they were drawn from."""

    expected: float
    """Root mean square under the initial law (σ)."""
    actual: float
    """Root mean square now."""
    entries: int
    """Number of entries."""

    @property
    def tolerance(self) -> float:
        """Relative error that sampling explains: 4 standard errors of the root mean square."""
        return STANDARD_ERRORS / math.sqrt(2 * self.entries)

    @property
    def fits(self) -> bool:
        """True if the spread is that of a new draw."""
        return abs(self.actual - self.expected) <= self.tolerance * self.expected

    @property
    def ratio(self) -> float:
        """Spread now over spread at the start."""
        if not self.expected:
            return 1.0 if not self.actual else math.inf
        return self.actual / self.expected


def measure(layer: BasisLayer, B: Float[Tensor, "rows in_features"]) -> Spread:
    """Return the spread of one member's B and that of its initial distribution."""
    actual = B.detach().double().square().mean().sqrt().item()
    return Spread(expected=layer.initial_spread, actual=actual, entries=B.numel())


def damage(B: Float[Tensor, "rows in_features"], *, expected: float) -> str | None:
    """Say how B was overwritten, if its values show it: not finite, zero, constant, orthogonal.

    ``expected`` is the root mean square that B should have.
    """
    entries = B.detach().double()
    if not bool(entries.isfinite().all()):
        return "non-finite values (a diverged update)"
    if expected > 0 and not bool(entries.any()):
        return "zeros (nn.init.zeros_)"
    if entries.numel() > 1 and expected > 0 and bool((entries == entries[0, 0]).all()):
        return f"one constant, {entries[0, 0].item():.3g} (nn.init.constant_)"
    gain = _orthogonal_gain(entries)
    source = "SB3's ortho_init, layer_init loops"
    return None if gain is None else f"orthogonal initialisation with gain {gain:.3g} ({source})"


def other_law(B: Float[Tensor, "rows in_features"], *, expected: float) -> str | None:
    """Name the usual initialiser that fits B, or None if its initial law may."""
    entries = B.detach().double()
    if entries.numel() < SMALLEST_SAMPLE or not bool(entries.isfinite().all()):
        return None
    if _is_uniform(entries):
        return f"uniform values, {_name_bound(entries)}"
    return _name_gaussian(entries, expected=expected)


def _orthogonal_gain(entries: Tensor) -> float | None:
    """Return g if the rows (or columns, whichever are fewer) are orthogonal of norm g."""
    if min(entries.shape) < 2 or not bool(entries.any()):
        return None
    wide = entries if entries.shape[0] <= entries.shape[1] else entries.mT
    gram = wide @ wide.mT
    scale = gram.diagonal().mean()
    error = (gram / scale - torch.eye(len(gram), dtype=gram.dtype, device=gram.device)).abs().max()
    return scale.sqrt().item() if error < 1e-4 else None


def _is_uniform(entries: Tensor) -> bool:
    """A uniform law has excess kurtosis -1.2 and never passes √3 root mean squares."""
    centred = entries - entries.mean()
    variance = centred.square().mean()
    if variance == 0:
        return False
    kurtosis = (centred**4).mean() / variance**2 - 3
    # of 128 Gaussian draws one passes 1.94 standard deviations in 999 cases of 1,000
    within = centred.abs().max() <= 1.12 * math.sqrt(3) * variance.sqrt()
    return bool(within) and kurtosis.item() < -0.8


def _name_bound(entries: Tensor) -> str:
    rows, columns = entries.shape
    bound = entries.abs().max().item()
    known = {
        "the default of nn.Linear and nn.Conv2d": columns**-0.5,
        "nn.init.xavier_uniform_": math.sqrt(6 / (rows + columns)),
        "nn.init.kaiming_uniform_": math.sqrt(6 / columns),
    }
    for name, value in known.items():
        # the largest of n uniform draws falls short of the bound by about 1/n
        if abs(bound / value - 1) < 0.02 + 3 / entries.numel():
            return f"{name} (±{value:.3g})"
    return f"±{bound:.3g} (TorchRL's loss modules resample a single critic this way: pass a list)"


def _name_gaussian(entries: Tensor, *, expected: float) -> str | None:
    rows, columns = entries.shape
    known = {
        "": expected,
        "nn.init.normal_ with its default std": 1.0,
        "nn.init.xavier_normal_": math.sqrt(2 / (rows + columns)),
        "nn.init.kaiming_normal_": math.sqrt(2 / columns),
        "a normal law of std 1/√in": columns**-0.5,
    }
    actual = entries.square().mean().sqrt().item()
    for name, value in known.items():
        if Spread(value, actual, entries.numel()).fits:
            return f"Gaussian values, {name} ({value:.3g})" if name else None
    return None
