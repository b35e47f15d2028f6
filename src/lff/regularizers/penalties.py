"""Penalties on a critic's function (Piché et al., 2021) and features (Kumar et al., 2021).

Functional regularization, in place of a target network:

    y    = r + γ (1 - terminated) (min_i Q_i(s', a') - α log π(a'|s'))       the critics themselves
    L_Q += κ Σ_i mean (Q_i(s, a) - Q̄_i(s, a))²,    θ̄ <- θ every T critic updates

The bootstrap is as fresh as can be; the penalty holds the function, not the weights, near where it
was.  With several critics each is held to its own past.  Under dropout Q and Q̄ share their masks,
so that the penalty is zero as long as the function has not moved.

Singular values of the features, against a loss of rank:

    c Σ_i [σ_max(Φ_i)² - σ_min(Φ_i)²],    Φ the last hidden layer on the batch

Where σ_min is zero, as it must be if the layer is wider than the states are many, its gradient is
that of σ_max² alone (the paper, Appendix on Figure 13).
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from lff.core.checks import NonNegative, Size
from lff.regularizers.base import Regularizer


@dataclass(frozen=True, kw_only=True)
class FunctionalRegularization(Regularizer):
    """Bootstrap from the critics, and hold them near a lagging copy of themselves."""

    tag: ClassVar[str] = "functional"
    penalizes: ClassVar[bool] = True
    where: Literal["critic"] = "critic"
    """The critics; there is nothing to hold in an actor."""
    kappa: Annotated[float, NonNegative("use 1")] = 1.0
    """κ, the weight of the penalty (theirs: 1; the LFF paper gives none)."""
    lag: Size = 1_000
    """T, critic updates between two copies (theirs: 1000)."""

    def penalty(
        self, q: Float[Tensor, "critic batch"], lagged_q: Float[Tensor, "critic batch"]
    ) -> Float[Tensor, ""]:
        """κ Σ_i mean (Q_i - Q̄_i)²."""
        return self.kappa * (q - lagged_q).square().mean(dim=1).sum()


@dataclass(frozen=True, kw_only=True)
class SingularValuePenalty(Regularizer):
    """Hold the features' largest singular value down and their smallest up."""

    tag: ClassVar[str] = "singular-values"
    penalizes_features: ClassVar[bool] = True
    where: Literal["critic"] = "critic"
    """The Q-networks; there is nothing to hold in an actor."""
    coefficient: Annotated[float, NonNegative("use 1e-3")] = 1e-3
    """c, the weight of the penalty (theirs: 1e-3)."""
    smallest: bool = True
    """Whether the second term is there; without it the penalty is σ_max² alone."""

    def feature_penalty(self, features: Float[Tensor, "critic batch width"]) -> Float[Tensor, ""]:
        """C Σ_i [σ_max² - σ_min²]."""
        squares = torch.linalg.svdvals(features).square()
        spread = squares[:, 0] - squares[:, -1] if self.smallest else squares[:, 0]
        total: Tensor = self.coefficient * spread.sum()
        return total
