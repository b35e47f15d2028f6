"""The penalty of Kumar et al. (2021) on the singular values of the features.

    c Σ_i [σ_max(Φ_i)² - σ_min(Φ_i)²],    Φ the last hidden layer on the batch

It is meant against a loss of rank.  Where σ_min is zero, as it must be if the layer is wider than
the states are many, its gradient is that of σ_max² alone (the paper, Appendix on Figure 13).
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from lff.core.checks import check_flag, check_scale
from lff.core.errors import BadInputError
from lff.regularizers.base import Regularizer, Where


@dataclass(frozen=True, kw_only=True)
class SingularValuePenalty(Regularizer):
    """Hold the features' largest singular value down and their smallest up."""

    penalizes_features: ClassVar[bool] = True
    where: Where = "critic"
    """The Q-networks; there is nothing to hold in an actor."""
    coefficient: float = 1e-3
    """c, the weight of the penalty (theirs: 1e-3)."""
    smallest: bool = True
    """Whether the second term is there; without it the penalty is σ_max² alone."""

    def __post_init__(self) -> None:
        """Check the values before anything is built."""
        super().__post_init__()
        check_scale("coefficient", self.coefficient, remedy="use 1e-3")
        check_flag("smallest", self.smallest)
        if self.where != "critic":
            raise BadInputError("where", self.where, "critic", "it acts on Q-networks alone")

    def feature_penalty(self, features: Float[Tensor, "critic batch width"]) -> Float[Tensor, ""]:
        """C Σ_i [σ_max² - σ_min²]."""
        values = torch.linalg.svdvals(features)
        spread = values[:, 0].square()
        if self.smallest:
            spread = spread - values[:, -1].square()
        total: Tensor = self.coefficient * spread.sum()
        return total
