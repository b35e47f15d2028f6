"""Statistics and verdicts, from tables alone: needs numpy and scipy, never torch."""

from lff.stats.curves import Curves, Statistic
from lff.stats.fields import Field
from lff.stats.intervals import (
    Interval,
    interquartile_mean,
    paired_t_interval,
    stratified_bootstrap,
    t_interval,
)
from lff.stats.kinds import (
    AsGood,
    Better,
    Correlates,
    InSeeds,
    LargerGain,
    Monotone,
    Point,
    Slope,
    SlopeIs,
)
from lff.stats.metrics import RANDOM, RETURN, ZERO, Metric
from lff.stats.tables import Published, Row, read_published, read_table, write_table
from lff.stats.verdicts import (
    Verdict,
    judge_better,
    judge_bounds,
    judge_count,
    judge_equivalent,
    judge_tasks,
    lacks_signal,
)
