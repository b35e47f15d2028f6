"""Type thousands of random command lines and look at how each one ends.

Lines are made from one seed: words of real commands, with parts left out, doubled, cut, swapped and
replaced by odd values.  Each must end with a documented exit code and without a traceback.

    python examples/fuzz_cli.py --lines 3000 --seed 0
"""

import argparse
import contextlib
import io
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from lff.cli.main import main as lff
from lff.core.errors import ExitCode

PATIENCE = 60.0
"""Seconds after which a line hangs."""
TINY = (
    "--steps 40 --warmup-steps 20 --log-every 20 --eval-every 40 --eval-episodes 1 "
    "--checkpoint-every 20 --fourier-dim 8 --hidden-dim 8 --batch-size 8 --reference-episodes 0 "
    "--compile off"
)
LINES = (
    f"train sac --env probe/action --dir new {TINY}",
    f"train td3 --env probe/action --dir new {TINY} --net mlp --seed 3",
    "train ppo --env probe/action --dir new --steps 40 --rollout-steps 20 --batch-size 10",
    "train sac --help",
    f"train sac --env gym/Pendulum-v1 --dir run {TINY} --with dropout:p=0.1,where=critic",
    "resume run --steps 60 --trust own --path here",
    "show run",
    "compare run run --json",
    "compare run run --plot curves.png --force",
    "rerun run --dir again --seed 1",
    "play run --episodes 2 --sample --seed 1 --checkpoint final",
    "audit run --checkpoint latest",
    "export run --out policy.pt2 --force",
    "presets",
    "presets laptop",
    "sigma --env probe/action",
    "spectrum run --points 20 --lines 2",
    "tune --env probe/action",
    "experiment list",
    "experiment status fig1 --results results --dir jobs",
    "experiment verdict fig1 --results results --json",
    "experiment power fig1 --results results",
    "experiment run fig1 --scale smoke --shard 999/1000 --results results --dir jobs --workers 1",
    "report run --out page.html --force",
    "report fig1 --results results",
    "explore --out explore.html --force",
    "doctor --help",
    "--help",
    "--version",
)
ODD = (
    *(
        "",
        " ",
        "-",
        "--",
        "---",
        ":",
        ".x:y",
        "x:",
        "gym/",
        "gym/:",
        "dmc/",
        "probe/",
        "/",
        "../..",
    ),
    *(
        "nan",
        "inf",
        "-inf",
        "1e999",
        "-1",
        "0",
        "9" * 400,
        "0x10",
        "1_000",
        "½",
        "σ",
        "None",
        "True",
    ),
    *(
        "a\nb",
        "\x1b[31m",
        "\x00".join("ab")[:1],
        "$(id)",
        "`id`",
        "%s%n",
        "{}",
        "[]",
        '"',
        "'",
        "\\",
    ),
    *("nowhere", "run", "run/config.json", "/dev/null", "/proc/self/mem", "x" * 5000, "--path"),
    *(
        "--help",
        "--env",
        "--trust",
        "os:system",
        "builtins:print",
        "json:loads",
        "lff.cli.main:main",
    ),
)
LONG = {"tune", "sigma"}
"""Commands whose shortest valid form takes minutes: they are given an option that is wrong."""


def make_line(rng: random.Random) -> list[str]:
    """Return the words of one line."""
    words = shlex.split(rng.choice(LINES))
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3, 5))):
        at = rng.randrange(len(words) + 1)
        change = rng.randrange(7)
        if change == 0 or not words:
            words.insert(at, rng.choice(ODD))
        elif change == 1:
            del words[at % len(words)]
        elif change == 2:
            words[at % len(words)] = rng.choice(ODD)
        elif change == 3:
            words.insert(at, words[at % len(words)])
        elif change == 4:
            other = shlex.split(rng.choice(LINES))
            words[at:] = other[rng.randrange(len(other)) :]
        elif change == 5:
            word = words[at % len(words)]
            words[at % len(words)] = word[: rng.randrange(len(word) + 1)] + rng.choice(
                ("", "x", "=")
            )
        else:
            words[at % len(words)] += f"={rng.choice(ODD)}"
    if LONG & {*words[:1]}:
        words.append("--no-such-option")
    return ["".join(c for c in word if c != "\0") for word in words]


def bounded(words: list[str]) -> list[str]:
    """Return a line that, if it trains, trains for a moment."""
    trains = words[:1] and words[0] in ("train", "resume", "rerun")
    steps = [i for i, word in enumerate(words) if word == "--steps"]
    for i in steps:
        if i + 1 < len(words) and re.fullmatch(r"[\d_]{3,}|0x.*", words[i + 1]):
            words[i + 1] = "60"
    if trains and words[0] == "train" and not steps and "--help" not in words:
        words = [*words, "--steps", "40"]
    return words


class HangError(BaseException):
    """A line that did not come back."""


def run_here(words: list[str]) -> tuple[int, str]:
    """Run a line in this process; return the exit code and all that it printed."""

    def stop(*_: object) -> None:
        raise HangError

    said, code = io.StringIO(), 0
    paths, variables = [*sys.path], dict(os.environ)
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            lff(words)
    except SystemExit as end:
        code = int(end.code or 0)
    except HangError:
        code = -1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        sys.path[:] = paths
        os.environ.clear()
        os.environ.update(variables)
    return code, said.getvalue()


def run_process(words: list[str]) -> tuple[int, str]:
    """Run a line as a user's shell does."""
    command = [sys.executable, "-m", "lff", *words]
    try:
        done = subprocess.run(command, capture_output=True, timeout=4 * PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return -1, ""
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


def problem(code: int, said: str) -> str | None:
    """Return what is wrong with the end of a line."""
    if code == -1:
        return f"not back after {PATIENCE:.0f} s"
    if code not in {*ExitCode}:
        return f"exit code {code}"
    if "Traceback" in said:
        return "traceback"
    if "\x1b" in said or "\x07" in said:
        return "an escape printed"
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lines", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", action="store_true", help="each line as a process")
    arguments = parser.parse_args()
    rng, codes, bad, at_boundary = random.Random(arguments.seed), Counter(), [], 0
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("here").mkdir()
        code, said = run_here(shlex.split(f"train sac --env probe/action --dir run {TINY}"))
        if code:
            sys.exit(said)
        run = run_process if arguments.processes else run_here
        for _ in range(arguments.lines):
            words = bounded(make_line(rng))
            code, said = run(words)
            codes[code] += 1
            at_boundary += "LFF_TRACEBACK=1" in said
            if wrong := problem(code, said):
                bad.append(wrong)
                print(f"{wrong}: lff {shlex.join(words)[:300]!r}", flush=True)
        os.chdir("/")
    listed = ", ".join(f"{code}: {count}" for code, count in sorted(codes.items()))
    print(f"lines={arguments.lines} seed={arguments.seed} problems={len(bad)}")
    print(f"exit codes {listed}; {at_boundary} errors caught at the boundary alone")
    print(f"{time.monotonic() - begin:.0f} s")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
