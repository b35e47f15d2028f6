"""``lff train td3``, as a user starts it."""

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
TRAIN = ("train", "td3", "--env", "probe/action", "--fourier-dim", "16", *SHORT, *LOOK)


@pytest.mark.parametrize("net", ["lff", "mlp"])
def test_train_show_rerun_resume_play_audit_export(net, cli, tmp_path):
    words = (*TRAIN, "--net", net, "--dir", "run")
    done = cli(*words)
    assert done.code == 0, done.err
    shown = cli("show", "run").out
    assert "train/q_mean" in shown
    assert ("matched-mlp" in shown) == (net == "mlp")
    assert cli(*words).code == 0  # does nothing
    again = cli("rerun", "run", "--dir", "again")  # byte for byte
    assert again.code == 0, again.out
    longer = cli("resume", "run", "--steps", "320")
    assert longer.code == 0, longer.err
    rows = [row["env_step"] for row in read_rows(tmp_path / "run" / "metrics.jsonl")]
    assert rows == sorted(rows)
    assert rows[-1] == 320
    assert "return" in cli("play", "run", "--episodes", "2").out
    audited = cli("audit", "run")
    if net == "lff":
        assert audited.code == 0, audited.err
        assert "6 Fourier layer(s)" in audited.out
    exported = cli("export", "run", "--out", "policy.pt2")
    assert exported.code == 0, exported.err
    agent, obs = load(tmp_path / "run").agent, torch.rand(7, 1) * 2 - 1
    actions = torch.export.load("policy.pt2").module()(obs)
    np.testing.assert_allclose(actions.detach(), agent.act(obs), atol=1e-6)
    assert cli("compare", "run", "again").code == 0


def test_every_field_is_a_flag(cli, tmp_path):
    own = ("--actor-period", "3", "--exploration", "0.2", "--smoothing", "0.3")
    own += ("--smoothing-clip", "0.4", "--target", "none", "--critic-net", "mlp")
    own += ("--with", "layer-norm")
    done = cli(*TRAIN, *own, "--dir", "run")
    assert done.code == 0, done.err
    algo = json.loads((tmp_path / "run" / "config.json").read_text())["algo"]
    assert algo["type"] == "td3"
    assert (algo["actor_period"], algo["exploration"]) == (3, 0.2)
    assert (algo["smoothing"], algo["smoothing_clip"]) == (0.3, 0.4)
    assert algo["target"]["type"] == "none"


def test_every_logged_metric_is_documented(cli, tmp_path):
    assert cli(*TRAIN, "--dir", "run").code == 0
    names = {name for row in read_rows(tmp_path / "run" / "metrics.jsonl") for name in row}
    text = (ROOT / "docs" / "metrics.md").read_text()
    assert names <= set(re.findall(r"^\| `([^`]+)`", text, re.MULTILINE))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--smoothing", "-1"), "smoothing must be"),
        (("--with", "functional:kappa=1"), "for SAC"),
        (("--env", "dmc-pixels/cheetah-run"), "vector"),
    ],
)
def test_bad_input_is_a_line_and_exit_code_2(words, says, cli, tmp_path):
    done = cli(*TRAIN, "--dir", "x", *words)
    assert done.code == 2
    assert says in done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "x").exists()
