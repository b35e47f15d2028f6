"""Regularizers that add a term to an update or a loss: decay, the rule of B, penalties.

Weight decay on everything but B, and the update rule of B: learning rate, decay, a spring:

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

Functional regularization (Piché et al., 2021), in place of a target network:

    y    = r + γ (1 - terminated) (min_i Q_i(s', a') - α log π(a'|s'))       the critics themselves
    L_Q += κ Σ_i mean (Q_i(s, a) - Q̄_i(s, a))²,    θ̄ <- θ every T critic updates

The bootstrap is as fresh as can be; the penalty holds the function, not the weights, near where it
was.  With several critics each is held to its own past.  Under dropout Q and Q̄ share their masks,
so that the penalty is zero as long as the function has not moved.

Singular values of the features (Kumar et al., 2021), against a loss of rank:

    c Σ_i [σ_max(Φ_i)² - σ_min(Φ_i)²],    Φ the last hidden layer on the batch

Where σ_min is zero, as it must be if the layer is wider than the states are many, its gradient is
that of σ_max² alone (the paper, Appendix on Figure 13).
"""

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

import torch
from torch import Tensor

from lff.core.checks import NonNegative, Size
from lff.optim import Rule
from lff.regularizers.base import Features, Kind, Regularizer, Scalar, Values

DecayKind = Literal["l2", "decoupled", "l1"]


@dataclass(frozen=True, kw_only=True)
class WeightDecay(Regularizer):
    """Decay of weights and biases; B is not decayed (:class:`BasisRule`)."""

    coefficient: Annotated[float, NonNegative("use 1e-4")] = 1e-4
    """λ (the paper searches 1e-3, 3e-4, 1e-4, 1e-5)."""
    kind: DecayKind = "l2"
    """Coupled (Adam's), decoupled (AdamW) or L1."""
    biases: bool = True
    """Decay biases, and scales and shifts of layer norms, as well."""

    def rule(self, rule: Rule, kind: Kind) -> Rule:
        if kind == "basis" or (kind == "other" and not self.biases):
            return rule
        return _decayed(rule, self.coefficient, self.kind)


@dataclass(frozen=True, kw_only=True)
class BasisRule(Regularizer):
    """Learning rate, decay and anchor of B."""

    lr: Annotated[float, NonNegative("use 1e-4")] | None = None
    """Learning rate of B; None is that of its network."""
    decay: Annotated[float, NonNegative("use 1e-4")] = 0.0
    """Coefficient of the decay of B."""
    kind: DecayKind = "l2"
    """Its form, as in :class:`WeightDecay`."""
    anchor: Annotated[float, NonNegative("use 1")] = 0.0
    """κ of κ‖B - B₀‖²."""

    def rule(self, rule: Rule, kind: Kind) -> Rule:
        if kind != "basis":
            return rule
        rate = rule.lr if self.lr is None else self.lr
        rule = replace(rule, lr=rate, anchor=2 * self.anchor)
        return _decayed(rule, self.decay, self.kind) if self.decay else rule


def _decayed(rule: Rule, coefficient: float, kind: DecayKind) -> Rule:
    if kind == "l1":
        return replace(rule, l1=coefficient)
    return replace(rule, l2=coefficient, decoupled=kind == "decoupled")


@dataclass(frozen=True, kw_only=True)
class FunctionalRegularization(Regularizer):
    """Bootstrap from the critics, and hold them near a lagging copy of themselves."""

    penalizes: ClassVar[bool] = True
    where: Literal["critic"] = "critic"
    """The critics; there is nothing to hold in an actor."""
    kappa: Annotated[float, NonNegative("use 1")] = 1.0
    """κ, the weight of the penalty (theirs: 1; the LFF paper gives none)."""
    lag: Size = 1_000
    """T, critic updates between two copies (theirs: 1000)."""

    def penalty(self, q: Values, lagged_q: Values) -> Scalar:
        return self.kappa * (q - lagged_q).square().mean(dim=1).sum()


@dataclass(frozen=True, kw_only=True)
class SingularValuePenalty(Regularizer):
    """Hold the features' largest singular value down and their smallest up."""

    penalizes_features: ClassVar[bool] = True
    where: Literal["critic"] = "critic"
    """The Q-networks; there is nothing to hold in an actor."""
    coefficient: Annotated[float, NonNegative("use 1e-3")] = 1e-3
    """c, the weight of the penalty (theirs: 1e-3)."""
    smallest: bool = True
    """Whether the second term is there; without it the penalty is σ_max² alone."""

    def feature_penalty(self, features: Features) -> Scalar:
        squares = torch.linalg.svdvals(features).square()
        spread = squares[:, 0] - squares[:, -1] if self.smallest else squares[:, 0]
        total: Tensor = self.coefficient * spread.sum()
        return total
