"""Claims of the studies in ``examples/``, each judged from its table."""

from collections.abc import Sequence

from lff.stats.intervals import paired_t_interval
from lff.stats.tables import Row, select
from lff.stats.verdicts import Verdict, judge_better, judge_equivalent


def judge_fig2(rows: Sequence[Row], *, arm: str = "LFF σ=0.01", rival: str = "MLP") -> Verdict:
    """Fig. 2: after equal training LFF is nearer to the true Q than the MLP."""
    last = max(row.step for row in rows)
    ours, theirs = (
        select(rows, variant=name, metric="error to true Q", step=last) for name in (arm, rival)
    )
    gain = paired_t_interval(theirs, ours)
    return judge_better(gain, of=f"squared error of {rival} minus {arm} after {last} steps")


def judge_fig2_control(rows: Sequence[Row], *, arm: str = "LFF σ=0.01") -> Verdict:
    """Fig. 2, why: is the linear control as good as LFF, within 20 % of the MLP's error?"""
    last = max(row.step for row in rows)
    ours, control, mlp = (
        select(rows, variant=name, metric="error to true Q", step=last)
        for name in (arm, "linear control", "MLP")
    )
    margin = 0.2 * sum(mlp) / len(mlp)
    of = f"squared error of the linear control minus {arm} after {last} steps"
    return judge_equivalent(paired_t_interval(control, ours), margin=margin, of=of)


def judge_fig2_early_stopping(rows: Sequence[Row], *, arm: str = "LFF σ=0.01") -> Verdict:
    """Fig. 2, the harder question: is LFF at its best nearer than the MLP at *its* best?"""
    best = []
    for name in ("MLP", arm):
        seeds = sorted({row.seed for row in rows})
        best.append(
            [min(select(rows, variant=name, metric="error to true Q", seed=s)) for s in seeds]
        )
    gain = paired_t_interval(best[0], best[1])
    return judge_better(gain, of=f"lowest squared error over training, MLP minus {arm}")


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
