"""Let each call to the system fail in turn; start again; compare every byte at the end.

``lff train`` runs in this process on a small task, and the n-th of its calls that open, write,
sync, rename, make or remove something below the run directory fails, for each n and each error:

EIO       the device fails, at any call
ENOSPC    the disk is full, at a call that needs room
torn      half of a write gets through, then the disk is full
short     half of a write gets through, and the system says so; nothing has failed

The command must end with 74 and one line that names a file (with 0 if the call did not matter, and
after a short write); the same command must then go on from the last checkpoint whose save had
returned, and end byte for byte as if nothing had happened.  Exit code 1 if one does not.
"""

import argparse
import contextlib
import errno
import json
import os
import random
import shutil
import sys
import time
from collections import Counter
from pathlib import Path

import small_runs
from power_cut import resumed_steps
from simulated_disk import watch_saves

CALLS = (
    *("open", "write", "fsync", "ftruncate", "rename", "replace", "mkdir", "unlink", "rmdir"),
    "posix_fadvise",
)
ROOM = ("open", "write", "fsync", "ftruncate", "rename", "replace", "mkdir")
KINDS = {"EIO": CALLS, "ENOSPC": ROOM, "torn": ("write",), "short": ("write",)}
WORDS = """
    train sac --preset laptop --env probe/two-step --net lff --fourier-dim 4 --hidden-dim 4
    --steps 14 --warmup-steps 11 --batch-size 2 --replay-capacity 8 --log-every 3 --eval-every 6
    --eval-episodes 1 --checkpoint-every 4 --reference-episodes 1 --compile off --dir
""".split()  # noqa: SIM905  as it would be typed


class Faults:
    """Counts the calls below a folder, and lets one of them fail."""

    def __init__(self, root, kind="EIO", at=-1):
        self.root, self.kind, self.at, self.count = str(root), kind, at, 0
        self.descriptors, self.saved, self.failed = set(), 0, None
        self.calls = Counter()

    def __enter__(self):
        self.real = {name: getattr(os, name) for name in CALLS}
        for name in CALLS:
            setattr(os, name, self.wrap(name))
        self.unwatch = watch_saves(lambda step: setattr(self, "saved", step))
        return self

    def __exit__(self, *_):
        for name, function in self.real.items():
            setattr(os, name, function)
        self.unwatch()

    def wrap(self, name):
        real = self.real[name]

        def call(first, *args, **options):
            if isinstance(first, int):
                ours = first in self.descriptors
            else:
                ours = str(Path(first).absolute()).startswith(self.root) or "dir_fd" in options
            self.calls[name] += ours
            if ours and name in KINDS[self.kind]:
                self.count += 1
                if self.count - 1 == self.at:
                    self.failed = f"{name} {first if isinstance(first, str) else ''}"
                    return self.fail(real, first, *args)
            result = real(first, *args, **options)
            if name == "open":
                (self.descriptors.add if ours else self.descriptors.discard)(result)
            return result

        return call

    def fail(self, real, first, *args):
        if self.kind in ("torn", "short"):
            half = bytes(args[0])[: len(args[0]) // 2 or 1]
            written = real(first, half)
            if self.kind == "short":
                return written
        number = errno.EIO if self.kind == "EIO" else errno.ENOSPC
        raise OSError(number, os.strerror(number))


def attempt(folder, kind, at, expected):
    """Fail once, start again; return what is wrong, if anything, and the first exit code."""
    run = folder / "run"
    shutil.rmtree(run, ignore_errors=True)
    with Faults(folder, kind, at) as faults:
        code, said = small_runs.lff_command(*WORDS, run)
    where = f"{kind} at call {at} ({faults.failed})"
    if "Traceback" in said or code not in (0, 74) or (kind == "short" and code):
        return f"{where}: exit code {code}: {said}", code
    if code == 74 and str(run) not in said.splitlines()[-1]:
        return f"{where}: names no file: {said}", code
    with resumed_steps() as steps:
        again, said = small_runs.lff_command(*WORDS, run)
    if again or (steps and steps[0] < faults.saved):
        return f"{where}: then {again}, from {steps}, not {faults.saved}: {said}", code
    found = small_runs.run_results(run)
    names = [n for n in {*found, *expected} if found.get(n) != expected.get(n)]
    return (f"{where}: other bytes in {', '.join(names)}" if names else None), code


def campaign(folder, *, kinds=tuple(KINDS), sample=None, seed=0, say=lambda _: None):
    """Let every call fail, or a sample of them; return the counts and what went wrong."""
    whole = folder / "whole"
    with Faults(folder) as faults:
        code, said = small_runs.lff_command(*WORDS, whole)
    if code:
        sys.exit(said)
    expected = small_runs.run_results(whole)
    counts = {kind: sum(faults.calls[name] for name in KINDS[kind]) for kind in kinds}
    places = [(kind, at) for kind, count in counts.items() for at in range(count)]
    if sample is not None:
        places = random.Random(seed).sample(places, sample)
    wrong, done, codes = [], Counter(), Counter()
    for kind, at in places:
        problem, code = attempt(folder, kind, at, expected)
        done[kind] += 1
        codes[f"exit code {code}"] += 1
        if problem:
            wrong.append(problem)
            say(problem)
        if not sum(done.values()) % 50:
            say(f"errors={sum(done.values())} of {len(places)} wrong={len(wrong)}")
    return {"errors": len(places), "wrong": len(wrong), **done, **codes}, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=[*KINDS])
    parser.add_argument("--sample", type=int, help="so many of all calls and errors")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    arguments = parser.parse_args()
    begun = time.monotonic()
    with small_runs.scratch() as folder, contextlib.chdir(folder):
        counts, wrong = campaign(Path(folder), **vars(arguments), say=print)
    print(f"errors={counts['errors']} wrong={counts['wrong']}")
    print(json.dumps(counts | {"seconds": round(time.monotonic() - begun)}))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
