"""Verdicts on claims: computed from numbers, never typed in.

A claim is tested with two one-sided p-values, for it and against it; either must be at most half of
α = 0.05.  With several tasks there is one test of their mean, or "on at least k of T" by partial
conjunction.  What is deterministic is computed, not tested: it holds or is refuted.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from scipy.stats import false_discovery_control

from lff.stats.intervals import Interval

Outcome = Literal[
    "supported here",
    "contradicted here",
    "undecided here",
    "no signal",
    "not run",
    "incomplete table",
    "holds",
    "refuted",
]
TESTED: tuple[Outcome, ...] = ("supported here", "contradicted here", "undecided here")
FEWEST_SEEDS = 5
ALPHA = 0.05


class Bounds(NamedTuple):
    """Where a claim asks its number to lie, in the units of its interval."""

    low: float = 0.0
    high: float = math.inf
    is_ratio: bool = False
    """Whether the number is a ratio, for a logarithmic scale."""


ABOVE_ZERO = Bounds()


@dataclass(frozen=True)
class Verdict:
    """An outcome and the numbers that decided it."""

    outcome: Outcome
    because: str
    details: tuple[str, ...] = ()
    """A line for each task, or more to read beside ``because``."""
    interval: Interval | None = None
    p: float | None = None
    """Two-sided; None for what is not tested."""
    bounds: Bounds = ABOVE_ZERO
    """Of what is claimed, to read the interval by."""
    tasks: tuple[tuple[str, "Verdict"], ...] = ()
    """The verdict on each task alone, where there are several."""
    adjusted: Outcome | None = None
    """The outcome after Holm's correction over the study's other claims."""
    marks: tuple[str, ...] = ()
    """What a reader must know of its registration."""

    def __str__(self) -> str:
        return f"{self.outcome} ({self.because})"


@dataclass(frozen=True)
class Test:
    """One test of a claim: p-values for and against it, and its numbers in words."""

    supports: float
    contradicts: float
    because: str
    interval: Interval | None = None
    notes: tuple[str, ...] = ()
    bounds: Bounds = ABOVE_ZERO
    silent: bool = False
    """Whether no arm has learned."""

    @property
    def p(self) -> float:
        """The two-sided p-value."""
        return min(1.0, 2 * min(self.supports, self.contradicts))

    def verdict(self, alpha: float = ALPHA) -> Verdict:
        """Return the outcome at a level."""
        outcome: Outcome = "undecided here"
        if self.silent:
            outcome = "no signal"
        elif self.p <= alpha:
            outcome = "supported here"
            if self.contradicts < self.supports:
                outcome = "contradicted here"
        return Verdict(outcome, self.because, self.notes, self.interval, self.p, self.bounds)


def no_verdict(done: int, planned: int) -> Verdict:
    """Return what a partial table has instead of a verdict."""
    return Verdict("incomplete table", f"{done} of {planned} jobs are there")


def conjunction(tests: Mapping[str, Test], at_least: int) -> Test:
    """Test "it holds on at least k of these T tasks": (T - k + 1) p_(k), Bonferroni's form.

    The contrary is that it fails on at least T - k + 1, so one contrary task does not contradict
    "most".  A task on which no arm has learned says neither.
    """
    total = len(tests)
    k = min(at_least, total)
    supports, contradicts = (
        sorted(1.0 if one.silent else getattr(one, side) for one in tests.values())
        for side in ("supports", "contradicts")
    )
    alone = "; ".join(
        f"{task} {one.verdict().outcome}" + (f" {one.interval}" if one.interval else "")
        for task, one in tests.items()
    )
    for_it = min(1.0, (total - k + 1) * supports[k - 1])
    against = min(1.0, k * contradicts[total - k])
    p = min(1.0, 2 * min(for_it, against))
    because = f"at least {k} of {total} tasks asked for, p = {p:.2g}; each alone: {alone}"
    return Test(for_it, against, because, silent=all(one.silent for one in tests.values()))


def lacks_signal(ends: Sequence[float], random: Sequence[float], *, span: float | None) -> bool:
    """Return whether no arm ends above the random policy by what its chance and the task ask for.

    ``ends``: the mean last return of each arm.  ``random``: the random policy's return of each
    seed.  The floor is its mean plus the largest of two standard deviations and 5 % of the span.
    """
    if len(random) < 2:
        return False
    floor = float(np.mean(random)) + max(2 * float(np.std(random, ddof=1)), 0.05 * (span or 0.0))
    return all(end <= floor for end in ends)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Return p-values adjusted by Holm's step-down method.

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'c': 0.06, 'b': 0.06}
    """
    adjusted: dict[str, float] = {}
    largest = 0.0
    for i, (name, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        largest = max(largest, min(1.0, (len(p_values) - i) * p))
        adjusted[name] = largest
    return adjusted


def benjamini_hochberg(p_values: Mapping[str, float]) -> dict[str, float]:
    """Return the q-values of Benjamini and Hochberg.

    >>> benjamini_hochberg({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'b': 0.04, 'c': 0.04}
    """
    found = np.atleast_1d(false_discovery_control([*p_values.values()]))
    return dict(zip(p_values, found.tolist(), strict=True))


def adjust(verdicts: Mapping[str, Verdict], primary: str | None) -> dict[str, Verdict]:
    """Give every verdict of a study its adjusted outcome.

    The primary claim is judged at α; over the other tested ones Holm's correction is made.
    """
    others = {n: v.p for n, v in verdicts.items() if v.outcome in TESTED and n != primary}
    corrected = holm({name: p for name, p in others.items() if p is not None})
    return {
        name: replace(
            verdict,
            adjusted="undecided here" if corrected.get(name, 0.0) > ALPHA else verdict.outcome,
        )
        for name, verdict in verdicts.items()
    }
