"""The real command line in processes of its own, without the seconds that imports take.

The fork server of ``children`` has imported the command line; each child calls its ``main``.
"""

import os
import resource
import signal
import sys
import time
from pathlib import Path

import torch._dynamo  # noqa: F401  the first gradient of SAC imports it

from lff.cli import policy, rerun, train  # noqa: F401  commands are imported when they are called
from lff.cli.main import main

ROOT = Path(__file__).parents[2]
SCHEDULE = (
    "--preset laptop --steps 300 --warmup-steps 90 --log-every 20 --eval-every 100 "
    "--eval-episodes 1"
)
LIMIT = 500_000
"""Bytes of a file; a checkpoint of these runs has more."""


def train_words(env, *more):
    words = ["train", "sac", "--env", f"tests.faults.environments:{env}", *SCHEDULE.split()]
    words += ["--reference-episodes", "0"]  # some of these environments have no end
    return [*words, "--checkpoint-every", "40", "--dir", "run", *more]


def child(pipe, folder, words, limit):
    """What the child does: as if typed in ``folder``."""
    pipe.close()
    os.chdir(folder)
    sys.path.insert(0, str(ROOT))
    for number, name in ((1, "stdout"), (2, f"stderr-{os.getpid()}")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666), number)
    if limit:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    sys.argv = ["lff", *words]
    main()


def start(folder, words, *, limit=None):
    from tests.faults import children

    process, pipe = children.start(child, folder, words, limit)
    pipe.close()
    return process


def end(process, folder):
    """Return the exit code and what was said on stderr."""
    process.join()
    return process.exitcode, (folder / f"stderr-{process.pid}").read_text()


def lff(folder, words, *, limit=None):
    return end(start(folder, words, limit=limit), folder)


def wait_for_rows(process, folder, rows):
    """Return when the run has written that many rows."""
    metrics = folder / "run" / "metrics.jsonl"
    while process.is_alive() and not (
        metrics.exists() and metrics.read_bytes().count(b"\n") >= rows
    ):
        time.sleep(0.01)


def results(folder):
    """Every byte that must be equal for equal runs, by name."""
    run = folder / "run"
    names = ["checkpoints/final/tensors.safetensors", "metrics.jsonl", "metrics.csv"]
    names += sorted(str(path.relative_to(run)) for path in (run / "evaluations").iterdir())
    return {name: (run / name).read_bytes() for name in names}
