"""Algorithms as arms of one experiment."""

import lff.experiments
from lff.experiments.grids import Training
from lff.experiments.spec import Experiment, ours, rival
from lff.stats import RETURN, Better


def test_sac_and_td3_are_arms_of_one_experiment(tmp_path):
    experiment = Experiment(
        name="sac-or-td3",
        title="Does SAC learn better than TD3?",
        source="a test",
        arms={"SAC": ours(algo="sac", net="lff"), "TD3": rival(algo="td3", net="lff")},
        grid=Training(laptop=("gym/Pendulum-v1",)),
        metrics=(RETURN,),
        sentences={"T-1: SAC learns better than TD3.": Better("SAC", than="TD3")},
    )
    result = lff.experiments.run(
        experiment, "smoke", workers=0, dir=tmp_path / "runs", results=tmp_path
    )
    rows = {(row.variant, row.seed) for row in result.table}
    assert {(name, seed) for name in ("SAC", "TD3") for seed in (0, 1)} <= rows
    assert result.verdicts["T-1"].outcome == "inconclusive at this scale"
