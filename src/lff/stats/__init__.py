"""Statistics and verdicts, from tables alone: needs numpy and scipy, never torch."""

from lff.stats.intervals import Interval as Interval
from lff.stats.intervals import paired_t_interval as paired_t_interval
from lff.stats.tables import Row as Row
from lff.stats.tables import read_table as read_table
from lff.stats.tables import select as select
from lff.stats.tables import write_table as write_table
from lff.stats.verdicts import Verdict as Verdict
from lff.stats.verdicts import judge_better as judge_better
from lff.stats.verdicts import judge_count as judge_count
from lff.stats.verdicts import judge_equivalent as judge_equivalent
