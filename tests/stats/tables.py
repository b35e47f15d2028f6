"""Tables whose verdicts are computed by hand.

1, 2, 3, 4, 5 over five seeds have mean 3 and s² = 2.5, a standard error of √½.  Against an arm
without spread Welch has 4 degrees of freedom; with t(4, 0.975) = 2.7764 the margin is
2.7764·√½ = 1.9632.
"""

import re

from lff.stats import RETURN, Row

MARGIN = 2.7764 * 0.5**0.5
SUPPORTED, CONTRADICTED, UNDECIDED = "supported here", "contradicted here", "undecided here"
ONE_TO_FIVE = [1.0, 2.0, 3.0, 4.0, 5.0]


def runs(variant, values, *, task="t", metric=RETURN, step=10):
    """Runs of one evaluation each, one per seed."""
    return [Row("x", variant, task, seed, step, metric.title, v) for seed, v in enumerate(values)]


def floor(*, task="t", center=0.0):
    """A random policy of this mean and standard deviation 1 (−√½, √½ have it), and a zero one."""
    half = 0.5**0.5
    return runs("random policy", [center - half, center + half], task=task, step=0) + runs(
        "zero policy", [center], task=task, step=0
    )


def shifted(base, by):
    return [value + by for value in base]


def numbers(text):
    low, high = re.search(r"\[(.*?), (.*?)\]", text).groups()
    return float(low), float(high)
