"""Each stress tells a network that is known to be bad from one that is known to be good.

Five seeds, at reduced size; the intervals do not overlap.
"""

import functools

import pytest

from lff.experiments.jobs.stress_fits import StressFitJob, StressFQIJob
from lff.experiments.jobs.stress_sac import StressCostJob, StressSACJob
from lff.experiments.stress import plan
from lff.experiments.stress.networks import REFERENCES, as_subject, ours
from lff.experiments.stress.score import KINDS, curves_of
from lff.stats.tables import Row
from tests.experiments.stress import critics

SEEDS = 5
SCORES = {kind.key: kind for kind in KINDS}
SMALL_SAC = {"steps": 300, "warmup": 100, "evaluations": 1, "episodes": 1}
SMALL_FIT = {"size": 16, "batch": 64, "steps": 400, "every": 20}
SMALL_FQI = {"gradient_steps": (20,), "iterations": 6}


def measure(key, jobs, tmp_path):
    """Return a stress's number from the rows of these (task, job)."""
    rows = [
        Row("stress", "one", task, *row)
        for task, job in jobs
        for row in job.run(tmp_path, lambda *_: None)
    ]
    return SCORES[key].measure(curves_of(rows, "one"))


def own(network):
    subject = as_subject(network)
    return {"net": subject.net, "regularizers": subject.regularizers}


@functools.cache
def trained(network, lr, folder):
    jobs = [StressSACJob(**own(network), lr=lr, seed=seed, **SMALL_SAC) for seed in range(SEEDS)]
    return [row for job in jobs for row in job.run(folder, lambda *_: None)]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")

    def score(key, network, lr):
        rows = [Row("stress", "one", plan.FREE, *row) for row in trained(network, lr, folder)]
        return SCORES[key].measure(curves_of(rows, "one"))

    return score


def test_a_deep_mlp_with_a_large_rate_runs_away_and_layer_norm_does_not(runs):
    bad, good = runs("q", critics.deep, 3e-3), runs("q", critics.normed, 3e-4)
    assert good.high < bad.low
    assert good.high < 1 < bad.estimate  # above what rewards allow


def test_frozen_features_keep_their_rank_and_trained_ones_collapse(runs):
    bad, good = runs("rank", critics.deep, 3e-3), runs("rank", critics.frozen, 3e-4)
    assert good.high < bad.low
    assert good.values == (0.0,) * SEEDS  # the same features on the same points
    bad, good = runs("dormant", critics.deep, 3e-3), runs("dormant", critics.frozen, 3e-4)
    assert good.high < bad.low


def test_waves_of_large_sigma_fit_the_noise(tmp_path):
    def share(sigma):
        job = StressFitJob(**own(ours("lff", sigma=sigma)), seeds=SEEDS, **SMALL_FIT)
        return measure("noise", [(plan.FIT, job)], tmp_path)

    bad, good = share(3.0), share(0.01)
    assert good.high < bad.low
    assert bad.estimate > 50 > good.estimate


def test_waves_of_large_sigma_learn_fine_detail_at_once(tmp_path):
    def ratio(sigma):
        size = {"steps": 132, "warmup": 130, "evaluations": 1, "episodes": 1}
        net = own(ours("lff", sigma=sigma))
        jobs = [(plan.FREE, StressSACJob(**net, seed=seed, **size)) for seed in range(SEEDS)]
        return measure("frequency", jobs, tmp_path)

    bad, good = ratio(3.0), ratio(0.01)
    assert bad.high < good.low
    assert bad.estimate < 30 < 300 < good.estimate


def test_normalised_inputs_may_change_their_units(tmp_path):
    def factor(network):
        job = StressFitJob(**own(network), seeds=SEEDS, **SMALL_FIT)
        return measure("scale", [(plan.FIT, job)], tmp_path)

    bad, good = factor(critics.mlp), factor(critics.standardized)
    assert good.high < bad.low
    assert good.estimate < 2 < 5 < bad.estimate


def test_fitted_q_iteration_blows_up_with_a_large_rate(tmp_path):
    def rate(network):
        job = StressFQIJob(**own(network), seeds=SEEDS, **SMALL_FQI)
        return measure("blow-up", [(plan.FQI, job)], tmp_path)

    bad, good = rate(critics.loud), rate(critics.normed)
    assert good.high < bad.low
    assert good.values == (0.0,) * SEEDS


def test_a_network_four_times_as_wide_costs_more(tmp_path):
    def ratio(width):
        net = own(functools.partial(critics.mlp, width=width, depth=3))
        job = StressCostJob(**net, other=REFERENCES["MLP"].net, rounds=SEEDS, turns=3, updates=5)
        return measure("cost", [(plan.COST, job)], tmp_path)

    bad, good = ratio(512), ratio(128)
    assert good.high < bad.low
    assert good.estimate == pytest.approx(1.0, rel=0.25)
