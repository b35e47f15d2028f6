"""What a bootstrap is taken from: a network that follows the critics, or the critics themselves."""

from dataclasses import dataclass

from lff.core.checks import check_number, check_size
from lff.core.errors import BadInputError


@dataclass(frozen=True, kw_only=True)
class PolyakTarget:
    """A target network that follows the critics: θ̄ <- θ̄ + τ (θ - θ̄)."""

    tau: float = 0.005
    """τ, the share taken over."""
    period: int = 2
    """Critic updates between two moves."""

    def __post_init__(self) -> None:
        """Check the values before anything is built."""
        if not 0 < check_number("tau", self.tau) <= 1:
            raise BadInputError("tau", self.tau, "in (0, 1]", "use 0.005")
        check_size("period", self.period)


@dataclass(frozen=True)
class NoTarget:
    """No target network: bootstrap from the critics being trained (Fig. 8)."""
