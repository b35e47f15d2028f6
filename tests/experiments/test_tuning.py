import math

import pytest

from lff.core.config import digest
from lff.core.errors import BadInputError, RunError
from lff.experiments.tuning import Space, Trial, score, tune
from lff.launch.job import JobRow
from lff.launch.local import Task
from lff.launch.records import table_bytes
from tests.experiments.small import small_train_job

SPACE = Space(sigma=(1e-3, 1.0), fourier_dim=None, lr=(1e-4, 1e-3))


def make_job(fields):
    """σ is hidden in the number of steps: the double below must find it again."""
    return small_train_job(steps=round(1e6 * fields["sigma"]))


def launcher(root, runs):
    """A double: the return is best at σ = 0.03, and the seed shifts it."""

    def launch(jobs):
        for job in jobs:
            runs.append(digest(job))
            folder = root / "jobs" / digest(job)
            folder.mkdir(parents=True, exist_ok=True)
            value = -abs(math.log10(job.config.steps / 1e6 / 0.03)) + 0.01 * job.config.seed
            rows = [JobRow(job.config.seed, 1, "eval/return", value)]
            (folder / "table.csv").write_bytes(table_bytes(rows))
        return [Task(digest(job), job, state="done") for job in jobs]

    return launch


def search(root, runs, **options):
    settings = {"trials": 30, "seeds": 3, "batch": 1, **options}
    return tune(make_job, SPACE, launcher(root, runs), root=root, **settings)


def test_the_search_comes_near_the_best_setting(tmp_path):
    runs = []
    found = search(tmp_path, runs)
    assert len(found) == 30
    assert len(runs) == 90
    assert found[0].score == max(trial.score for trial in found)
    assert abs(math.log10(found[0].fields["sigma"] / 0.03)) < 0.1
    assert found[0].scores[2] - found[0].scores[0] == pytest.approx(0.02)


def test_the_same_search_asks_the_same(tmp_path):
    first, second = [], []
    assert search(tmp_path, first) == search(tmp_path, second)
    assert first == second
    third = []
    search(tmp_path, third, seed=1)
    assert third != first


def test_failed_jobs_stop_the_search_and_name_a_log(tmp_path):
    def launch(jobs):
        return [Task(digest(job), job, state="failed", code=1) for job in jobs]

    with pytest.raises(RunError, match=r"3 of 3 jobs failed; look at .*log\.txt"):
        tune(make_job, SPACE, launch, root=tmp_path, trials=2, seeds=3, batch=1)


def test_the_score_is_the_mean_of_the_finite_returns(tmp_path):
    rows = [JobRow(0, step, "eval/return", v) for step, v in ((1, 2.0), (2, 4.0), (3, math.nan))]
    (tmp_path / "table.csv").write_bytes(table_bytes([*rows, JobRow(0, 1, "other", 99.0)]))
    assert score(tmp_path) == 3.0


def test_an_mlp_has_a_learning_rate_alone():
    class Fake:
        def suggest_float(self, name, low, high, log):
            assert (name, low, high, log) == ("lr", 1e-4, 1e-3, True)
            return 0.000123456

    assert Space(sigma=None, fourier_dim=None).draw(Fake()) == {"lr": 0.000123}


def test_ranges_are_checked():
    with pytest.raises(BadInputError, match="smaller one first"):
        Space(sigma=(1.0, 0.1))
    assert Trial({}, (1.0, 2.0, 3.0)).interval.startswith("2 [")
