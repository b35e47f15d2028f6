"""``lff presets`` as a user starts it."""

import json
import re

import pytest

from lff import LFF, MLP
from lff.nn import num_parameters
from lff.training.presets import SOURCES

CHEETAH = ("--env", "dmc/cheetah-run")


def test_list_names_every_preset(cli):
    shown = cli("presets")
    assert shown.code == 0, shown.err
    for name, source in SOURCES["state"].items():
        assert re.search(rf"{name}\s+{re.escape(source)}", shown.out)


def test_show_has_schedule_and_exact_sizes(cli):
    shown = cli("presets", "show", "paper-table", *CHEETAH, "--json")
    values = {name: value["paper-table"] for name, value in json.loads(shown.out).items()}
    assert values["steps"] == 1_000_000
    critic = LFF(23, 1, n_hidden=2, hidden_dim=1024, sigma=0.003, fourier_dim=64)
    assert values["critic lff parameters"] == num_parameters(critic)
    assert values["actor mlp hidden"] == [749, 749, 749]
    actor = MLP(17, 12, n_hidden=3, hidden_dim=749)
    assert values["actor mlp parameters"] == num_parameters(actor)


@pytest.mark.parametrize("task", ["dmc/cheetah-run", "dmc/finger-spin", "dmc/walker-walk"])
def test_controls_and_baselines_are_as_large_as_lff(cli, task):
    """Within 0.5 %, or the weights of one unit of width."""
    shown = cli("presets", "show", "laptop", "--env", task, "--json")
    values = {name: value["laptop"] for name, value in json.loads(shown.out).items()}
    for role in ("actor", "critic"):
        goal = values[f"{role} lff parameters"]
        for net in ("mlp", "mlp-2", "linear", "constant", "tanh", "ffn"):
            unit = 2 * max(values[f"{role} {net} hidden"]) + 128
            assert abs(values[f"{role} {net} parameters"] - goal) <= max(0.005 * goal, unit), net
        assert len(values[f"{role} mlp-2 hidden"]) == 2
        assert values[f"{role} ffn-published parameters"] > 1.5 * goal


def test_diff_has_what_differs_and_nothing_else(cli):
    shown = cli("presets", "diff", "paper-table", "paper-text", *CHEETAH, "--json")
    rows = json.loads(shown.out)
    assert rows["sigma"] == {"paper-table": 0.003, "paper-text": 0.001}
    assert rows["fourier_dim"] == {"paper-table": 64, "paper-text": 1024}
    assert rows["mlp"] == {"paper-table": "exact", "paper-text": "paper"}
    assert rows["critic mlp hidden"]["paper-text"] == [1100, 1024, 1024]
    assert all(row["paper-table"] != row["paper-text"] for row in rows.values())
    assert not {"actor_lr", "steps", "batch_size"} & set(rows)


def test_without_a_task_the_exceptions_are_named(cli):
    rows = json.loads(cli("presets", "show", "paper-table", "--json").out)
    expected = {"usual": 1_000_000, "dmc/humanoid-run": 2_000_000}
    assert rows["steps"]["paper-table"] == expected
    text = " ".join(cli("presets", "diff", "laptop", "paper-table").out.split())
    assert "1,024 (64 for cheetah-run)" in text
    same = cli("presets", "diff", "laptop", "laptop")
    assert same.out == "no difference\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("diff", "laptop"), "2 in number"),
        (("show",), "1 in number"),
        (("list", "laptop"), "leave them out"),
        (("show", "laptop", "--env", "dmc/cheetah-rum"), "did you mean"),
        (("show", "paper-text", "--env", "dmc-pixels/cheetah-run"), "preset for sac-pixels"),
        (("show", "laptop", "--env", "dmc-pixels/cheetah-rum"), "did you mean"),
    ],
)
def test_bad_input_is_a_line_and_exit_code_2(words, says, cli):
    done = cli("presets", *words)
    assert done.code == 2
    assert says in done.err
    assert "Traceback" not in done.err


def test_presets_from_pixels(cli):
    task = ("--env", "dmc-pixels/hopper-hop")
    listed = json.loads(cli("presets", "list", *task, "--json").out)
    assert {name: row["source"] for name, row in listed.items()} == SOURCES["pixels"]
    shown = json.loads(cli("presets", "show", "paper-table", *task, "--json").out)
    values = {name: value["paper-table"] for name, value in shown.items()}
    assert (values["size"], values["cropped_size"], values["fourier_dim"]) == (100, 84, 128)
    # B: 64·9; first convolution: 137·32·9 + 32; matched within a percent, the authors' is not
    assert values["lff entrance parameters"] == 576 + 39_488
    assert abs(values["cnn entrance parameters"] / 40_064 - 1) < 0.01
    assert values["cnn-readme entrance parameters"] == 9_536
    # 32 maps of 35 x 35 to 50, layer norm, 50 -> 1024 -> 1024 -> 8
    projection = 39_200 * 50 + 50 + 100
    actor = 51 * 1024 + 1025 * 1024 + 1025 * 8
    assert values["actor parameters"] == projection + actor
    assert values["critics parameters"] == projection + 2 * (55 * 1024 + 1025 * 1024 + 1025)
    rows = json.loads(cli("presets", "diff", "paper-table", "authors-readme", *task, "--json").out)
    rates, counts = {"actor_lr", "critic_lr"}, {"cnn entrance parameters", "cnn encoder parameters"}
    assert {*rows} == rates | counts | {"batch_size", "cnn"}
    table = cli("presets", "diff", "paper-table", "authors-readme", *task)
    assert re.search(r"batch_size\s+512\s+128", table.out)


def test_train_takes_the_schedule_of_the_preset(cli, tmp_path):
    words = ("train", "sac", "--env", "probe/action", "--warmup-steps", "150", "--steps", "200")
    done = cli(*words, "--eval-episodes", "2", "--dir", "run")
    assert done.code == 0, done.err
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    algo, schedule = config["algo"], config["schedule"]
    assert (config["steps"], algo["warmup_steps"], schedule["eval_episodes"]) == (200, 150, 2)
    assert (schedule["eval_every"], algo["replay_capacity"]) == (10_000, 1_000_000)


def test_help_is_short_and_the_rest_is_there(cli):
    text = cli("train", "sac", "--help").out
    assert text.count("\n") <= 100
    for flag in ("--env", "--net", "--sigma", "--fourier-dim", "--steps", "--seed", "--dir"):
        assert flag in text
    assert "--help-all" in text
    rest = cli("train", "sac", "--help-all").out
    for flag in ("--batch-size", "--critic.front.sigma", "--eval-every", "--target.tau"):
        assert flag in rest
