import math
from dataclasses import replace

import pytest
import torch

from lff.core.seeding import stream_seed
from lff.experiments.jobs.after_training import (
    NoiseTestJob,
    ReplayKernelJob,
    SelfExcitationJob,
)
from lff.experiments.jobs.training import TrainJob
from lff.launch.job import DIVERGED, JobRow
from lff.runs.load import last_transitions, load, replay_sample
from lff.runs.spectra import first_critic, look, untrained
from lff.training import train
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


def test_self_excitation_is_that_of_the_longer_run_and_an_eigenvalue_by_hand(tmp_path):
    """A run that stops after 10 updates is the first part of a longer one."""
    job = SelfExcitationJob(JOB, updates=(10,), points=16)
    (row,) = rows_of(job, tmp_path)
    warmup = JOB.config.algo.warmup_steps
    assert (row.step, row.metric) == (warmup + 10, "kernel/self_excitation")
    assert [row] == rows_of(job, tmp_path)  # from the finished run
    schedule = replace(JOB.config.schedule, checkpoint_every=warmup + 10)
    train(replace(JOB.config, steps=warmup + 15, schedule=schedule), directory=tmp_path / "longer")
    policy, same = load(tmp_path / "run-10"), load(tmp_path / "longer", checkpoint=warmup + 10)
    theirs = same.agent.state()
    assert all(torch.equal(x, theirs[name]) for name, x in policy.agent.state().items())

    batch, agent = last_transitions(policy, 10_000), policy.agent
    assert len(batch.reward) == warmup + 10
    stream = torch.Generator().manual_seed(stream_seed(policy.config.seed, "self-excitation"))
    index = torch.randint(warmup + 10, (16,), generator=stream)
    critic = first_critic(agent).requires_grad_()

    def gradients(obs, action):
        found = []
        for point in torch.cat((obs, action), dim=-1).double():
            critic.zero_grad()
            critic(point[None]).sum().backward()
            found.append(torch.cat([p.grad.flatten() for p in critic.parameters()]))
        return torch.stack(found)

    X = gradients(batch.obs[index], batch.action[index])
    Y = gradients(batch.next_obs[index], agent.act(batch.next_obs[index]))
    A = agent.config.gamma * (~batch.terminated[index])[:, None] * (Y @ X.T) - X @ X.T
    expected = torch.linalg.eigvals(A).real.max() / torch.linalg.eigvalsh(X @ X.T).max()
    assert row.value == pytest.approx(expected.item(), rel=1e-8)
