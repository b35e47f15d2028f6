"""Weight decay in its three forms, on everything but B.

    l2          ∇ + λθ                       ½λ‖θ‖² in the loss, as Adam's weight_decay
    decoupled   θ <- (1 - lr λ) θ            AdamW (Loshchilov and Hutter, 2019)
    l1          ∇ + λ sign θ                 λ‖θ‖₁ in the loss

The paper names values from 1e-3 down to 1e-5 but not the form; "l2" is what a code base with
``torch.optim.Adam`` has at hand.  Biases and layer norms' scales and shifts are decayed too, as
torch's optimizers do, unless ``biases`` is False.  B has a separate rule.
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
        return decayed(rule, self.coefficient, self.kind)


def decayed(rule: Rule, coefficient: float, kind: DecayKind) -> Rule:
    """Return a rule with decay of the given form."""
    if kind == "l1":
        return replace(rule, l1=coefficient)
    return replace(rule, l2=coefficient, decoupled=kind == "decoupled")
