"""Error rates of the verdicts, over draws whose truth is known.

At a null, where a claim is neither true nor false by the smallest bit, "supported here" and
"contradicted here" are both wrong.  They share α = 5 %; 6.5 % is three standard errors of 2,000
draws above it.  Every draw goes through :meth:`judge`; with several tasks through the test that
``judge`` calls for all of them together, since their lines, one for each task, are not asked for.
"""

import numpy as np
import pytest
from scipy.stats import norm

from lff.stats import (
    RETURN,
    Better,
    Correlates,
    Curves,
    Equivalent,
    Exponent,
    Metric,
    MoreOften,
    Point,
    Row,
    Slope,
)
from lff.stats.verdicts import conjunction

pytestmark = pytest.mark.system

DRAWS, MOST_WRONG = 2_000, 0.065
M, OTHER = Metric("m"), Metric("other")
LAST = {"metric": M, "statistic": "last"}
LEVEL = 20.0
"""Mean of what is compared by ratios: spreads of 1 and 3 are 5 and 15 % of it."""
TASKS = ("a", "b", "c", "d", "e")
TIMES = np.array([10, 100, 1000])


def runs(arm, values, *, task="t", metric=M, step=10):
    return [Row("x", arm, task, seed, step, metric.title, v) for seed, v in enumerate(values)]


def curves(metric, table, steps):
    """Rows of one arm's curves, one for each line of a table."""
    return [
        Row("x", "A", "t", seed, int(step), metric.title, value)
        for seed, line in enumerate(table.tolist())
        for step, value in zip(steps, line, strict=True)
    ]


def pair(rng, n, *, gain=0.0, level=0.0, task="t", metric=M):
    """Arms whose spreads are 1 and 3."""
    arms = {"A": (level + gain, 1.0), "B": (level, 3.0)}
    drawn = {arm: rng.normal(*law, n).tolist() for arm, law in arms.items()}
    return [row for arm, v in drawn.items() for row in runs(arm, v, task=task, metric=metric)]


def several(rng, n, gains):
    found = [pair(rng, n, gain=gain, task=task) for task, gain in zip(TASKS, gains, strict=False)]
    return [row for rows in found for row in rows]


def logs(rng, n):
    return [row._replace(value=float(np.exp(row.value / 10))) for row in pair(rng, n)]


def four(rng, n, *, rise=0.0):
    """Arms A to D whose means rise by as much each time."""
    arms = zip("ABCD", (1.0, 3.0, 1.0, 3.0), strict=True)
    drawn = [(arm, rng.normal(rise * i, spread, n)) for i, (arm, spread) in enumerate(arms)]
    return [row for arm, values in drawn for row in runs(arm, values.tolist())]


def starts(rng, n):
    """Runs that pass the level of "first above" at a normal time."""
    rows = [row for v in (0.0, 1.0) for row in runs("random policy", [v], task="dmc/x", step=0)]
    rows = [row._replace(metric="return", seed=seed) for seed, row in enumerate(rows)]
    for arm, spread in (("A", 100), ("B", 300)):
        for seed, step in enumerate(rng.normal(5_000, spread, n)):
            rows.append(Row("x", arm, "dmc/x", seed, round(step), "return", 500.0))
    return rows


def powers(rng, n):
    exponents = rng.normal(-0.5, 0.1, (n, 1))
    return curves(M, TIMES**exponents, TIMES)


def walks(rng, n):
    """Two metrics of a run that have nothing to do with each other."""
    one, other = (curves(m, rng.normal(size=(n, 5)), range(5)) for m in (M, OTHER))
    return one + other


def events(rng, n, *, arms="A", tasks=TASKS[:1], within=0.0, share=0.5):
    """Runs that are 1 with this chance, else 0; those of one seed are alike, by ``within``."""
    bound, rows = norm.ppf(share), []
    for arm in arms:
        common = rng.normal(size=n)
        for task in tasks:
            latent = within**0.5 * common + (1 - within) ** 0.5 * rng.normal(size=n)
            rows += runs(arm, (latent < bound).astype(float).tolist(), task=task)
    return rows


POINTS = tuple(Point(x, arm) for x, arm in enumerate("ABCD"))
EVENT = {"metric": M, "above": 0.5}
A_OR_B = {"arm": "A", "than": "B"}
NULLS = {
    "better": (Better(**A_OR_B, **LAST), pair),
    "better, ratio": (
        Better(**A_OR_B, **LAST, scale="ratio"),
        lambda rng, n: pair(rng, n, level=LEVEL),
    ),
    "better, log": (Better(**A_OR_B, **LAST, scale="log"), logs),
    "better by half": (
        Better(**A_OR_B, **LAST, scale="ratio", by=1.5),
        lambda rng, n: pair(rng, n, level=LEVEL, gain=0.5 * LEVEL),
    ),
    "better than a number": (Better("B", than=0.0, **LAST), pair),
    "larger gain": (Better("A", than="B", over=("C", "D"), **LAST), four),
    "better, by ranks": (Better(**A_OR_B, statistic="first above"), starts),
    "equivalent, ratio": (
        Equivalent(**A_OR_B, **LAST),
        lambda rng, n: pair(rng, n, level=LEVEL, gain=0.2 * LEVEL),
    ),
    "equivalent, span": (
        Equivalent(**A_OR_B, scale="difference", margin=0.2, statistic="last"),
        lambda rng, n: pair(rng, n, level=400, gain=200, task="dmc/x", metric=RETURN),
    ),
    "slope": (Slope(POINTS, **LAST), four),
    "flat": (Slope(POINTS, margin=1.0, **LAST), lambda rng, n: four(rng, n, rise=1.0)),
    "exponent": (Exponent("A", metric=M, above=-0.5), powers),
    "correlates": (Correlates("A", metric=M, other=OTHER, above=0.0), walks),
    "more often, one arm": (MoreOften("A", **EVENT), events),
    "more often, two arms": (
        MoreOften(**A_OR_B, **EVENT),
        lambda rng, n: events(rng, n, arms="AB", share=0.3),
    ),
}
"""Claims about one task, and a draw of rows at its null."""
OVER_TASKS = {
    "better, mean of 3 tasks": (
        Better(**A_OR_B, **LAST),
        TASKS[:3],
        lambda rng, n: several(rng, n, (0.0, 0.0, 0.0)),
    ),
    **{
        f"more often, 5 tasks of {within:g} within a seed": (
            MoreOften("A", **EVENT),
            TASKS,
            lambda rng, n, within=within: events(rng, n, tasks=TASKS, within=within),
        )
        for within in (0.5, 0.9)
    },
    "more often, two arms, 3 strata": (
        MoreOften(**A_OR_B, **EVENT),
        TASKS[:3],
        lambda rng, n: events(rng, n, arms="AB", tasks=TASKS[:3]),
    ),
}


def rates(outcomes):
    return {outcome: outcomes.count(outcome) / len(outcomes) for outcome in set(outcomes)}


def wrong(outcomes):
    """Return the share of decisions, and name both in the report of a failure."""
    found = rates(outcomes)
    return found.get("supported here", 0.0) + found.get("contradicted here", 0.0)


@pytest.mark.parametrize("n", [5, 10])
@pytest.mark.parametrize("name", NULLS)
def test_a_claim_at_its_null_is_rarely_decided(name, n):
    claim, draw = NULLS[name]
    rng = np.random.default_rng(0)
    outcomes = [claim.judge(draw(rng, n)).outcome for _ in range(DRAWS)]
    assert wrong(outcomes) <= MOST_WRONG, rates(outcomes)


@pytest.mark.parametrize("n", [5, 10])
@pytest.mark.parametrize("name", OVER_TASKS)
def test_a_claim_over_tasks_at_its_null_is_rarely_decided(name, n):
    claim, tasks, draw = OVER_TASKS[name]
    rng = np.random.default_rng(0)
    tests = (claim._test(Curves(draw(rng, n), metric=M), tasks) for _ in range(DRAWS))
    outcomes = [test.verdict().outcome for test in tests]
    assert wrong(outcomes) <= MOST_WRONG, rates(outcomes)


@pytest.mark.parametrize("n", [5, 10])
def test_at_least_two_of_three_tasks_at_its_null(n):
    """One task has the gain for certain, two have none: it holds on one, not on two."""
    claim, rng = Better(**A_OR_B, **LAST), np.random.default_rng(0)
    outcomes = []
    for _ in range(DRAWS):
        curves = Curves(several(rng, n, (100.0, 0.0, 0.0)), metric=M)
        tests = {task: claim._test(curves, [task]) for task in TASKS[:3]}
        outcomes.append(conjunction(tests, 2).verdict().outcome)
    assert wrong(outcomes) <= MOST_WRONG, rates(outcomes)


def test_a_difference_of_two_standard_deviations_is_found_with_ten_runs():
    """Returns of 300 and 400 with a standard deviation of 50; 98.8 % by the noncentral t."""
    rng = np.random.default_rng(0)
    claim = Better(**A_OR_B, statistic="last")
    outcomes = []
    for _ in range(DRAWS):
        arms = {"A": rng.normal(400, 50, 10), "B": rng.normal(300, 50, 10)}
        rows = [
            row
            for arm, values in arms.items()
            for row in runs(arm, values.tolist(), task="dmc/x", metric=RETURN)
        ]
        outcomes.append(claim.judge(rows).outcome)
    assert rates(outcomes)["supported here"] >= 0.9
