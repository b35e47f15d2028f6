"""A claim about two gains: one pair of arms gains more, relative to its baseline, than another."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass

import numpy as np

from lff.stats.curves import Curves, Statistic, check_statistic, describe
from lff.stats.intervals import t_interval
from lff.stats.kinds import judge_arms
from lff.stats.metrics import RETURN, Metric
from lff.stats.paired import Paired
from lff.stats.tables import Row
from lff.stats.verdicts import Verdict, judge_better


@dataclass(frozen=True)
class LargerGain:
    """``arm`` over ``than`` is a larger gain than ``other_arm`` over ``other_than``.

    A gain is the difference of a seed's two runs as a share of the baseline's mean over seeds, so
    that pairs which learn for different times on different scales can be compared.  A curve counts
    to the end of its own pair's, not to that of the longer pair.  The t-interval of gain minus gain
    decides, task by task.
    """

    arm: str
    _: KW_ONLY
    name: str = ""
    text: str = ""
    than: str
    other_arm: str
    other_than: str
    metric: Metric = RETURN
    statistic: Statistic = "mean"
    tasks: tuple[str, ...] | None = None
    on_at_least: float | None = None

    def __post_init__(self) -> None:
        check_statistic(self.statistic, self.metric)

    def judge(self, rows: Sequence[Row]) -> Verdict:
        """Judge it task by task."""
        arms = (self.arm, self.than, self.other_arm, self.other_than)
        curves = Curves(rows, metric=self.metric, variants=arms, apart=(arms[:2], arms[2:]))
        gains = f"gain of {self.arm} over {self.than} minus {self.other_arm} over {self.other_than}"
        of = f"relative {describe(self.statistic, self.metric)}, {gains}"

        def decide(paired: Paired) -> Verdict:
            one, other = (_gains(*paired.columns[i : i + 2]) for i in (0, 2))
            return judge_better(t_interval([*(one - other)]), of=of)

        return judge_arms(self, curves, arms, decide, of=of)


def _gains(arm: Sequence[float], than: Sequence[float]) -> np.ndarray:
    return np.subtract(arm, than) / max(abs(float(np.mean(than))), 1e-12)
