"""The temperature α of soft actor-critic: learned, or fixed."""

from dataclasses import dataclass

from lff.core.checks import check_positive, check_scale


@dataclass(frozen=True, kw_only=True)
class LearnedAlpha:
    """A temperature that keeps the policy's entropy at -|A|."""

    initial: float = 0.1
    """α at the start."""
    lr: float = 1e-4
    """Learning rate of log α."""

    def __post_init__(self) -> None:
        """Check the values before anything is built."""
        check_positive("initial alpha", self.initial, remedy="use 0.1")
        check_scale("alpha lr", self.lr, remedy="use 1e-4")


@dataclass(frozen=True, kw_only=True)
class FixedAlpha:
    """A temperature that stays as it is."""

    value: float = 0.1
    """α."""

    def __post_init__(self) -> None:
        """Check the value before anything is built."""
        check_positive("alpha", self.value, remedy="use 0.1")
