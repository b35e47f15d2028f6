"""B by a rule of its own: another learning rate, another decay, a spring to where it started.

    L <- L + κ‖B - B₀‖²,    so that 2κ(B - B₀) is added to the gradient

Adam moves every entry by about lr per step, whatever σ is, so that below σ ≈ 0.01 it is the
learning rate of B and not σ that decides how fast the waves grow.  A frozen B has no rule.
"""

from dataclasses import dataclass, replace
from typing import get_args

from lff.core.checks import check_choice, check_scale
from lff.regularizers.base import Kind, Regularizer, Rule
from lff.regularizers.weight_decay import DecayKind, decayed


@dataclass(frozen=True, kw_only=True)
class BasisRule(Regularizer):
    """Learning rate, decay and anchor of B."""

    lr: float | None = None
    """Learning rate of B; None is that of its network."""
    decay: float = 0.0
    """Coefficient of the decay of B."""
    kind: DecayKind = "l2"
    """Its form, as in :class:`WeightDecay`."""
    anchor: float = 0.0
    """κ of κ‖B - B₀‖²."""

    def __post_init__(self) -> None:
        """Check the values before anything is built."""
        super().__post_init__()
        if self.lr is not None:
            check_scale("the learning rate of B", self.lr, remedy="use 1e-4")
        check_scale("the decay of B", self.decay, remedy="use 1e-4")
        check_scale("the anchor of B", self.anchor, remedy="use 1")
        check_choice("decay kind", self.kind, get_args(DecayKind))

    def rule(self, rule: Rule, kind: Kind) -> Rule:
        """Change the rule of B."""
        if kind != "basis":
            return rule
        rate = rule.lr if self.lr is None else self.lr
        rule = replace(rule, lr=rate, anchor=2 * self.anchor)
        return decayed(rule, self.decay, self.kind) if self.decay else rule
