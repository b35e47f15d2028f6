import math

import pytest
import torch

from lff.experiments.jobs.after_training import NoiseTestJob, ReplayKernelJob
from lff.experiments.jobs.training import TrainJob
from lff.launch.job import DIVERGED, JobRow
from lff.runs.load import load, replay_sample
from lff.runs.spectra import first_critic, look, untrained
from tests.experiments.small import small_train_job

JOB = small_train_job(env="dmc/cartpole-swingup", steps=200)


def rows_of(job, folder):
    return list(job.run(folder, lambda *_: None))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("job")
    rows_of(JOB, place)
    return place


def test_play_under_noise_is_measured_at_every_strength(folder):
    rows = rows_of(NoiseTestJob(JOB, noises=(0.0, 0.3), episodes=1), folder)
    found = {row.metric: row for row in rows if row.metric.startswith("return at")}
    assert list(found) == ["return at noise 0", "return at noise 0.3"]
    assert all(row.step == 200 and math.isfinite(row.value) for row in found.values())
    assert rows == rows_of(NoiseTestJob(JOB, noises=(0.0, 0.3), episodes=1), folder)


def test_kernels_before_and_after_are_those_of_lff_spectrum(folder):
    rows = rows_of(ReplayKernelJob(JOB, points=32), folder)
    tails = {row.step: row.value for row in rows if row.metric == "kernel/tail"}
    policy = load(folder / "run")
    x = torch.cat(replay_sample(policy, 32), dim=-1).double()
    agents = {0: untrained(policy.agent, 0), 200: policy.agent}
    assert tails == {step: look(step, first_critic(a), x).tail for step, a in agents.items()}


@pytest.mark.parametrize("job", [NoiseTestJob(JOB), ReplayKernelJob(JOB)])
def test_an_agent_that_left_the_finite_numbers_is_asked_nothing(job, tmp_path, monkeypatch):
    broken = [JobRow(0, 0, DIVERGED, 1.0)]  # before its first checkpoint: there is no run to load
    monkeypatch.setattr(TrainJob, "run", lambda *_: broken)
    assert rows_of(job, tmp_path) == broken
