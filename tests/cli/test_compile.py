"""Which form of the update a run takes, what is said about it, and where its time went."""

import re

import pytest

from lff.native.build import find_compiler

SHORT = [
    "--env",
    "probe/action",
    "--steps",
    "120",
    "--warmup-steps",
    "100",
    "--reference-episodes",
    "0",
]
SIZES = ["--hidden-dim", "16", "--fourier-dim", "8", "--batch-size", "16", "--eval-episodes", "1"]


def train(cli, *words):
    return cli("train", "sac", *SHORT, *SIZES, "--dir", "run", *words)


def test_a_short_run_is_eager_and_says_why(cli):
    done = train(cli)
    assert "eager (too short to amortize compilation)" in done.out
    shown = cli("show", "run").out
    assert "eager (too short to amortize compilation)" in shown
    shares = r"[\d,]+ steps/s: acting \d+%, environment \d+%, evaluation \d+%, update \d+%"
    assert re.search(shares, done.out)
    assert re.search(shares, shown)


@pytest.mark.skipif(find_compiler() is None, reason="a C++ compiler is missing")
def test_a_native_run_is_named(cli, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert ", native\n" in train(cli, "--compile", "native").out
    assert ", native\n" in cli("show", "run").out
    assert train(cli).code == 0  # the same command without the flag: as the run began


def test_native_where_it_is_not_possible_is_one_line(cli):
    done = train(cli, "--compile", "native", "--with", "dropout:p=0.1")
    assert done.code == 2
    assert "Dropout" in done.err
    assert "--compile graph" in done.err
    assert len(done.err.splitlines()) == 1
