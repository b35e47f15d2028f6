"""Damage files of runs and results at random; check that nothing wrong goes unnoticed.

A finished run, a stopped run, a finished sweep and a stopped sweep are copied; one file of the copy
is damaged: bits flipped, truncated, a block zeroed, deleted, swapped with another file, its tail
doubled.  Then ``lff verify`` looks at it, and the command that made it is started again.

detected   verify names it, or the command says so, in one line, and stops or goes on
harmless   nobody says a word, and the results are byte for byte those of the undamaged one
silent     nobody says a word, or the command ends well without one, and the results differ

Exit code 1 if one is silent, or ends in a traceback.
"""

import argparse
import contextlib
import json
import random
import re
import shutil
import sys
import time
from collections import Counter
from pathlib import Path

import small_runs
from io_errors import WORDS

DAMAGE = ("flip", "flips", "truncate", "zero", "delete", "swap", "double the tail")
CODES = (0, 1, 2, 3, 70, 74, 75)


def train(folder):
    return small_runs.lff_command(*WORDS, folder / "run")


def resume(folder):
    return small_runs.lff_command("resume", folder / "run")


def sweep(folder):
    """As ``lff experiment run`` does; it cannot find an experiment that is not installed."""
    return small_runs.called(lambda: small_runs.sweep(folder))


def stopped_run(folder):
    small_runs.stop_at(13, lambda: train(folder))


def stopped_sweep(folder):
    small_runs.stop_at(9, lambda: small_runs.sweep(folder))


def run_results(folder):
    return small_runs.run_results(folder / "run")


RUN = (("run",), run_results)
SWEEP = (("results", "runs"), small_runs.sweep_results)
BASES = {
    "finished run": (train, (train, resume), *RUN),
    "stopped run": (stopped_run, (train, resume), *RUN),
    "finished sweep": (sweep, (sweep,), *SWEEP),
    "stopped sweep": (stopped_sweep, (sweep,), *SWEEP),
}


def kind_of(path):
    """Return the kind of a file: its name without its numbers."""
    return re.sub(r"[0-9a-f]{16}|\d+", "N", path.as_posix())


def damage(files, how, rng):
    """Damage a file of a randomly chosen kind; return its path, or None if nothing has changed."""
    kinds = sorted({kind_of(file) for file in files})
    kind = rng.choice(kinds)
    path = rng.choice(sorted(file for file in files if kind_of(file) == kind))
    data = path.read_bytes()
    size = len(data)
    at, to = sorted((rng.randrange(size + 1), rng.randrange(size + 1))) if size else (0, 0)
    changed = bytearray(data)
    if how == "delete":
        path.unlink()
        return path
    if how in ("flip", "flips"):
        for _ in range(1 if how == "flip" else rng.randrange(2, 20)):
            if size:
                changed[rng.randrange(size)] ^= 1 << rng.randrange(8)
    elif how == "truncate":
        changed = changed[:at]
    elif how == "zero":
        changed[at:to] = bytes(to - at)
    elif how == "swap":
        alike = sorted(f for f in files if f.suffix == path.suffix and f != path)
        other = rng.choice(alike or sorted({*files} - {path}))
        changed = bytearray(other.read_bytes())
        other.write_bytes(data)
    else:
        changed += changed[at:]
    path.write_bytes(changed)
    return None if bytes(changed) == data else path


class Base:
    """What is copied and damaged, with the results that it must end in."""

    def __init__(self, name, folder):
        make, self.commands, self.verified, self.results = BASES[name]
        self.name, self.folder = name, folder / "base"
        self.folder.mkdir(parents=True)
        make(self.folder)
        self.copy = folder / "copy"
        shutil.copytree(self.folder, self.copy)
        code, said = self.commands[0](self.copy)
        if code:
            sys.exit(said)
        self.expected = self.results(self.copy)

    def corrupt(self, rng):
        """Damage a fresh copy; return the kind of file, how, what came of it, and what was said."""
        path = None
        while path is None:
            shutil.rmtree(self.copy, ignore_errors=True)
            shutil.copytree(self.folder, self.copy)
            files = [file for file in self.copy.rglob("*") if file.is_file()]
            files = [file for file in files if not file.name.startswith(".lock")]
            how = rng.choice(DAMAGE)
            path = damage(files, how, rng)
        kind = f"{self.name}: {kind_of(path.relative_to(self.copy))}"
        return kind, how, *self.judge(rng)

    def judge(self, rng):
        looks = [
            small_runs.lff_command("verify", self.copy / name)
            for name in self.verified
            if (self.copy / name).is_dir()
        ]
        code, said = rng.choice(self.commands)(self.copy)
        everything = "\n".join([*(text for _, text in looks), said])
        unexpected = any(word in everything for word in ("Traceback", "LFF_TRACEBACK"))
        if unexpected or {code, *(c for c, _ in looks)} - {*CODES}:
            return "traceback", everything
        seen = any(c for c, _ in looks)
        warned = code != 0 or small_runs.WARNING in said
        if code == 0:
            try:
                found = self.results(self.copy)
            except Exception as error:  # noqa: BLE001  results that cannot be read differ
                found = {"error": repr(error)}
            if found != self.expected and not warned:
                names = [
                    n for n in {*found, *self.expected} if found.get(n) != self.expected.get(n)
                ]
                return "silent", f"{names}\n{everything}"
        return ("detected" if seen or warned else "harmless"), everything


def campaign(count, seed, folder, say=lambda _: None):
    """Damage so many files; return the counts, and what was silent or ended in a traceback."""
    rng = random.Random(seed)
    bases = [Base(name, folder / str(i)) for i, name in enumerate(BASES)]
    outcomes, kinds, hows, wrong = Counter(), {}, Counter(), []
    for number in range(count):
        kind, how, outcome, said = bases[number % len(bases)].corrupt(rng)
        outcomes[outcome] += 1
        hows[how] += 1
        kinds.setdefault(kind, Counter())[outcome] += 1
        if outcome in ("silent", "traceback"):
            wrong.append(f"{outcome}: {kind}, {how}, number {number}: {said}")
            say(wrong[-1])
        if not (number + 1) % 50:
            say(f"corruptions={number + 1} {dict(outcomes)}")
    names = ("detected", "harmless", "silent", "traceback")
    return {name: outcomes[name] for name in names} | {"kinds": kinds, "damage": hows}, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corruptions", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    begun = time.monotonic()
    with small_runs.scratch() as folder, contextlib.chdir(folder):
        counts, wrong = campaign(arguments.corruptions, arguments.seed, Path(folder), print)
    print(" ".join(f"{name}={count}" for name, count in counts.items() if isinstance(count, int)))
    print(json.dumps(counts | {"seconds": round(time.monotonic() - begun)}))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
