"""Statistics and verdicts, from tables alone: needs numpy and scipy, never torch."""

from lff.stats.claim import Kind as Kind
from lff.stats.curves import Curves as Curves
from lff.stats.curves import Statistic as Statistic
from lff.stats.fields import Field as Field
from lff.stats.intervals import (
    Count,
    Estimate,
    Interval,
    contrast,
    fisher,
    interquartile_mean,
    paired_t_interval,
    stratified_bootstrap,
    t_interval,
)
from lff.stats.kinds import (
    Better,
    Computed,
    Correlates,
    Equivalent,
    Exponent,
    MoreOften,
    Point,
    Slope,
)
from lff.stats.metrics import RANDOM, RETURN, ZERO, Metric
from lff.stats.tables import Published, Row, read_published, read_table, write_table
from lff.stats.verdicts import Verdict, adjust, benjamini_hochberg, holm
