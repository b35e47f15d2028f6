"""Update rule of B: learning rate, decay, and a spring to its start.

    L <- L + κ‖B - B₀‖²,    so that 2κ(B - B₀) is added to the gradient

Adam moves every entry by about lr per step, whatever σ is, so that below σ ≈ 0.01 it is the
learning rate of B and not σ that decides how fast the waves grow.  A frozen B is not updated.
"""

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from lff.core.checks import NonNegative
from lff.optim import Rule
from lff.regularizers.base import Kind, Regularizer
from lff.regularizers.weight_decay import DecayKind, decayed


@dataclass(frozen=True, kw_only=True)
class BasisRule(Regularizer):
    """Learning rate, decay and anchor of B."""

    tag: ClassVar[str] = "basis"
    lr: Annotated[float, NonNegative("use 1e-4")] | None = None
    """Learning rate of B; None is that of its network."""
    decay: Annotated[float, NonNegative("use 1e-4")] = 0.0
    """Coefficient of the decay of B."""
    kind: DecayKind = "l2"
    """Its form, as in :class:`WeightDecay`."""
    anchor: Annotated[float, NonNegative("use 1")] = 0.0
    """κ of κ‖B - B₀‖²."""

    def rule(self, rule: Rule, kind: Kind) -> Rule:
        """Change the rule of B."""
        if kind != "basis":
            return rule
        rate = rule.lr if self.lr is None else self.lr
        rule = replace(rule, lr=rate, anchor=2 * self.anchor)
        return decayed(rule, self.decay, self.kind) if self.decay else rule
