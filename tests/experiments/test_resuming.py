"""A job that is interrupted gives the rows of one that is not."""

import math

import pytest
import torch

from lff.core.errors import CorruptError
from lff.experiments.jobs import resuming
from lff.experiments.jobs.resuming import Resumable
from lff.launch.job import JobRow
from lff.nn import MLPTrunk, NetConfig
from lff.store import RunLock, load_latest
from lff.tabular.learner import Learner

NET = NetConfig(trunk=MLPTrunk(hidden=(8,)))


def make():
    return Learner(NET, in_features=1, out_features=1, seeds=range(2), lr=1e-2)


def work(kept, learner, until):
    while kept.step < until:
        x = torch.stack([torch.randn(4, 1, generator=learner.draws[s]) for s in learner.seeds])
        losses = learner.update(x, (x.sin(),), {})
        kept.rows += [
            JobRow(s, kept.step, "loss", v)
            for s, v in zip(learner.seeds, losses.tolist(), strict=True)
        ]
        kept.at(kept.step + 1)


def test_a_second_process_goes_on_from_the_checkpoint(tmp_path, monkeypatch):
    learner = make()
    whole = Resumable(tmp_path / "whole", learner)
    work(whole, learner, 20)
    with RunLock(tmp_path):
        monkeypatch.setattr(resuming, "EVERY", 0.0)
        learner = make()
        kept = Resumable(tmp_path, learner)
        work(kept, learner, 13)
        monkeypatch.setattr(resuming, "EVERY", math.inf)  # what follows is lost
        work(kept, learner, 15)
        learner = make()
        again = Resumable(tmp_path, learner)
        assert again.step == 13
        assert again.rows == kept.rows[:26]
        work(again, learner, 20)
        assert again.rows == whole.rows
        assert again.finish() == whole.rows
        assert load_latest(tmp_path) is None
        assert not list(tmp_path.glob("checkpoints*"))


def test_rows_keep_every_bit_and_what_is_no_number(tmp_path):
    values = [0.1 + 0.2, math.inf, -math.inf, 5e-324, math.nan]
    rows = [JobRow(i, 10 * i, f"metric {i % 2}", value) for i, value in enumerate(values)]
    with RunLock(tmp_path):
        kept = Resumable(tmp_path, make())
        kept.rows += rows
        kept.at(7)
        kept.save()
        found = Resumable(tmp_path, make())
    assert found.step == 7
    assert found.rows[:-1] == rows[:-1]
    assert found.rows[-1][:-1] == rows[-1][:-1]
    assert math.isnan(found.rows[-1].value)


def test_a_checkpoint_without_rows_yet(tmp_path):
    with RunLock(tmp_path):
        Resumable(tmp_path, make()).save()
        assert Resumable(tmp_path, make()).rows == []


def test_the_state_of_another_network_is_refused(tmp_path):
    with RunLock(tmp_path):
        Resumable(tmp_path, make()).save()
        wide = NetConfig(trunk=MLPTrunk(hidden=(8, 8)))
        other = Learner(wide, in_features=1, out_features=1, seeds=range(2), lr=1e-2)
        with pytest.raises(CorruptError, match="another version of this job"):
            Resumable(tmp_path, other)
