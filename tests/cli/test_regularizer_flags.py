"""The flags that regularize, as configs and as a user starts them."""

import json

import pytest

from lff.algos import SACConfig
from lff.cli.regularizer_flags import RegularizerFlags
from lff.core import BadInputError
from lff.nn import MLPTrunk, NetConfig
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
    *("--weight-decay", "1e-4", "--decay-kind", "decoupled", "--b-lr", "1e-3", "--b-anchor", "0.5"),
    *(
        "--dropout",
        "0.05",
        "--dropout-when-acting",
        "--functional",
        "0.5",
        "--functional-lag",
        "50",
    ),
    *("--spectral-norm", "--layer-norm", "--normalize-obs"),
)


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({}, ()),
        ({"weight_decay": 1e-4}, (WeightDecay(coefficient=1e-4),)),
        (
            {"weight_decay": 1e-3, "decay_kind": "l1", "regularize": "actor"},
            (WeightDecay(coefficient=1e-3, kind="l1", where="actor"),),
        ),
        ({"b_lr": 1e-5}, (BasisRule(lr=1e-5),)),
        ({"b_decay": 0.1, "b_anchor": 2.0}, (BasisRule(decay=0.1, anchor=2.0),)),
        ({"dropout": 0.2, "dropout_in_targets": False}, (Dropout(p=0.2, in_targets=False),)),
        ({"functional": 5.0}, (FunctionalRegularization(kappa=5.0),)),
        ({"spectral_norm": True, "layer_norm": True}, (SpectralNorm(), LayerNorm())),
        ({"spectral_norm": True, "regularize": "both"}, (SpectralNorm(where="both"),)),
    ],
    ids=str,
)
def test_flags_stand_for_configs(flags, expected):
    assert RegularizerFlags(**flags).configs() == expected


@pytest.mark.parametrize(
    "flags",
    [
        {"decay_kind": "l1"},
        {"decay_biases": False, "b_decay": 0.1},
        {"dropout_when_acting": True},
        {"functional_lag": 5},
        {"regularize": "actor"},
    ],
    ids=str,
)
def test_a_flag_that_would_do_nothing_is_refused(flags):
    config = SACConfig(actor=NetConfig(trunk=MLPTrunk((4,))), critic=NetConfig())
    name = "--" + next(iter(flags)).replace("_", "-")
    with pytest.raises(BadInputError, match=f"{name} must be used with"):
        RegularizerFlags(**flags).add_to(config)


def test_everything_together_trains(tmp_path, cli):
    done = cli(*TRAIN, *EVERYTHING, "--dir", "run")
    assert done.code == 0, done.err
    (said,) = (line for line in done.out.splitlines() if "Dropout" in line)
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
        (("--dropout", "1.5"), "p must be in (0, 1)"),
        (("--weight-decay", "-1"), "coefficient must be"),
        (("--functional", "1", "--target", "none"), "target must be left as it is"),
        (("--decay-kind", "l1"), "--decay-kind must be used with"),
        (("--net", "mlp", "--b-lr", "0.1"), "--b-lr must be used with a network that trains"),
        (("--net", "fixed-b", "--b-anchor", "1"), "--b-anchor must be used with"),
    ],
    ids=["dropout", "decay", "functional", "idle", "no basis", "fixed basis"],
)
def test_bad_flags_are_a_line_and_exit_code_2(words, says, tmp_path, cli):
    done = cli(*TRAIN, *words, "--dir", "x")
    assert done.code == 2
    assert says in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())
