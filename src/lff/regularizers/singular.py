"""The penalty of Kumar et al. (2021) on the singular values of the features.

    c Σ_i [σ_max(Φ_i)² - σ_min(Φ_i)²],    Φ the last hidden layer on the batch

It is meant against a loss of rank.  Where σ_min is zero, as it must be if the layer is wider than
the states are many, its gradient is that of σ_max² alone (the paper, Appendix on Figure 13).
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from lff.core.checks import NonNegative
from lff.regularizers.base import Regularizer


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
        values = torch.linalg.svdvals(features)
        spread = values[:, 0].square()
        if self.smallest:
            spread = spread - values[:, -1].square()
        total: Tensor = self.coefficient * spread.sum()
        return total
