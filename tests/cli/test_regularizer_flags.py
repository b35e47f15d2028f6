"""Regularizers on the command line, as configs and as a user starts them."""

import json

import pytest

from lff.algos import SACConfig
from lff.cli.train import LearningFlags, TrainFlags, flagged_config
from lff.regularizers import (
    BasisRule,
    Dropout,
    FunctionalRegularization,
    LayerNorm,
    SpectralNorm,
    WeightDecay,
)
from lff.store import read_rows
from tests.cli.test_cli import TRAIN

EVERYTHING = (
    "--with",
    "weight-decay:coefficient=1e-4,kind=decoupled",
    "basis:lr=1e-3,anchor=0.5",
    "dropout:p=0.05,when_acting=true",
    "functional:kappa=0.5,lag=50",
    "spectral-norm",
    "layer-norm",
    "--normalize-obs",
)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), ()),
        (("weight-decay:coefficient=1e-4",), (WeightDecay(coefficient=1e-4),)),
        (
            ("weight-decay:coefficient=1e-3,kind=l1,where=actor",),
            (WeightDecay(coefficient=1e-3, kind="l1", where="actor"),),
        ),
        (("basis:lr=1e-5",), (BasisRule(lr=1e-5),)),
        (("basis:decay=0.1,anchor=2",), (BasisRule(decay=0.1, anchor=2.0),)),
        (("dropout:p=0.2,in_targets=false",), (Dropout(p=0.2, in_targets=False),)),
        (("functional:kappa=5",), (FunctionalRegularization(kappa=5.0),)),
        (("spectral-norm", "layer-norm"), (SpectralNorm(), LayerNorm())),
        (("spectral-norm:where=both",), (SpectralNorm(where="both"),)),
    ],
    ids=str,
)
def test_words_stand_for_configs(words, expected, tmp_path):
    flags = TrainFlags(env="probe/action", dir=tmp_path, learning=LearningFlags(with_=words))
    assert flagged_config(SACConfig, flags).algo.regularizers == expected


def test_everything_together_trains(tmp_path, cli):
    done = cli(*TRAIN, *EVERYTHING, "--dir", "run")
    assert done.code == 0, done.err
    (said,) = (line for line in done.out.splitlines() if "ropout" in line)
    assert "p=0.05" in said
    assert "when_acting=True" in said
    algo = json.loads((tmp_path / "run" / "config.json").read_text())["algo"]
    assert len(algo["regularizers"]) == 6
    assert algo["normalize_obs"] is True
    rows = list(read_rows(tmp_path / "run" / "metrics.jsonl"))
    assert any(row.get("train/penalty") for row in rows)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--with", "dropout:p=1.5"), "p must be in (0, 1)"),
        (("--with", "weight-decay:coefficient=-1"), "coefficient must be"),
        (("--with", "functional", "--target", "none"), "target must be left as it is"),
        (("--with", "dropuot"), "did you mean dropout?"),
        (("--with", "dropout:q=1"), "fields of Dropout"),
        (("--with", "dropout:p=high"), "p must be a finite number"),
        (("--net", "mlp", "--with", "basis:lr=0.1"), "used with a network that trains"),
        (("--net", "fixed-b", "--with", "basis:anchor=1"), "used with a network that trains"),
        (("--with", "my_package.norms:Own"), "--trust my_package"),
    ],
)
def test_bad_words_are_a_line_and_exit_code_2(words, says, tmp_path, cli):
    done = cli(*TRAIN, *words, "--dir", "x")
    assert done.code == 2
    assert says in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())
