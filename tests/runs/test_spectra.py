import csv
import math

import pytest
import torch
from torch import nn

from lff.core.errors import BadInputError
from lff.runs.spectra import ALONG, HEAD, line_energy, look, read_spectra
from tests.experiments.small import small_train_job


class Waves(nn.Module):
    """sin(2πkx)."""

    def __init__(self, k):
        super().__init__()
        self.k = k

    def forward(self, x):
        return (2 * math.pi * self.k * x).sin()


@pytest.mark.parametrize("k", [1, 5])
def test_a_wave_has_its_energy_at_its_number(k):
    x = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
    energy = line_energy(Waves(k), x, lines=200)
    # half of the lines run from a point to itself: there is nothing on them
    assert energy[k - 1].item() == pytest.approx(energy.sum().item(), rel=1e-6)
    assert 0.3 < energy.sum().item() < 0.7
    assert len(energy) == (ALONG - 1) // 2


def test_a_straight_function_has_no_waves():
    x = torch.randn(30, 3, dtype=torch.float64)
    critic = nn.Linear(3, 1).double()
    seen = look(7, critic, x)
    assert seen.step == 7
    assert sum(seen.waves) == 0
    # the kernel of a linear model is x·x' + 1: rank 4
    gram = x @ x.T + 1
    expected = torch.linalg.eigvalsh(gram).flip(0)
    shares = torch.tensor(seen.shares, dtype=torch.float64)
    torch.testing.assert_close(shares[:4], (expected / expected.sum())[:4])
    assert seen.tail == pytest.approx(0, abs=1e-12)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("job")
    list(small_train_job(env="dmc/cartpole-swingup").run(folder, lambda *_: None))
    return folder / "run"


def test_a_run_before_and_after_training(run):
    found = read_spectra(run, points=64, lines=8)
    assert found[0].step == 0
    assert found[-1].step == 300
    assert found[0].shares != found[-1].shares
    for snap in found:
        assert sum(snap.shares) == pytest.approx(1)
        assert list(snap.shares) == sorted(snap.shares, reverse=True)
        assert snap.tail == pytest.approx(sum(snap.shares[HEAD:]))
        assert snap.high == pytest.approx(sum(snap.waves[3:]))


def test_the_start_is_the_agent_before_its_first_update(run):
    again = read_spectra(run, points=64, lines=8)
    assert again == read_spectra(run, points=64, lines=8)


def test_too_few_points_are_refused(run):
    with pytest.raises(BadInputError, match="more than 16"):
        read_spectra(run, points=16)


def test_the_command_writes_table_and_picture(run, tmp_path, monkeypatch, capsys):
    from lff.cli.spectrum import spectrum_command

    monkeypatch.chdir(tmp_path)
    spectrum_command((run,), points=32, lines=4)
    assert "beyond 16" in capsys.readouterr().out
    with (tmp_path / "runs/spectrum/spectrum.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["metric"] for row in rows} == {"tail", "frequency", "high", "eigenvalue", "waves"}
    assert (tmp_path / "runs/spectrum/spectrum.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(BadInputError, match="one or more"):
        spectrum_command(())
