"""Every flag of docs/upgrading.md is read, and changes the config."""

import dataclasses
import re
import shlex
from pathlib import Path

import pytest

from lff.algos import ALGORITHMS
from lff.cli.train import _flags, compiled, flagged_config, parse_fields
from lff.core.config import to_dict
from lff.core.errors import BadInputError

PAGE = (Path(__file__).parents[2] / "docs" / "upgrading.md").read_text()
ROWS = [new for _, new in re.findall(r"^\| `(--[^`]+)` \| `(--[^`]+)` \|$", PAGE, re.M)]
SAME = PAGE.split("### Flags")[1].split("These have changed")[0].replace("--help-all", "")
OFF_POLICY, PPO = (re.findall(r"`(--[a-z-]+)`", part) for part in SAME.split("for PPO"))
VALUES = {
    "--env": "dmc/walker-run",
    "--dir": "runs/other",
    "--preset": "paper-table",
    "--net": "mlp",
    "--actor-net": "ffn",
    "--critic-net": "lff",
    "--target": "none",
    "--wandb": "mine",
    "--device": "cuda",
    "--gamma": "0.5",
    "--gae-lambda": "0.5",
    "--rollout-steps": "128",
    "--tensorboard": None,
    "--normalize-obs": None,
}
TURNED = {"--lr-decay": "--no-lr-decay", "--normalize-reward": "--no-normalize-reward"}


def parse(algo, words):
    pixels = "dmc-pixels" if "--size" in words else "dmc"
    known = ["--env", f"{pixels}/cheetah-run", "--dir", "runs/example", *words]
    flags, rest = _flags(f"lff train {algo}", known)
    config = parse_fields(flagged_config(ALGORITHMS.find(algo), flags), rest, prog="lff train")
    return flags, dataclasses.replace(config, compute=compiled(config, flags))


def words_of(flag):
    if flag in TURNED:
        return [TURNED[flag]]
    value = VALUES.get(flag, "4")
    return [flag] if value is None else [flag, value]


def flat(value, name=""):
    if isinstance(value, dict):
        return {k: v for key, held in value.items() for k, v in flat(held, f"{name}.{key}").items()}
    return {name: value}


@pytest.mark.parametrize("words", ROWS)
def test_a_new_spelling_changes_the_config(words):
    given = shlex.split(words)
    algo = "ppo" if given[0] == "--envs" else "sac"
    for preset in ("laptop", "paper-table"):
        _, plain = parse(algo, ["--preset", preset, *(["--size"] if "--size" in given else [])])
        if parse(algo, ["--preset", preset, *given])[1] != plain:
            return
    assert given == ["--compile", "graph"]  # as both presets have it


@pytest.mark.parametrize(("algo", "flags"), [("sac", OFF_POLICY), ("ppo", PPO)])
def test_flags_that_kept_their_names_are_read(algo, flags):
    words = [word for flag in flags for word in words_of(flag)]
    (given, config), (default, plain) = parse(algo, words), parse(algo, [])
    one, other = (
        flat(dataclasses.asdict(f)) | flat(to_dict(c))
        for f, c in ((given, config), (default, plain))
    )
    changed = {name.rpartition(".")[2] for name in one if one[name] != other.get(name)}
    assert {flag[2:].replace("-", "_") for flag in flags} <= changed


def test_the_page_names_every_flag():
    assert len(ROWS) == 27
    assert (len(OFF_POLICY), len(PPO)) == (33, 11)


@pytest.mark.parametrize(
    ("word", "message"),
    [("size", "option must be KEY=VALUE, got 'size'"), ("nope=3", "a field of sac-pixels")],
)
def test_a_size_that_is_not_one_is_refused(word, message):
    with pytest.raises(BadInputError, match=message):
        parse("sac", ["--size", word])
