import numpy as np
import pytest

from lff.stats import LargerGain, Metric, Row

CLAIM = LargerGain(
    name="C",
    text="",
    arm="SAC LFF",
    than="SAC MLP",
    other_arm="LFF",
    other_than="MLP",
    metric=Metric("score"),
)


def table(gain, other, *, seeds=5, noise=0.01):
    """One pair is near 1000, the other near 10; gains are relative."""
    rng = np.random.default_rng(0)
    means = {
        "SAC MLP": 1000.0,
        "SAC LFF": 1000 * (1 + gain),
        "MLP": -10.0,
        "LFF": -10 + 10 * other,
    }
    return [
        Row("e", arm, "task", seed, 1, "score", mean + noise * abs(mean) * rng.normal())
        for arm, mean in means.items()
        for seed in range(seeds)
    ]


def test_gains_are_compared_as_shares_of_their_baselines():
    assert CLAIM.judge(table(0.5, 0.1)).outcome == "confirmed"
    assert CLAIM.judge(table(0.1, 0.5)).outcome == "refuted"
    assert CLAIM.judge(table(0.3, 0.3, noise=0.1)).outcome == "inconclusive at this scale"
    assert CLAIM.judge(table(0.5, 0.1, seeds=4)).outcome == "inconclusive at this scale"


def test_the_interval_is_of_the_gains():
    exact = [
        Row("e", arm, "task", seed, 1, "score", value)
        for arm, values in {
            "SAC MLP": (90, 110, 100, 100, 100),
            "SAC LFF": (150, 150, 150, 150, 150),
            "MLP": (2, 2, 2, 2, 2),
            "LFF": (2, 2, 2, 2, 2),
        }.items()
        for seed, value in enumerate(values)
    ]
    # gains 0.6, 0.4, 0.5, 0.5, 0.5: mean 0.5, half width t(4) · s/√5 = 2.776 · 0.0707/2.236
    text = " ".join((CLAIM.judge(exact).because, *CLAIM.judge(exact).details))
    low, high = 0.5 - 2.776 * 0.07071 / 5**0.5, 0.5 + 2.776 * 0.07071 / 5**0.5
    assert f"[{low:.3g}, {high:.3g}]" in text


def test_the_shorter_pair_is_not_carried_on_to_the_end_of_the_longer():
    curves = {"SAC MLP": (0, 10), "SAC LFF": (10, 20), "MLP": (5,) * 9, "LFF": (5,) * 9}
    rows = [
        Row("e", arm, "task", seed, step, "score", value + seed / 1e3)
        for arm, curve in curves.items()
        for step, value in enumerate(curve)
        for seed in range(5)
    ]
    # (15 - 5) / 5, not (19 - 9) / 9 as it were if the last value went on for seven more steps
    assert ": 2 [" in CLAIM.judge(rows).because


@pytest.mark.parametrize("rows", [[], table(0.5, 0.1)[:3]])
def test_too_little_is_inconclusive(rows):
    assert CLAIM.judge(rows).outcome == "inconclusive at this scale"
