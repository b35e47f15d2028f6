"""Seeds that a claim takes, held to statsmodels and to simulation."""

import json
import math
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from statsmodels.stats.power import TTestIndPower

from lff.experiments import find_experiment, list_experiments
from lff.experiments.results import document, find_table
from lff.stats import Better, Equivalent, MoreOften, Row
from lff.stats.power import plan

ROOT = Path(__file__).parents[2]
TABLES = sorted((ROOT / "results").glob("*/*.csv"))
SIDECARS = [path.with_suffix(".json") for path in TABLES]


def table(spread, n=5, base=100.0, gain=0.0):
    """Runs of two arms whose standard deviation is a share of their mean, exactly."""
    values = np.linspace(-1, 1, n)
    values = spread * values / values.std(ddof=1)
    arms = {"MLP": base * (1 + values), "LFF": base * (1 + gain) * (1 + values)}
    return [
        Row("x", arm, "t", seed, 10, "return", float(v))
        for arm, vs in arms.items()
        for seed, v in enumerate(vs)
    ]


@pytest.mark.parametrize(("spread", "n"), [(0.18, 5), (0.18, 10), (0.36, 20)])
def test_power_of_a_difference_equals_statsmodels(spread, n):
    found = plan(Better("LFF", than="MLP"), table(spread), n=n)
    effect = 0.25 / spread
    expected = TTestIndPower().power(effect, n, 0.05)
    assert found.power == pytest.approx(expected, abs=2e-3)
    needed = TTestIndPower().solve_power(effect, power=0.8, alpha=0.05)
    assert found.needed == math.ceil(needed)
    least = TTestIndPower().solve_power(nobs1=n, power=0.8, alpha=0.05)
    assert found.least == pytest.approx(least * spread, rel=0.01)


def test_the_studies_power_analysis():
    """18 % spread: a gain of 25 % is found with power 0.44 by 5 seeds and 0.82 by 10."""
    claim = Better("LFF", than="MLP")
    assert plan(claim, table(0.18), n=5).power == pytest.approx(0.44, abs=0.06)
    assert plan(claim, table(0.18), n=10).power == pytest.approx(0.82, abs=0.02)


def test_equivalence_by_simulation():
    """Two arms that do not differ, ratio within 1.2: seldom shown by 10 seeds at 18 % spread."""
    claim = Equivalent("LFF", than="MLP")
    assert plan(claim, table(0.18), n=10).power < 0.2
    rng = np.random.default_rng(0)
    wins = 0
    for _ in range(300):
        rows = [
            Row("x", arm, "t", seed, 10, "return", float(v))
            for arm in ("LFF", "MLP")
            for seed, v in enumerate(100 * (1 + 0.18 * rng.normal(size=15)))
        ]
        wins += claim.judge(rows).outcome == "supported here"
    assert plan(claim, table(0.18), n=15).power == pytest.approx(wins / 300, abs=0.08)


def test_counts_by_hand():
    """Six of six is the least that supports "most"; a share of 75 % has it in 0.75**6."""
    found = plan(MoreOften("LFF", above=1.0), table(0.1), n=6)
    assert found.power == pytest.approx(0.75**6)
    two = plan(MoreOften("LFF", than="MLP", above=1.0), table(0.1), n=5, effect=0.49)
    assert 0 < two.power < 0.5


@pytest.mark.parametrize("name", [n for n in list_experiments() if find_table(ROOT / "results", n)])
def test_every_committed_table_gives_a_valid_document(name):
    schema = json.loads((ROOT / "src/lff/stats/claims.schema.json").read_text())
    experiment = find_experiment(name)
    page = document(experiment, find_table(ROOT / "results", name))
    jsonschema.validate(json.loads(json.dumps(page, allow_nan=False)), schema)
    assert len(page["claims"]) == len(experiment.claims)


def test_the_schema_refuses_another_outcome():
    schema = json.loads((ROOT / "src/lff/stats/claims.schema.json").read_text())
    page = document(find_experiment("lem3"), find_table(ROOT / "results", "lem3"))
    page["claims"][0]["outcome"] = "confirmed"
    with pytest.raises(jsonschema.ValidationError, match="confirmed"):
        jsonschema.validate(page, schema)


@pytest.mark.parametrize("path", SIDECARS, ids=lambda path: path.stem)
def test_every_sidecar_has_the_documented_form(path):
    schema = json.loads((ROOT / "src/lff/stats/sidecar.schema.json").read_text())
    sidecar = json.loads(path.read_text())
    jsonschema.validate(sidecar, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(sidecar | {"planned": 0}, schema)
