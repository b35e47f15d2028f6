"""Give hostile folders to every command that reads one, and look at what it does.

python -m tests.trust.feed               # all kinds, every reader
python -m tests.trust.feed --kinds 60 --seed 1 --readers show compare
"""

import argparse
import contextlib
import io
import logging
import os
import random
import re
import resource
import shutil
import signal
import socket
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import lff
from lff.cli.main import main
from lff.core.errors import BadInputError, ExitCode, RunError
from tests.trust import kinds
from tests.trust.result_kinds import RESULTS, SCALE, STUDY, base_results

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0
"""Seconds after which a reader hangs."""
MEMORY = 8 * 2**30
"""Bytes of address space beyond what the imports take."""
TRAIN = (
    "train sac --env probe/action --steps 60 --warmup-steps 20 --log-every 20 --eval-every 30 "
    "--eval-episodes 1 --checkpoint-every 20 --fourier-dim 8 --hidden-dim 8 --batch-size 8 "
    "--compile off --reference-episodes 1 --dir"
)
RUN_READERS = {
    "show": "show {run}",
    "verify": "verify {run}",
    "compare": "compare {run} {good}",
    "compare --json": "compare {run} {good} --json",
    "report": "report {run} --out {out}/page.html --force",
    "audit": "audit {run}",
    "play": "play {run}",
    "load": "",
    "export": "export {run} --native --out {out}/policy.pt2 --force",
    "rerun": "rerun {run} --dir {out}/again",
    "resume": "resume {run}",
    "resume with trackers": "resume {run} --tensorboard",
    "train": f"{TRAIN} {{run}}",
}
RESULT_READERS = {
    "verify": "verify {run}",
    "verdict": f"experiment verdict {STUDY} --results {{run}}",
    "status": f"experiment status {STUDY} --results {{run}} --dir {{out}}/runs",
    "power": f"experiment power {STUDY} --results {{run}}",
    "report": f"report {STUDY} --results {{run}} --out {{out}}/page.html --force",
    "run": f"experiment run {STUDY} --results {{run}} --dir {{out}}/runs --scale "
    f"{SCALE} --workers 1 --shard 1/1000",
}
SLOW = ("report", "export", "rerun")
WRITERS = ("resume", "resume with trackers", "train", "run")
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
MODULE_TEXT = "import pathlib, sys\npathlib.Path(__file__).with_name('imported').touch()\n"


class Hang(BaseException):
    """A reader that did not come back."""


def call(words):
    """Run a command line here; return its exit code, stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    handler, logger = logging.StreamHandler(err), logging.getLogger("lff")
    logger.addHandler(handler)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main(words)
    except SystemExit as end:
        code = end.code or 0
    finally:
        logger.removeHandler(handler)
    return code, out.getvalue(), err.getvalue()


def load(run):
    """The Python function, as the others are called: errors of ours are lines."""
    try:
        logging.getLogger("lff").addHandler(logging.NullHandler())
        policy = lff.load(run)
        policy.act(np.zeros(policy.agent.spaces.obs))
    except (BadInputError, RunError) as error:
        return error.exit_code, "", f"lff: {error}"
    return 0, "", ""


def timed(function, *args):
    def stop(*_):
        raise Hang

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        return function(*args)
    except Hang:
        return -1, "", "hangs"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def snapshot(folder):
    """What lies in a folder: kind, size, time of change and link of everything."""
    found = {}
    for path in sorted(folder.rglob("*")):
        stat = path.lstat()
        target = os.readlink(path) if path.is_symlink() else None  # noqa: PTH115
        found[str(path)] = stat.st_mode, stat.st_size, stat.st_mtime_ns, target
    return found


def problems(reader, code, out, err):
    """Name what a reader did that it must not do."""
    found = []
    if code not in {*ExitCode}:
        found.append(f"exit code {code}")
    if "Traceback" in out + err:
        found.append("traceback")
    if CONTROL.search(out + err):
        found.append("escape printed")
    if code and reader not in ("audit", "rerun", "verify") and "lff: " not in err:
        found.append(f"silent, code {code}: {(out + err)[-200:]}")
    return [f"{reader}: {one}" for one in found]


@contextlib.contextmanager
def guarded():
    """No connection is made and memory is bounded; yields the addresses that were asked for."""
    asked = []

    def connect(_, address):
        asked.append(address)
        raise ConnectionRefusedError

    original, socket.socket.connect = socket.socket.connect, connect
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, before[1]))
    try:
        yield asked
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
        socket.socket.connect = original


class Feeder:
    """A good run and good results in a folder, from which hostile ones are made."""

    def __init__(self, folder):
        self.folder, self.fed, self.caught = folder, 0, 0
        self.good, self.results = folder / "good", folder / "results"
        code, _, err = call([*TRAIN.split(), str(self.good), "--tensorboard"])
        assert code == 0, err
        (self.good / kinds.TRACKERS).write_text('{"id": "0123456789ab"}')
        base_results(ROOT / "results", self.results)
        modules = folder / "modules"
        modules.mkdir()
        (modules / f"{kinds.MODULE}.py").write_text(MODULE_TEXT)
        self.mark = modules / "imported"
        sys.path.append(str(modules))
        os.chdir(folder)

    def feed(self, name, readers):
        """Make one hostile folder and give it to the readers; return what went wrong."""
        of_run = name in kinds.RUNS
        every = RUN_READERS if of_run else RESULT_READERS
        canary, out = self.folder / "canary", self.folder / "out"
        for path in (canary, out, self.folder / "hostile"):
            shutil.rmtree(path, ignore_errors=True)
        canary.mkdir()
        (canary / "precious").write_text("keep me")
        out.mkdir()
        hostile = self.folder / "hostile"
        shutil.copytree(self.good if of_run else self.results, hostile)
        (kinds.RUNS if of_run else RESULTS)[name](hostile, canary)
        outside, inside = snapshot(canary), snapshot(hostile)
        found = []
        with guarded() as asked:
            for reader in (one for one in every if one in readers):
                words = every[reader].format(run=hostile, good=self.good, out=out).split()
                ended = timed(*((call, words) if words else (load, hostile)))
                found += problems(reader, *ended)
                self.fed += 1
                self.caught += "_TRACEBACK=1" in ended[2]
                if reader not in WRITERS and snapshot(hostile) != inside:
                    found.append(f"{reader}: wrote into the folder that it reads")
                    inside = snapshot(hostile)
                if snapshot(canary) != outside:
                    found.append(f"{reader}: touched the canary")
                if self.mark.exists():
                    found.append(f"{reader}: imported a module")
                    self.mark.unlink()
                if asked:
                    found.append(f"{reader}: asked for {asked}")
                    asked.clear()
        return [f"{name}: {one}" for one in found]


def main_command():
    parser = argparse.ArgumentParser(description=__doc__)
    every = [*dict.fromkeys([*RUN_READERS, *RESULT_READERS])]
    parser.add_argument("--kinds", type=int, help="so many, drawn at random; all if not given")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="kinds whose names contain this")
    parser.add_argument("--readers", nargs="+", choices=every, default=every)
    arguments = parser.parse_args()
    names = [*kinds.RUNS, *RESULTS]
    if arguments.only:
        names = [name for name in names if arguments.only in name]
    if arguments.kinds:
        names = random.Random(arguments.seed).sample(names, arguments.kinds)
    begin, found = time.monotonic(), []
    with tempfile.TemporaryDirectory() as folder:
        feeder = Feeder(Path(folder))
        for name in names:
            wrong = feeder.feed(name, arguments.readers)
            sys.stdout.write("".join(f"{line}\n" for line in wrong))
            sys.stdout.flush()
            found += wrong
        os.chdir(ROOT)
    seconds = time.monotonic() - begin
    sys.stdout.write(
        f"{len(names)} hostile folders, {feeder.fed} times read, {len(found)} problems, "
        f"{feeder.caught} errors caught at the boundary alone, {seconds:.0f} s\n"
    )
    sys.exit(bool(found))


if __name__ == "__main__":
    main_command()
