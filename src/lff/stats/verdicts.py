"""Verdicts on claims: computed from numbers, never typed in.

The rule for "A is better than B": paired seeds, the t-interval of the difference.  Above zero it is
confirmed, below zero refuted, else inconclusive; fewer than five seeds decide nothing.  "A is as
good as B" needs the whole interval within a margin: a wide interval is no tie.
"""

from dataclasses import dataclass
from typing import Literal

from lff.stats.intervals import Interval

Outcome = Literal["confirmed", "refuted", "inconclusive at this scale"]
FEWEST_SEEDS = 5


@dataclass(frozen=True)
class Verdict:
    """An outcome and the numbers that decided it."""

    outcome: Outcome
    because: str

    def __str__(self) -> str:
        """Write outcome and reason on one line."""
        return f"{self.outcome} ({self.because})"


def judge_better(gain: Interval, *, of: str) -> Verdict:
    """Judge "A beats B" by the interval of A's gain over B; ``of`` says what was measured."""
    because = f"{of}: {gain}"
    if gain.pairs < FEWEST_SEEDS:
        reason = f"{because}; fewer than {FEWEST_SEEDS} seeds"
        return Verdict("inconclusive at this scale", reason)
    if gain.low > 0:
        return Verdict("confirmed", because)
    if gain.high < 0:
        return Verdict("refuted", because)
    return Verdict("inconclusive at this scale", because)


def judge_equivalent(difference: Interval, *, margin: float, of: str) -> Verdict:
    """Judge "A is as good as B": the whole interval of the difference lies within ±margin."""
    because = f"{of}: {difference}, margin ±{margin:.3g}"
    if difference.pairs < FEWEST_SEEDS:
        reason = f"{because}; fewer than {FEWEST_SEEDS} seeds"
        return Verdict("inconclusive at this scale", reason)
    if -margin <= difference.low and difference.high <= margin:
        return Verdict("confirmed", because)
    if difference.low > margin or difference.high < -margin:
        return Verdict("refuted", because)
    return Verdict("inconclusive at this scale", because)


def judge_count(holds: int, *, of: int, share: float, what: str) -> Verdict:
    """Judge "it holds in at least this share of the cases"."""
    because = f"{what} in {holds} of {of}, asked for {share:.0%}"
    if of < FEWEST_SEEDS:
        return Verdict("inconclusive at this scale", because)
    return Verdict("confirmed" if holds >= share * of else "refuted", because)
