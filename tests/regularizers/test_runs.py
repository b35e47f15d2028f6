"""Whole runs with every regularizer: resumed bit for bit, and unchanged by evaluation."""

import signal

import pytest

from lff.algos import SACConfig
from lff.core.errors import InterruptedRunError
from lff.regularizers import (
    BasisRule,
    Dropout,
    FunctionalRegularization,
    LayerNorm,
    SpectralNorm,
    WeightDecay,
)
from lff.store import load_latest
from lff.training import train
from lff.training.loop import to_tensors
from tests.regularizers.agents import same
from tests.training.runs import NET, small

ALL = (
    WeightDecay(coefficient=1e-3),
    BasisRule(lr=1e-3, anchor=0.1),
    Dropout(p=0.2, when_acting=True),
    FunctionalRegularization(lag=7),
    SpectralNorm(where="both"),
    LayerNorm(),
)


def config(**options):
    algo = SACConfig(actor=NET, critic=NET, batch_size=16, regularizers=ALL, normalize_obs=True)
    schedule = {"steps": 240, "eval_every": 120, "checkpoint_every": 240}
    return small("probe/observation-action", algo=algo, **(schedule | options))


def test_interrupted_and_resumed_equals_uninterrupted(tmp_path):
    def stop(run, event):
        if event == "step" and run.progress.env_step == 173:
            signal.raise_signal(signal.SIGTERM)

    whole, parts = tmp_path / "whole", tmp_path / "parts"
    train(config(), directory=whole)
    with pytest.raises(InterruptedRunError):
        train(config(), directory=parts, watch=stop)
    train(config(), directory=parts)
    assert same(*(to_tensors(load_latest(run).arrays) for run in (whole, parts)))
    assert (whole / "metrics.jsonl").read_bytes() == (parts / "metrics.jsonl").read_bytes()
    counted = load_latest(whole).arrays["agent/norm/count"].item()
    assert counted == 240


def test_dropping_in_evaluation_never_changes_training(tmp_path):
    for name, every in (("rare", 240), ("often", 20)):
        train(config(eval_every=every), directory=tmp_path / name)
    one, other = (to_tensors(load_latest(tmp_path / name).arrays) for name in ("rare", "often"))
    assert same(one, other)
