"""Exponents, on curves whose exponents are written down."""

import math

import pytest

from lff.core import BadInputError
from lff.stats import Metric, Row, SlopeIs
from lff.stats.curves import power_of

STEPS = (10, 100, 1000)
EXPONENTS = (-0.7, -0.6, -0.5, -0.4, -0.3)
"""Mean -0.5, s = √0.025; with t(4, 0.975) = 2.7764 the margin is 2.7764·√0.005 = 0.1963."""


def curves(exponents=EXPONENTS, *, task="t"):
    return [
        Row("x", "A", task, seed, step, "error", 3.0 * step**power)
        for seed, power in enumerate(exponents)
        for step in STEPS
    ]


def slope_is(low, high, **fields):
    bounds = {"low": low, "high": high, **fields}
    return SlopeIs(name="C", text="It falls.", arm="A", metric=Metric("error"), **bounds)


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (-0.7, -0.3, "confirmed"),
        (-0.69, -0.31, "inconclusive at this scale"),
        (-0.3, 0.0, "refuted"),
        (-0.31, 0.0, "inconclusive at this scale"),
        (-1.0, -0.7, "refuted"),
    ],
)
def test_the_interval_of_the_exponents_decides(low, high, outcome):
    verdict = slope_is(low, high).judge(curves())
    assert verdict.outcome == outcome
    assert "-0.5 [-0.696, -0.304], n=5" in verdict.because


def test_four_seeds_decide_nothing():
    assert slope_is(-9, 9).judge(curves(EXPONENTS[:4])).outcome == "inconclusive at this scale"


def test_every_task_must_hold():
    rows = curves([-0.5] * 5, task="one") + curves([-2.0] * 5, task="two")
    assert slope_is(-0.6, -0.4).judge(rows).outcome == "refuted"
    assert slope_is(-0.6, -0.4, on_at_least=1).judge(rows).outcome == "confirmed"
    assert slope_is(-0.6, -0.4, tasks=("one",)).judge(rows).outcome == "confirmed"


def test_the_power_of_a_curve_by_hand():
    # ln values 0, 1, 3 at ln steps 0, 1, 2: slope Σ(x - 1)(y - 4/3) / 2 = (4/3 + 5/3) / 2
    curve = {round(math.e**0): 1.0, 10: 10.0, 100: 1000.0}
    assert power_of(curve) == pytest.approx(1.5)
    assert power_of({1: 5.0, 10: 10.0, 100: 1.0}, first=10) == pytest.approx(-1.0)
    assert power_of({1: 5.0, 10: 10.0, 100: 1.0}, last=10) == pytest.approx(math.log10(2))
    assert power_of({0: 9.0, 10: 0.0, 100: math.nan, 1000: 2.0}) != power_of(curve)
    assert math.isnan(power_of({0: 9.0, 10: 0.0, 1000: 2.0}))


def test_bad_bounds_are_told():
    with pytest.raises(BadInputError, match="in order"):
        slope_is(1, 0)
    with pytest.raises(BadInputError, match="first"):
        slope_is(0, 1, first=0)
