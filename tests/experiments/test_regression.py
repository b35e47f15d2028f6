"""Fits of surfaces: what is fitted, that it is filtered, and that a kill changes no bit."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import torch

from lff.core.config import to_dict
from lff.core.errors import BadInputError
from lff.experiments import find_experiment
from lff.experiments.jobs.regression import FitJob, SurfaceJob, smooth_noise, surface
from lff.launch.job import job_from_dict
from lff.launch.worker import run_job
from lff.nn import Fourier, MLPTrunk, NetConfig
from lff.regularizers import Dropout, WeightDecay
from lff.stats import Row
from lff.stats.fields import FIELDS, read_fields
from lff.tabular import lava_grid, solve

NET = NetConfig(Fourier(fourier_dim=16, sigma=0.1), MLPTrunk(hidden=(16, 16)))
SMALL = SurfaceJob(net=NET, size=16, steps=60, batch=32, every=5, seeds=2)
PROGRAM = """
import json, sys
from pathlib import Path
import lff.experiments.jobs.resuming
lff.experiments.jobs.resuming.EVERY = 0.0
from lff.launch.worker import run_job
sys.exit(run_job(json.loads(sys.argv[1]), Path(sys.argv[2])))
"""


def start(job, folder):
    command = [sys.executable, "-c", PROGRAM, json.dumps(to_dict(job)), str(folder)]
    return subprocess.Popen(command, env=os.environ | {"OMP_NUM_THREADS": "1"})


def quiet(*_):
    pass


def test_a_killed_fit_gives_the_same_bytes(tmp_path):
    # dropout: its masks come from the same streams as the batches
    nets = {"net": NET, "regularizers": (Dropout(p=0.1),), "surface": "maze"}
    job = SurfaceJob(**nets, size=16, steps=120, batch=32, every=2, seeds=2)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    first = start(job, killed)
    end = time.monotonic() + 60
    while not list(killed.glob("checkpoints/step-*")) and time.monotonic() < end:
        time.sleep(0.01)
    first.send_signal(signal.SIGKILL)
    assert first.wait() == -signal.SIGKILL
    assert not (killed / "table.csv").exists()
    assert list(killed.glob("checkpoints/step-*")), "killed after a checkpoint"
    for folder in (killed, whole):
        assert run_job(to_dict(job), folder) == 0
    for name in ("table.csv", FIELDS):
        assert (killed / name).read_bytes() == (whole / name).read_bytes()
    assert not (killed / "checkpoints").exists()


def test_the_ridge_and_the_maze():
    inputs, ridge = surface("ridge", 64)
    place = 20 * 64 + 41
    s, a = 2 * 20 / 63 - 1, 2 * 41 / 63 - 1
    np.testing.assert_allclose(inputs[place], (s, a), rtol=1e-6)
    assert ridge[place].item() == pytest.approx(
        0.5 * np.exp(-(((a - 0.6 + 1.2 * s * s) / 0.35) ** 2)), rel=1e-5
    )
    inputs, maze = surface("maze", 64)
    assert maze.shape == (4096, 5)
    assert maze.std().item() == pytest.approx(ridge.std().item(), rel=1e-5)
    Q = solve(lava_grid(64, seed=0).mdp(lava="burns"))
    assert np.corrcoef(Q.ravel(), maze.numpy().ravel())[0, 1] == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(inputs[[0, -1]], ((-1, -1), (1, 1)))


@pytest.mark.parametrize("length", [0.0, 2.0, 4.0, 12.0])
def test_noise_is_correlated_to_one_over_e_at_its_length(length):
    noise = smooth_noise(range(12), 2, 64, length=length).reshape(12, 64, 64, 2)
    np.testing.assert_allclose(noise.std(dim=(1, 2), correction=0), 1, rtol=1e-5)
    lag = int(length) or 1
    found = (noise * noise.roll(lag, 1)).mean().item()
    expected = np.exp(-1) if length else 0.0
    assert found == pytest.approx(expected, abs=0.12 if length == 12 else 0.04)


def test_a_seed_has_the_same_noise_whoever_trains_beside_it():
    alone = smooth_noise([3], 1, 16, length=2.0)
    assert torch.equal(smooth_noise(range(5), 1, 16, length=2.0)[3], alone[0])


def test_rows_are_errors_of_every_seed_at_every_look(tmp_path):
    rows = SMALL.run(tmp_path, quiet)
    looks = sorted({row.step for row in rows})
    assert looks == list(range(0, 61, 5))
    assert len(rows) == 2 * 2 * len(looks)
    _, truth = surface("ridge", 16)
    fitted = next(f for f in read_fields(tmp_path / FIELDS) if not f.name)
    told = next(r.value for r in rows if r[:3] == (0, 60, "error to truth"))
    error = np.mean((fitted.values.ravel() - truth.numpy().ravel()) ** 2)
    assert told == pytest.approx(error, rel=1e-3)
    names = [f.name for f in read_fields(tmp_path / FIELDS)]
    assert names == ["true Q", "noisy targets", ""]
    (targets,) = (f.values for f in read_fields(tmp_path / FIELDS) if f.name == "noisy targets")
    assert np.std(targets.ravel() - truth.numpy().ravel()) == pytest.approx(0.25, rel=1e-3)


def test_seeds_are_as_if_alone(tmp_path):
    both = {r[:3]: r.value for r in SMALL.run(tmp_path / "2", quiet)}
    one = SurfaceJob(net=NET, size=16, steps=60, batch=32, every=5, seeds=1)
    for row in one.run(tmp_path / "1", quiet):
        assert both[row[:3]] == pytest.approx(row.value, rel=1e-4)


def test_weight_decay_reaches_the_fit(tmp_path):
    held = SurfaceJob(
        net=NET, size=16, steps=60, batch=32, every=5, seeds=2, regularizers=(WeightDecay(),)
    )
    assert job_from_dict(to_dict(held)) == held
    assert list(held.run(tmp_path / "a", quiet)) != list(SMALL.run(tmp_path / "b", quiet))


def test_figure_2_is_judged_by_the_last_step_and_by_the_best():
    rows = []
    for step, mlp, lff in ((10, 1.0, 2.0), (20, 3.0, 2.1)):
        for seed in range(5):
            for variant, error in (("MLP", mlp + seed / 1e3), ("LFF σ=0.01", lff - seed / 1e3)):
                place = ("fig2", variant, "ridge, 4.5 cells", seed, step, "error to true Q")
                rows.append(Row(*place, error))
    rows += [row._replace(variant="linear control") for row in rows if row.variant != "MLP"]
    found = {claim.name: claim.judge(rows).outcome for claim in find_experiment("fig2").claims}
    assert found["C-2a"] == "supported here"
    assert found["C-2c"] == "contradicted here"
    assert found["C-2e"] == "supported here"
    assert found["C-2k"] == "contradicted here"
    assert found["C-2i"] == "not run"


@pytest.mark.parametrize(
    "wrong", [{"surface": "cliff"}, {"noise": -1.0}, {"steps": 0}, {"seeds": 0}, {"batch": 0}]
)
def test_bad_input_is_refused(wrong):
    with pytest.raises(BadInputError):
        SurfaceJob(net=NET, **wrong)


def test_fault_12_noise_and_basis_are_drawn_from_streams_of_their_own():
    """They once came from equal generators: the noise was the first numbers of B over σ."""
    x = torch.linspace(-1, 1, 16)[:, None]
    job = FitJob(net=NetConfig(Fourier(fourier_dim=32, sigma=1.0), MLPTrunk((8,))), seeds=3)
    targets, nets = job.draw(x)
    noise = ((targets - (torch.pi * x).sin()) / job.noise)[..., 0]
    basis = nets.get_parameter("stacked.front.B").detach()[..., 0]
    assert noise.shape == basis.shape == (3, 16)
    for i in range(3):
        for j in range(3):
            assert not torch.isclose(noise[i], basis[j], atol=1e-5).any()
    fewer, _ = FitJob(net=job.net, seeds=2).draw(x)
    assert torch.equal(fewer, targets[:2]), "a seed's draws do not depend on how many there are"
