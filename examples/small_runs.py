"""Runs and sweeps of a fraction of a second, for campaigns that start thousands of them.

Each goes through the real loop, store and command line, in this process.
"""

import contextlib
import io
import logging
import os
import sys
import tempfile
import traceback
from pathlib import Path

import lff.cli.main
from lff.algos import SACConfig
from lff.core.errors import BadInputError, RunError, exit_code
from lff.experiments import run
from lff.experiments.jobs.training import TrainJob
from lff.experiments.spec import Cell, Experiment, ours
from lff.launch.records import SUFFIX, read_record
from lff.nn import Fourier, MLPTrunk, NetConfig
from lff.stats import RETURN
from lff.training import RunConfig, Schedule, train
from lff.training.loop import Loop

NET = NetConfig(Fourier(fourier_dim=4, sigma=0.1), MLPTrunk(hidden=(4,)))
STEPS = 20
WARNING = "warning: "


def config(steps=STEPS, seed=0):
    """Return a run with a checkpoint every four steps and a replay smaller than the run."""
    algo = SACConfig(actor=NET, critic=NET, batch_size=2, warmup_steps=13, replay_capacity=12)
    schedule = Schedule(log_every=3, eval_every=7, eval_episodes=1, checkpoint_every=4)
    return RunConfig(env="probe/two-step", algo=algo, steps=steps, seed=seed, schedule=schedule)


def start(folder, *, steps=STEPS):
    """Train, or go on with a run that may be extended."""
    train(
        config(steps),
        directory=folder,
        command=["lff", "train"],
        may_differ=("steps",),
        reference_episodes=1,
    )


class Stop(BaseException):
    """Ends a run as abruptly as a kill, with its files closed."""


def stop_at(step, action):
    """Run something that trains, and stop it at a step, between two checkpoints."""
    real = Loop._housekeeping

    def housekeeping(loop, before, *, may_save):
        real(loop, before, may_save=may_save)
        if loop.progress.env_step == step:
            raise Stop

    Loop._housekeeping = housekeeping
    try:
        with contextlib.suppress(Stop):
            action()
    finally:
        Loop._housekeeping = real


def start_and_stop(folder, at):
    """Train up to a step and stop there."""
    stop_at(at, lambda: start(folder))


SWEEP = Experiment(
    name="small",
    title="?",
    source="nowhere",
    arms={"A": ours()},
    grid=lambda *_: [Cell("A", "two-step", TrainJob(config(12, s), 1), s) for s in (0, 1)],
    metrics=(RETURN,),
)


def sweep(folder):
    """Run two jobs one after the other; their records and the table go to ``results``."""
    run(SWEEP, "smoke", workers=0, dir=folder / "runs", results=folder / "results")


def run_results(folder):
    """Return every byte of a run that must be equal, by file name."""
    names = ["checkpoints/final/tensors.safetensors", "metrics.jsonl", "metrics.csv"]
    names += sorted(str(p.relative_to(folder)) for p in (folder / "evaluations").glob("*"))
    return {name: (folder / name).read_bytes() for name in names}


def sweep_results(folder):
    """Return the same of a sweep; a record also holds the seconds, so its rows are compared."""
    results = folder / "results"
    files = {path.name: path.read_bytes() for path in (results / "smoke").glob("small.*")}
    records = sorted((results / "jobs").glob(f"*{SUFFIX}"))
    return files | {path.name: repr(read_record(path).rows) for path in records}


def lff_command(*words):
    """Call the command line; return its exit code and what it said."""
    old, sys.argv = sys.argv, ["lff", *map(str, words)]
    try:
        return called(lff.cli.main.main)
    finally:
        sys.argv = old


def called(action):
    """Return the exit code of an action, and what it said: output, warnings, a traceback."""
    output, log = io.StringIO(), logging.StreamHandler(io.StringIO())
    logger, code = logging.getLogger("lff"), 0
    log.setFormatter(logging.Formatter(f"{WARNING}%(message)s"))
    logger.addHandler(log)
    logger.propagate = False
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            action()
    except SystemExit as end:
        code = end.code or 0
    except (BadInputError, RunError) as error:  # as the command line does
        print(error, file=output)
        code = exit_code(error)
    except Exception:  # noqa: BLE001  it is what the campaigns look for
        traceback.print_exc(file=output)
        code = 1
    finally:
        logger.removeHandler(log)
        logger.propagate = True
    return int(code), log.stream.getvalue() + output.getvalue()


def scratch():
    """Return a temporary folder, in memory where there is such a place: fsync costs nothing."""
    memory = Path("/dev/shm")
    where = memory if os.access(memory, os.W_OK) else None
    return tempfile.TemporaryDirectory(prefix="lff-", dir=where)
