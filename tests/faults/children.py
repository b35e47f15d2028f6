"""What the fault tests run in processes of their own, to be killed there.

Started by a fork server that has imported the store, so that a child costs milliseconds.
"""

import multiprocessing
import os
import resource
import signal
import time

import numpy as np

from lff.core import BusyError, StorageError
from lff.store import RunDir, RunLock, find_refs

context = multiprocessing.get_context("forkserver")
context.set_forkserver_preload(["tests.faults.commands", "tests.faults.children"])


def start(target, *args):
    """Start a child; return it and our end of a pipe to it, which it gets as first argument."""
    ours, theirs = context.Pipe()
    child = context.Process(target=target, args=(theirs, *args), daemon=True)
    child.start()
    theirs.close()
    return child, ours


def rows_of(step):
    """The metrics of one step: a function of the step alone, like those of a seeded run."""
    return {"env_step": step, "train/loss": 1.0 / (step + 1)}


def segment_of(step):
    return {"reward": np.full(3, float(step)), "terminated": np.arange(3) == step % 3}


def state_of(step):
    return {"w": np.random.default_rng(step).standard_normal((50, 7)), "step": np.array(step)}


def train(run, steps):
    """A run as the training loop makes it: resume, then rows, a segment and a checkpoint a step."""
    found = run.resume()
    refs = found.meta["replay"] if found else []
    for step in range(found.step + 1 if found else 0, steps):
        run.metrics.append(rows_of(step))
        run.timing.append({"env_step": step, "time": time.time()})
        ref = run.segments.append(segment_of(step))
        refs = [*refs, ref.to_json()][-3:]
        run.save(step, state_of(step), {"replay": refs}, final=step == steps - 1)
        run.drop_replay_before(next(find_refs(refs)))


def run_until_killed(pipe, path, config):
    with RunDir(path).start(config, info={}) as run:
        pipe.send("started")
        train(run, 10**9)


def run_and_die_at(pipe, path, config, steps, call):
    """Run to the end, or die by SIGKILL at the given call to the system; report the calls made."""
    counter = iter(range(10**9))

    def dying(name):
        real = getattr(os, name)

        def wrapper(*args, **kwargs):
            if next(counter) == call:
                if name == "write":  # half of it reaches the disk
                    real(args[0], bytes(args[1])[: len(args[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **kwargs)

        return wrapper

    for name in ("open", "write", "fsync", "replace", "rename", "mkdir", "unlink", "rmdir"):
        setattr(os, name, dying(name))
    with RunDir(path).start(config, info={}) as run:
        train(run, steps)
    pipe.send(next(counter))


def race_for_lock(pipe, folder):
    pipe.recv()  # all at once
    try:
        with RunLock(folder):
            pipe.send(("won", os.getpid()))
            pipe.recv()
    except BusyError as error:
        pipe.send(("busy", str(error)))


def fill(pipe, path, config, limit):
    """Save until the disk, or the limit on file sizes, refuses."""
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        with RunDir(path).start(config, info={}) as run:
            run.resume()
            for step in range(1000):
                run.metrics.append({"env_step": step, "note": "x" * 500})
                run.save(step, {"w": np.ones(1000 * (step + 1))}, {})
    except StorageError as error:
        pipe.send((int(error.exit_code), str(error)))
    else:
        pipe.send((0, "no error"))
