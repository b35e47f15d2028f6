"""Layer normalisation (Ba et al., 2016) between each hidden Linear layer and its nonlinearity.

    h = τ(s ⊙ (z - mean z) / √(var z + ε) + t),    z = Wx + b,    s = 1 and t = 0 at the start

Not in the paper; the control that its Figure 8 lacks, since layer norms alone can make critics
stable without a target network.  The output layer and the front are left as they are.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from lff.nn.ensemble import StackedLayerNorm
from lff.regularizers.base import Regularizer, linears, members_of, nonlinearities


@dataclass(frozen=True, kw_only=True)
class LayerNorm(Regularizer):
    """Normalise every hidden layer over its units, before the nonlinearity."""

    tag: ClassVar[str] = "layer-norm"
    turn: ClassVar[int] = 1

    def wrap(self, network: nn.Module, generator: torch.Generator | None = None) -> None:  # noqa: ARG002
        """Put a layer norm, scale 1 and shift 0, before every nonlinearity."""
        members = members_of(network)
        slots = nonlinearities(network)
        widths = [slot.width for slot in linears(network)]
        for slot, width in zip(slots, widths, strict=False):
            norms = [nn.LayerNorm(width) for _ in range(members or 1)]
            norm = norms[0] if members is None else StackedLayerNorm(norms)
            slot.put(nn.Sequential(norm, slot.module))
