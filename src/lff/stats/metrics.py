"""Metrics: the key in a job's rows, the title in tables and figures, and which way is better."""

from dataclasses import dataclass
from typing import Literal

RANDOM, ZERO = "random policy", "zero policy"
"""Variants whose rows are returns at step 0, one per seed: references for every return."""
POLICIES = {"random return": RANDOM, "zero return": ZERO}
"""Keys of a job's rows that are returns of the reference policies, and their variants."""


@dataclass(frozen=True)
class Metric:
    """A measured quantity."""

    key: str
    """Name in the rows of a job: ``eval/return``."""
    title: str = ""
    """Name in tables, verdicts and figures; the key if empty."""
    better: Literal["higher", "lower"] = "higher"
    policies: bool = False
    """Whether the random and the zero policy have it too, as references: the return has."""

    peak: bool = False
    """Whether each value is the largest since the step before."""

    def __post_init__(self) -> None:
        if not self.title:
            object.__setattr__(self, "title", self.key)

    @property
    def sign(self) -> Literal[1, -1]:
        """1 if more is better, -1 if less is."""
        return 1 if self.better == "higher" else -1


RETURN = Metric("eval/return", "return", policies=True)
