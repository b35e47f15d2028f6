"""Grades of a stress report by its references, and the summary.

A grade compares a number with those of the references, of which the best and the worst are those
with the best and the worst estimate:

    good    like the best reference: its estimate is within, or better than, the interval of the
            best one, and nearer to the best than to the worst
    poor    like the worst reference: its estimate is within, or worse than, the interval of the
            worst one, and nearer to the worst
    fair    neither; or both, where the intervals of the best and the worst overlap, unless it is
            as good as the best or as bad as the worst
"""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from lff.experiments.stress.score import Curves, Kind
from lff.stats.stress import Grade, Measured, Stress, references_overlap


def grade(
    own: Measured,
    others: Sequence[Measured],
    better: Literal["lower", "higher"],
    *,
    log: bool = False,
) -> Grade:
    """Return the grade of a number by the rule at the top of this module.

    >>> best, worst = Measured(1.0, 0.8, 1.2, ()), Measured(5.0, 2.0, 8.0, ())
    >>> [grade(Measured(x, x, x, ()), [best, worst], "lower") for x in (1.1, 2.5, 4.5)]
    ['good', 'fair', 'poor']
    >>> grade(Measured(1.1, 1.1, 1.1, ()), [best, Measured(1.4, 1.0, 1.8, ())], "lower")
    'fair'
    >>> wide = Measured(100.0, 10.0, 1000.0, ())
    >>> grade(Measured(12.0, 12.0, 12.0, ()), [wide, best], "higher", log=True)
    'good'
    """
    sign = 1 if better == "lower" else -1
    ordered = sorted(others, key=lambda one: sign * one.estimate)
    best, worst = ordered[0], ordered[-1]
    at = sign * own.estimate
    in_best = at <= max(sign * best.low, sign * best.high)
    in_worst = at >= min(sign * worst.low, sign * worst.high)
    middle, *ends = (math.log(one.estimate) if log else one.estimate for one in (own, best, worst))
    is_nearer = abs(middle - ends[0]) <= abs(middle - ends[1])
    if at <= sign * best.estimate or (in_best and not in_worst and is_nearer):
        return "good"
    if at >= sign * worst.estimate or (in_worst and not in_best and not is_nearer):
        return "poor"
    return "fair"


def stress_of(kind: Kind, name: str, own: Curves, references: Mapping[str, Curves]) -> Stress:
    """Return the result of one stress."""
    mine = kind.measure(own)
    others = {title: kind.measure(curves) for title, curves in references.items()}
    drawn = {title: kind.draw(curves) for title, curves in {**references, name: own}.items()}
    return Stress(
        key=kind.key,
        title=kind.title,
        question=kind.question,
        better=kind.better,
        log=kind.log,
        unit=kind.unit,
        measured=mine,
        references=others,
        grade=grade(mine, [*others.values()], kind.better, log=kind.log),
        advice=kind.advice,
        lines={title: curve for title, curve in drawn.items() if curve is not None},
        **kind.figure,
    )


def summarize(stresses: Sequence[Stress]) -> str:
    """Return what to do, in one sentence or two, from the grades alone.

    The advice is that of the first poor stress in the order of the report, of those whose
    references differ if there is one.
    """
    poor = [one for one in stresses if one.grade == "poor"]
    good = sum(one.grade == "good" for one in stresses)
    if not poor:
        return f"As good as the best reference under {good} of {len(stresses)} stresses, poor " + (
            "under none: this critic should survive bootstrapping as well as the references do."
        )
    first = next((one for one in poor if not references_overlap(one.references)), poor[0])
    title, advice = first.title, first.advice
    start = f"Poor under {len(poor)} of {len(stresses)} stresses. "
    return start + f"Start with “{title[0].lower()}{title[1:]}”: {advice[0].lower()}{advice[1:]}"
