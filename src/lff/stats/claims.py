"""Claims of the studies in ``examples/``, each judged from its table."""

from collections.abc import Sequence

from lff.stats.intervals import paired_t_interval
from lff.stats.tables import Row, select
from lff.stats.verdicts import Verdict, judge_better


def judge_learning(rows: Sequence[Row], *, arm: str, rival: str) -> Verdict:
    """Is ``arm`` better, by the mean of its learning curve?  Refuted means: it is worse."""
    areas = []
    for name in (arm, rival):
        seeds = sorted({row.seed for row in rows if row.variant == name})
        curves = [select(rows, variant=name, metric="return", seed=seed) for seed in seeds]
        areas.append([sum(curve) / len(curve) for curve in curves])
    steps = max(row.step for row in rows)
    gain = paired_t_interval(areas[0], areas[1])
    return judge_better(gain, of=f"mean return over {steps:,} steps, {arm} minus {rival}")
