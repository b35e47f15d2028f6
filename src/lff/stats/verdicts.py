"""Verdicts on claims: computed from numbers, never typed in.

The rule for "A is better than B": paired seeds, the t-interval of the difference.  Above zero it is
confirmed, below zero refuted, else inconclusive; fewer than five seeds decide nothing.  "A is as
good as B" needs the whole interval within a margin: a wide interval is not
evidence of equality.  Where no arm has left the random policy there is no signal.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lff.core.errors import BadInputError
from lff.stats.intervals import Interval

Outcome = Literal[
    "confirmed", "refuted", "inconclusive at this scale", "no signal", "incomplete table"
]
INCONCLUSIVE: Outcome = "inconclusive at this scale"
FEWEST_SEEDS = 5


@dataclass(frozen=True)
class Verdict:
    """An outcome and the numbers that decided it."""

    outcome: Outcome
    because: str
    details: tuple[str, ...] = ()
    """A line for each task, or more to read beside ``because``."""

    def __str__(self) -> str:
        return f"{self.outcome} ({self.because})"


def no_verdict(done: int, planned: int) -> Verdict:
    """Return what a partial table has instead of a verdict."""
    return Verdict("incomplete table", f"{done} of {planned} jobs are there")


def judge_better(gain: Interval, *, of: str) -> Verdict:
    """Judge "A beats B" by the interval of A's gain over B; ``of`` says what was measured."""
    return _decide(f"{of}: {gain}", gain.pairs, holds=gain.low > 0, fails=gain.high < 0)


def judge_bounds(
    value: Interval, *, of: str, above: float = -math.inf, below: float = math.inf
) -> Verdict:
    """Judge "it is above (or below) this bound": the whole interval is, or none of it."""
    bounds = [f"> {above:g}"] * (above > -math.inf) + [f"< {below:g}"] * (below < math.inf)
    because = f"{of}: {value}, asked for {' and '.join(bounds)}"
    holds = above < value.low and value.high < below
    fails = value.high < above or below < value.low
    return _decide(because, value.pairs, holds=holds, fails=fails)


def judge_equivalent(difference: Interval, *, margin: float, of: str) -> Verdict:
    """Judge "A is as good as B": the whole interval of the difference lies within ±margin."""
    because = f"{of}: {difference}, margin ±{margin:.3g}"
    holds = -margin <= difference.low and difference.high <= margin
    fails = difference.low > margin or difference.high < -margin
    return _decide(because, difference.pairs, holds=holds, fails=fails)


def judge_count(
    holds: int, *, of: int, share: float, what: str, seeds: int | None = None
) -> Verdict:
    """Judge "it holds in at least this share of the cases".

    ``seeds``: how many different seeds the cases are of, where that is fewer than the cases.
    """
    because = f"{what} in {holds} of {of}, asked for {share:.0%}"
    enough = holds >= _round_up(share * of)
    return _decide(because, of if seeds is None else seeds, holds=enough, fails=not enough)


def _decide(because: str, seeds: int, *, holds: bool, fails: bool) -> Verdict:
    if seeds < FEWEST_SEEDS:
        return Verdict(INCONCLUSIVE, f"{because}; fewer than {FEWEST_SEEDS} seeds")
    return Verdict("confirmed" if holds else "refuted" if fails else INCONCLUSIVE, because)


def _round_up(number: float) -> int:
    return math.ceil(number - 1e-9)  # 0.55 * 20 is above 11 in binary


def lacks_signal(arms: Sequence[float], random: Sequence[float]) -> bool:
    """Return whether every arm's mean return is within 2 standard deviations of the random policy.

    ``random``: the random policy's mean return of each seed, two or more, mean m and standard
    deviation s: every arm lies within m ± 2 s.
    """
    if len(random) < 2:
        remedy = "play the random policy with two or more seeds"
        raise BadInputError("random", list(random), "two or more returns", remedy)
    center, spread = float(np.mean(random)), float(np.std(random, ddof=1))
    return all(abs(arm - center) <= 2 * spread for arm in arms)


def judge_tasks(verdicts: Mapping[str, Verdict], *, at_least: float | None = None) -> Verdict:
    """Judge "it holds on at least so many of these tasks" (all of them if not given).

    A number below 1 is a share of the tasks.  Refuted when so many tasks refute it that the number
    cannot be reached; no signal when no task has any; else inconclusive.
    """
    lines = tuple(
        "; ".join((f"{task}: {verdict}", *verdict.details)) for task, verdict in verdicts.items()
    )
    if not verdicts:
        return Verdict(INCONCLUSIVE, "the table lacks rows for it")
    outcomes = [verdict.outcome for verdict in verdicts.values()]
    count, total = outcomes.count, len(outcomes)
    wanted = total if at_least is None else at_least
    wanted = wanted if wanted >= 1 else _round_up(wanted * total)
    outcome = INCONCLUSIVE
    if count("confirmed") >= wanted:
        outcome = "confirmed"
    elif total - count("refuted") < wanted <= total:
        outcome = "refuted"
    elif count("no signal") == total:
        outcome = "no signal"
    if total == wanted == 1:
        return Verdict(outcome, next(iter(verdicts.values())).because, lines)
    counts = ", ".join(f"{name} on {count(name)}" for name in dict.fromkeys(outcomes))
    return Verdict(outcome, f"of {total} tasks {counts}; asked for {wanted}", lines)
