"""Weight decay on everything but B, and the update rule of B: learning rate, decay, a spring.

    l2          ∇ + λθ                       ½λ‖θ‖² in the loss, as Adam's weight_decay
    decoupled   θ <- (1 - lr λ) θ            AdamW (Loshchilov and Hutter, 2019)
    l1          ∇ + λ sign θ                 λ‖θ‖₁ in the loss
    anchor      ∇ + 2κ(B - B₀)               κ‖B - B₀‖² in the loss, a spring to the start

The paper names values of λ from 1e-3 down to 1e-5 but not the form; "l2" is what a code base with
``torch.optim.Adam`` has at hand.  Biases and layer norms' scales and shifts are decayed too, as
torch's optimizers do, unless ``biases`` is False.

B has a separate rule: Adam moves every entry by about lr per step, whatever σ is, so that below
σ ≈ 0.01 it is the learning rate of B and not σ that decides how fast the waves grow.  A frozen B is
not updated.
"""

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

from lff.core.checks import NonNegative
from lff.optim import Rule
from lff.regularizers.base import Kind, Regularizer

DecayKind = Literal["l2", "decoupled", "l1"]


@dataclass(frozen=True, kw_only=True)
class WeightDecay(Regularizer):
    """Decay of weights and biases; B is left alone (:class:`BasisRule`)."""

    tag: ClassVar[str] = "weight-decay"
    coefficient: Annotated[float, NonNegative("use 1e-4")] = 1e-4
    """λ (the paper searches 1e-3, 3e-4, 1e-4, 1e-5)."""
    kind: DecayKind = "l2"
    """Coupled (Adam's), decoupled (AdamW) or L1."""
    biases: bool = True
    """Decay biases, and scales and shifts of layer norms, as well."""

    def rule(self, rule: Rule, kind: Kind) -> Rule:
        """Add the decay to the rule of a weight, or of a bias."""
        if kind == "basis" or (kind == "other" and not self.biases):
            return rule
        return _decayed(rule, self.coefficient, self.kind)


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
        return _decayed(rule, self.decay, self.kind) if self.decay else rule


def _decayed(rule: Rule, coefficient: float, kind: DecayKind) -> Rule:
    if kind == "l1":
        return replace(rule, l1=coefficient)
    return replace(rule, l2=coefficient, decoupled=kind == "decoupled")
