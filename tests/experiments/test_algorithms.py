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
    assert result.verdicts["T-1"].outcome == "undecided here"


def test_rivals_are_arms_of_one_experiment(tmp_path):
    experiment = Experiment(
        name="some-rivals",
        title="Do rivals run as arms?",
        source="a test",
        arms={
            "LFF": ours(),
            "SimBa": rival(actor="simba-1", critic="simba", normalize_obs=True),
            "CrossQ": rival(algo="crossq", net="mlp-2", lr=1e-3),
        },
        grid=Training(laptop=("gym/Pendulum-v1",)),
        metrics=(RETURN,),
        sentences={"T-1: LFF learns better than CrossQ.": Better("LFF", than="CrossQ")},
    )
    result = lff.experiments.run(
        experiment, "smoke", workers=0, dir=tmp_path / "runs", results=tmp_path
    )
    rows = {(row.variant, row.seed) for row in result.table}
    assert {(name, seed) for name in experiment.arms for seed in (0, 1)} <= rows
    computes = {c.variant: c.job.config.compute.compile for c in experiment.cells("laptop")}
    assert computes == {"LFF": "native", "SimBa": "graph", "CrossQ": "graph"}


def test_native_jobs_are_for_any_processor_and_have_digests_of_their_own():
    arms = {"LFF": ours(net="lff"), "TD3": rival(algo="td3")}
    graph, native = (
        Training(laptop=("dmc/cheetah-run",), seeds=1, native=native)(arms, "laptop")
        for native in (False, True)
    )
    computes = [cell.job.config.compute for cell in native]
    assert [one.compile for one in computes] == ["native", "graph"]  # TD3 has no native form
    assert computes[0].processor == "x86-64-v3"
    assert graph[0].digest != native[0].digest
    assert graph[1].digest == native[1].digest
