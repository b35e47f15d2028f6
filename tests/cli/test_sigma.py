"""``lff sigma`` on a real task."""

import json
import math

import pytest

CHEETAH = ("sigma", "--env", "dmc/cheetah-run", "--steps", "1500")


def test_cheetah_in_numbers(cli, tmp_path):
    words = (*CHEETAH, "--json", "--sigma", "0.002", "--lr", "1e-4", "--plot", "sigma.png")
    ended = cli(*words)
    assert ended.code == 0, ended.err
    report = json.loads(ended.out)
    actor, critic = report["actor"], report["critic"]
    assert (actor["in_features"], critic["in_features"]) == (17, 23)
    assert 5 < actor["norms"][1] < 9  # measured elsewhere: 7.0 and 10.1
    assert 8 < critic["distances"][1] < 12
    assert actor["bend"] == pytest.approx(1 / (2 * math.pi * actor["distances"][1]))
    assert critic["spreads"][-6:] == pytest.approx([1 / math.sqrt(3)] * 6, rel=0.1)
    mine = next(row for row in actor["sigmas"] if row["sigma"] == 0.002)
    assert mine["updates_to_forget"] == pytest.approx(20)
    assert sum(mine["harmonics"]) == pytest.approx(1)
    assert mine["verdict"].startswith("nearly linear")
    assert (actor["advised"], critic["advised"]) == (0.01, 0.01)
    assert (tmp_path / "sigma.png").read_bytes().startswith(b"\x89PNG")
    assert cli(*words).code == 2  # the figure is there
    again = json.loads(cli(*words, "--force").out)
    assert again == report
    other = json.loads(cli(*CHEETAH, "--json", "--seed", "1").out)
    assert other["actor"]["distances"] != actor["distances"]


def test_tables_say_what_to_do(cli):
    ended = cli("sigma", "--env", "probe/action", "--steps", "200", "--sigma", "0.001")
    assert ended.code == 2  # one observation, always the same
    assert "different points" in ended.err
    ended = cli(*CHEETAH, "--sigma", "0.001")
    assert ended.out.startswith("dmc/cheetah-run, actor: take σ = 0.01 (typical inputs are D = 9.")
    assert (
        "critic: σ = 0.001 is nearly linear: phases of typical inputs differ by 0.06" in ended.out
    )
    assert "0.01 <- take" in ended.out
    assert "0.001 <- yours" in ended.out
    assert "--normalize-obs" not in ended.out


@pytest.mark.parametrize(
    ("task", "distance", "sigma"),
    [("Humanoid-v5", 24, "0.0004"), ("MountainCarContinuous-v0", 0.6, "0.2")],
)
def test_unusual_inputs_are_to_be_normalised(task, distance, sigma, cli):
    out = cli("sigma", "--env", f"gym/{task}", "--steps", "1000").out
    assert f"gym/{task}, critic: typical inputs are D = {distance}" in out
    assert (
        "apart, outside 1 to 50: normalise observations (--normalize-obs) and take σ = 0.01" in out
    )
    assert f"take σ = {sigma}\n" in out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--env", "dmc/cheetah-rum"), "did you mean"),
        (("--env", "probe/action", "--fourier-dim", "3"), "use 2 or 4"),
        (("--env", "probe/action", "--sigma", "-1"), "sigma must be"),
        (("--env", "probe/action", "--steps", "1"), "2 or more"),
    ],
)
def test_bad_input_is_a_line_and_exit_code_2(words, says, cli, tmp_path):
    ended = cli("sigma", *words)
    assert ended.code == 2
    assert says in ended.err
    assert not list(tmp_path.iterdir())
