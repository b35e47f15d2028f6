"""The temperature α of soft actor-critic: learned, or fixed."""

from dataclasses import dataclass, field

from lff.core.checks import check_number, check_positive, check_scale
from lff.core.config import LATER
from lff.core.errors import BadInputError
from lff.optim import BETA1


@dataclass(frozen=True, kw_only=True)
class LearnedAlpha:
    """A temperature that keeps the policy's entropy at -|A|."""

    initial: float = 0.1
    """α at the start."""
    lr: float = 1e-4
    """Learning rate of log α."""
    beta1: float = field(default=BETA1, metadata=LATER)
    """β₁ of its Adam (0.5 in the code base of RAD)."""

    def __post_init__(self) -> None:
        """Check the values before anything is built."""
        check_positive("initial alpha", self.initial, remedy="use 0.1")
        check_scale("alpha lr", self.lr, remedy="use 1e-4")
        if not 0 <= check_number("alpha beta1", self.beta1) < 1:
            raise BadInputError("alpha beta1", self.beta1, "in [0, 1)", "use 0.9")


@dataclass(frozen=True, kw_only=True)
class FixedAlpha:
    """A temperature that stays as it is."""

    value: float = 0.1
    """α."""

    def __post_init__(self) -> None:
        """Check the value before anything is built."""
        check_positive("alpha", self.value, remedy="use 0.1")
