"""Jobs of gridworlds: stopped and run again they give the same rows, and these are the truth's."""

from pathlib import Path

import numpy as np
import pytest

from lff import Fourier, MLPTrunk, NetConfig
from lff.core.config import to_dict
from lff.core.errors import BadInputError
from lff.experiments.jobs import resuming
from lff.experiments.jobs.gridworlds import FQIJob, MazeFitJob, maze
from lff.launch.job import job_from_dict
from lff.stats.fields import FIELDS, read_fields
from lff.tabular import FQIConfig, solve

NET = NetConfig(Fourier(fourier_dim=8, sigma=1.0), MLPTrunk((16, 16)))
JOBS = {
    "grid16": FQIJob(
        fqi=FQIConfig(net=NET, gradient_steps=3, batch_size=16), iterations=8, every=1, seeds=2
    ),
    "lava": FQIJob(
        fqi=FQIConfig(net=NET, gradient_steps=3, batch_size=16, data="full"),
        task="lava",
        size=10,
        iterations=4,
        every=2,
        seeds=2,
    ),
    "fit": MazeFitJob(net=NET, size=10, steps=12, batch=32, every=4, seeds=2),
}


def nothing(_share: float, _seen: str) -> None:
    """Say nothing."""


class StopNowError(Exception):
    """Stops a job from within."""


@pytest.mark.parametrize("name", JOBS)
def test_stopped_and_run_again_gives_the_same_rows(name, tmp_path, monkeypatch):
    monkeypatch.setattr(resuming, "EVERY", 0.0)
    job = JOBS[name]
    (tmp_path / "whole").mkdir()
    (tmp_path / "parts").mkdir()
    whole = list(job.run(tmp_path / "whole", nothing))
    stops = 0

    def stop(share: float, _seen: str) -> None:
        nonlocal stops
        if share > 0.3 * (stops + 1) and share < 1:
            stops += 1
            raise StopNowError

    rows = None
    for _ in range(5):
        try:
            rows = list(job.run(tmp_path / "parts", stop))
            break
        except StopNowError:
            continue
    assert stops >= 1
    assert rows == whole
    assert not (tmp_path / "parts" / "checkpoints").exists()


@pytest.mark.parametrize("name", JOBS)
def test_jobs_travel_as_json(name):
    job = JOBS[name]
    assert job_from_dict(to_dict(job)) == job


def test_rows_of_grid16_are_complete(tmp_path: Path):
    rows = list(JOBS["grid16"].run(tmp_path, nothing))
    looks = {(row.seed, row.step) for row in rows if row.metric == "mean Q"}
    assert looks == {(seed, step) for seed in range(2) for step in range(9)}
    ratio = {row.seed: row.value for row in rows if row.metric == "effective rank, end over start"}
    ranks = {
        (r.seed, r.step): r.value for r in rows if r.metric == "effective rank"
    }  # second fifth of eight: 2 and 3; last fifth: 7 and 8
    for seed in range(2):
        early = np.mean([ranks[seed, 2], ranks[seed, 3]])
        late = np.mean([ranks[seed, 7], ranks[seed, 8]])
        assert ratio[seed] == pytest.approx(late / early)


def test_a_fit_long_enough_finds_q_star_and_draws_it(tmp_path: Path):
    net = NetConfig(Fourier(fourier_dim=128, sigma=2.0), MLPTrunk((128, 128)))
    job = MazeFitJob(net=net, size=8, steps=400, batch=64, every=200, seeds=1)
    rows = list(job.run(tmp_path, nothing))
    error = [row.value for row in rows if row.metric == "error to Q*"]
    earned = [row.value for row in rows if row.metric == "return"]
    assert error[-1] < 0.02 * error[0]
    assert earned[-1] > 0.97
    fields = {one.name: one.values for one in read_fields(tmp_path / FIELDS)}
    task = maze(8, 0)
    wall = task.grid.at("#").reshape(8, 8)
    truth = np.where(wall, np.nan, solve(task.mdp).max(axis=-1).reshape(8, 8))
    np.testing.assert_allclose(fields["V*"], truth, atol=1e-3)
    assert np.nanmean(np.square(fields[""] - truth)) < 0.5
    assert np.isnan(fields["map"]).sum() == wall.sum()


def test_bad_numbers_are_refused():
    with pytest.raises(BadInputError, match="task must be"):
        FQIJob(fqi=FQIConfig(), task="chess")
    with pytest.raises(BadInputError, match="iterations"):
        FQIJob(fqi=FQIConfig(), iterations=0)
    with pytest.raises(BadInputError, match="steps"):
        MazeFitJob(net=NET, steps=0)
