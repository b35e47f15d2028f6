"""``lff train ppo`` and PPO's presets, as a user starts them."""

import json
import re
from pathlib import Path

import pytest

from lff.nn import num_parameters
from lff.store import read_rows
from lff.training import worth_compiling
from lff.training.presets import SOURCES, preset
from tests.training.runs import small_ppo

ROOT = Path(__file__).parents[2]
SHORT = ("--steps", "240", "--rollout-steps", "80", "--batch-size", "40", "--epochs", "2")
LOOK = ("--eval-episodes", "1", "--log-every", "80", "--reference-episodes", "1")
TRAIN = ("train", "ppo", "--env", "probe/action", *SHORT, *LOOK)


def test_train_show_resume_play_audit_rerun(cli, tmp_path):
    done = cli(*TRAIN, "--num-envs", "2", "--dir", "run")
    assert done.code == 0, done.err
    assert "observations normalised" in done.out
    assert "train/explained_variance" in cli("show", "run").out
    assert cli(*TRAIN, "--num-envs", "2", "--dir", "run").code == 0  # does nothing
    longer = cli("resume", "run", "--steps", "320")
    assert longer.code == 0, longer.err
    rows = [row["env_step"] for row in read_rows(tmp_path / "run" / "metrics.jsonl")]
    assert rows == sorted(rows)
    assert rows[-1] == 320
    assert "return" in cli("play", "run", "--episodes", "2").out
    assert "2 Fourier layer(s)" in cli("audit", "run").out
    again = cli("rerun", "run", "--dir", "again", "--seed", "1")
    assert again.code == 0, again.err
    assert cli("compare", "run", "again").code == 0


def test_every_logged_metric_is_documented(cli, tmp_path):
    assert cli(*TRAIN, "--dir", "run").code == 0
    names = {name for row in read_rows(tmp_path / "run" / "metrics.jsonl") for name in row}
    texts = [(ROOT / "docs" / f"{page}.md").read_text() for page in ("metrics", "ppo")]
    common, own = (set(re.findall(r"^\| `([^`]+)`", text, re.MULTILINE)) for text in texts)
    assert names <= common | own
    assert {name for name in own if "/" in name} <= names


def test_networks_are_chosen_apart(cli):
    options = ("--net", "mlp", "--critic-net", "lff", "--critic-sigma", "0.2")
    options += ("--with", "layer-norm")
    assert cli(*TRAIN, *options, "--dir", "run").code == 0
    shown = cli("show", "run").out
    assert "actor  identity()" in shown
    assert re.search(r"critic fourier\(.*sigma=0.2", shown)
    assert "layer-norm" in shown


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--num-envs", "7"), "a divisor of 80"),
        (("--clip", "0"), "clip must be"),
        (("--batch-size", "100"), "at most a rollout"),
        (("--with", "basis:lr=0.1", "--net", "mlp"), "used with a network that trains its B"),
        (("--env", "dmc-pixels/cheetah-run"), "for images"),
        (("--env", "gym/CartPole-v1"), "bounded"),
    ],
)
def test_bad_input_is_a_line_and_exit_code_2(words, says, cli, tmp_path):
    done = cli(*TRAIN, "--dir", "x", *words)
    assert done.code == 2
    assert says in done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "x").exists()


def test_the_algorithm_comes_first(cli):
    done = cli("train", "--env", "probe/action", "--dir", "x", "ppo")
    assert done.code == 2
    assert "the first word: sac, sac-pixels, ppo" in done.err


def test_presets_print_what_differs(cli):
    words = ("presets", "diff", "paper-table", "authors-readme", "--algo", "ppo", "--json")
    rows = json.loads(cli(*words, "--env", "gym/HalfCheetah-v5").out)
    assert rows["sigma"] == {"paper-table": 0.1, "authors-readme": 0.01}
    assert rows["actor_net"] == {"paper-table": None, "authors-readme": "mlp"}
    assert rows["layers"] == {"paper-table": 2, "authors-readme": 3}
    # the authors' LFF is larger than its MLP, the paper's as large
    table, readme = (
        {n: rows[f"critic {n} parameters"][name] for n in ("lff", "mlp")}
        for name in ("paper-table", "authors-readme")
    )
    assert readme["lff"] > 1.1 * readme["mlp"]
    assert table["lff"] == pytest.approx(table["mlp"], rel=5e-3)
    words = ("presets", "diff", "paper-table", "paper-text", "--algo", "ppo", "--json")
    assert set(json.loads(cli(*words).out)) == {"sigma", "fourier_dim"}
    assert "Table 3" in cli("presets", "list", "--algo", "ppo").out


def test_presets_build_what_they_say():
    for name in SOURCES["rollout"]:
        chosen = preset(name, "gym/HalfCheetah-v5", algo="ppo")
        both = chosen.config("lff").algo
        assert both.critic.front.sigma == chosen.sizes.sigma
        assert both.critic.trunk.activation == "tanh"
        assert (both.actor.front == both.critic.front) == (name != "authors-readme")
        assert chosen.config("mlp", actor="lff").algo.actor.front.fourier_dim
        mlp = chosen.config("mlp").algo.critic
        assert len(mlp.hidden(17, 1)) == 3
        counts = [num_parameters(net.build(17, 1)) for net in (both.critic, mlp)]
        if name != "authors-readme":
            assert counts[0] == pytest.approx(counts[1], rel=1e-2)
    table = preset("paper-table", "gym/HalfCheetah-v5", algo="ppo").config().algo
    assert (table.rollout_steps, table.epochs, table.batch_size, table.lr) == (2048, 10, 64, 3e-4)
    assert (table.gamma, table.gae_lambda, table.clip, table.value_coef) == (0.99, 0.95, 0.2, 0.5)
    assert (table.entropy_coef, table.lr_decay) == (0, True)


def test_long_runs_are_compiled():
    assert worth_compiling(small_ppo(steps=10_000_000))
    assert not worth_compiling(small_ppo())
