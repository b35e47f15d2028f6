"""``lff train crossq``, and SAC with SimBa's trunk, as a user starts them."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from lff.runs.load import load
from lff.store import read_rows

ROOT = Path(__file__).parents[2]
SHORT = ("--steps", "240", "--warmup-steps", "60", "--batch-size", "16", "--hidden-dim", "16")
LOOK = ("--eval-episodes", "1", "--log-every", "60", "--reference-episodes", "1")
COMMON = ("--env", "probe/action", "--fourier-dim", "16", *SHORT, *LOOK)
CROSSQ = ("train", "crossq", *COMMON)
SIMBA = ("--actor-net", "simba-1", "--critic-net", "simba", "--normalize-obs")


@pytest.mark.parametrize(
    ("words", "shows"),
    [
        ((*CROSSQ, "--net", "mlp-2"), "crossq"),
        ((*CROSSQ, "--net", "lff"), "3 Fourier layer(s)"),
        (("train", "sac", *COMMON, *SIMBA), "matched-simba"),
    ],
    ids=["mlp-2", "lff", "simba"],
)
def test_train_show_rerun_resume_play_audit_export(words, shows, cli, tmp_path):
    words = (*words, "--dir", "run")
    done = cli(*words)
    assert done.code == 0, done.err
    assert "train/q_mean" in cli("show", "run").out
    assert cli(*words).code == 0  # does nothing
    again = cli("rerun", "run", "--dir", "again")  # byte for byte
    assert again.code == 0, again.out
    longer = cli("resume", "run", "--steps", "320")
    assert longer.code == 0, longer.err
    rows = list(read_rows(tmp_path / "run" / "metrics.jsonl"))
    assert rows[-1]["env_step"] == 320
    text = (ROOT / "docs" / "metrics.md").read_text()
    assert {n for row in rows for n in row} <= {*re.findall(r"^\| `([^`]+)`", text, re.MULTILINE)}
    assert "return" in cli("play", "run", "--episodes", "2").out
    audited = cli("audit", "run")
    assert shows in audited.out + (tmp_path / "run" / "config.json").read_text()
    exported = cli("export", "run", "--out", "policy.pt2")
    assert exported.code == 0, exported.err
    agent, obs = load(tmp_path / "run").agent, torch.rand(7, 1) * 2 - 1
    actions = torch.export.load("policy.pt2").module()(obs)
    np.testing.assert_allclose(actions.detach(), agent.act(obs), atol=1e-6)
    assert cli("compare", "run", "again").code == 0


def test_every_field_is_a_flag(cli, tmp_path):
    own = ("--actor-period", "2", "--momentum", "0.9", "--beta1", "0.8", "--with", "layer-norm")
    done = cli(*CROSSQ, *own, "--net", "mlp", "--dir", "run")
    assert done.code == 0, done.err
    algo = json.loads((tmp_path / "run" / "config.json").read_text())["algo"]
    assert (algo["type"], algo["target"]["type"]) == ("crossq", "none")
    assert (algo["actor_period"], algo["momentum"], algo["beta1"]) == (2, 0.9, 0.8)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--target", "polyak"), "target must be none for CrossQ"),
        (("--with", "dropout"), "regularizers must be without dropout"),
        (("--net", "simba"), "nonlinearities of the trunk must be"),
        (("--compile", "native"), "covered by the native update, got 'an agent of type CrossQ'"),
        (("--env", "dmc-pixels/cheetah-run"), "vector"),
    ],
)
def test_bad_input_is_a_line_and_exit_code_2(words, says, cli, tmp_path):
    done = cli(*CROSSQ, "--dir", "x", *words)
    assert done.code == 2, done.err
    assert says in done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "x").exists()
