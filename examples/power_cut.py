"""Cut the power at random moments, in simulation; start again; compare every byte at the end.

The calls that the store makes to the system are recorded while a small run, or a sweep, goes
through the real loop.  From the record come the states that a power cut may leave on the disk:

- data that was not synced is there, lost, torn, or replaced by zeros, each write by itself;
- a creation, renaming or removal is lost unless its folder was synced since, each by itself;
- what was synced is there, as long as a name that was synced leads to it.

Each state is started again by the same command.  It must go on from the last checkpoint whose save
had returned, or from a newer one, and end byte for byte as if nothing had happened.  Exit code 1 if
one does not.
"""

import argparse
import contextlib
import itertools
import json
import logging
import os
import random
import shutil
import sys
import time
from collections import Counter
from pathlib import Path

import small_runs

from lff.store import RunDir, read_json, write_json
from lff.store.lock import HOLDER

NOT_KEPT = ("log.txt", "progress.json", ".progress.json")
"""Files of a job that are written for people, and need not survive."""
MODES = ("nothing more", "everything", "names only", "data only", "a part", "any", "any", "any")


class Node:
    """A file or folder: what is durable, and the operations since."""

    def __init__(self, content):
        self.durable = self.now = content
        self.pending = []

    def do(self, operation):
        self.now = apply(self.now, operation)
        self.pending.append(operation)

    def sync(self):
        self.durable, self.pending = self.now, []

    def after_cut(self, mode, rng):
        """Return a content that a power cut may leave."""
        folder = isinstance(self.now, dict)
        content = self.durable
        part = rng.randrange(len(self.pending) + 1)
        for index, operation in enumerate(self.pending):
            kept = {
                "nothing more": False,
                "everything": True,
                "names only": folder,
                "data only": not folder,
                "a part": index < part,
                "any": rng.random() < 0.5,
            }[mode]
            if kept or folder:
                content = apply(content, operation) if kept else content
            elif operation[0] == "write" and mode in ("any", "names only"):
                content = apply(content, spoil(operation, rng))
        return content


def apply(content, operation):
    kind, at, data = operation
    if kind == "name":
        return {**{k: v for k, v in content.items() if k not in at}, **data}
    if kind == "truncate":
        return content[:at].ljust(at, b"\0")
    return content[:at].ljust(at, b"\0") + data + content[at + len(data) :]


def spoil(operation, rng):
    """Return a write that reached the disk in part, as zeros, or not at all."""
    kind, at, data = operation
    size = rng.randrange(len(data) + 1)
    return (
        kind,
        at,
        rng.choice([data[:size], bytes(len(data)), data[:size].ljust(len(data), b"\0")]),
    )


class Disk:
    """The files below a folder, by the calls that were made: ``now``, and after a power cut."""

    def __init__(self, root):
        self.nodes = {}
        self.load(root)

    def load(self, path):
        number = len(self.nodes)
        self.nodes[number] = None
        if path.is_dir():
            content = {child.name: self.load(child) for child in sorted(path.iterdir())}
        else:
            content = path.read_bytes()
        self.nodes[number] = Node(content)
        return number

    def do(self, event):
        kind, number, *rest = event
        match kind:
            case "create":
                name, made, empty = rest
                self.nodes[made] = Node(empty)
                self.nodes[number].do(("name", (), {name: made}))
            case "rename":
                name, target, new = rest
                moved = self.nodes[number].now[name]
                if number == target:
                    self.nodes[number].do(("name", (name,), {new: moved}))
                else:
                    self.nodes[target].do(("name", (), {new: moved}))
                    self.nodes[number].do(("name", (name,), {}))
            case "remove":
                self.nodes[number].do(("name", (rest[0],), {}))
            case "sync":
                self.nodes[number].sync()
            case "write" | "truncate":
                self.nodes[number].do((kind, *rest))

    def write_to(self, path, contents, number=0):
        if isinstance(contents[number], dict):
            path.mkdir()
            for name, child in contents[number].items():
                self.write_to(path / name, contents, child)
        else:
            path.write_bytes(contents[number])


class Recorder:
    """Records the calls that change files below a folder, and the steps whose save returned."""

    CALLS = ("open", "close", "write", "fsync", "ftruncate", "rename", "replace", "mkdir", "unlink")

    def __init__(self, root):
        self.root, self.disk, self.events = root.resolve(), Disk(root), []
        self.descriptors, self.offsets = {}, {}
        self.real = {name: getattr(os, name) for name in (*self.CALLS, "rmdir")}

    def __enter__(self):
        for name in self.CALLS:
            setattr(os, name, getattr(self, name))
        os.rmdir = self.unlink_by("rmdir")
        save = self.save = RunDir.save

        def saved(run, step, *args, **options):
            path = save(run, step, *args, **options)
            self.events.append(("saved", step))
            return path

        RunDir.save = saved
        return self

    def __exit__(self, *_):
        for name, function in self.real.items():
            setattr(os, name, function)
        RunDir.save = self.save

    def note(self, *event):
        self.events.append(event)
        self.disk.do(event)

    def find(self, path, dir_fd=None):
        """Return the folder's number and the name, or None for what is outside or not kept."""
        if Path(path).name in NOT_KEPT:
            return None
        if dir_fd is not None:
            folder = self.descriptors.get(dir_fd)
            return None if folder is None else (folder, os.fspath(path))
        full = Path(path).absolute()
        if not full.is_relative_to(self.root) or full == self.root:
            return (None, "") if full == self.root else None
        number = 0
        for part in full.relative_to(self.root).parts[:-1]:
            number = self.disk.nodes[number].now.get(part)
            if number is None:
                return None
        return number, full.name

    def open(self, path, flags, mode=0o777, *, dir_fd=None):
        descriptor = self.real["open"](path, flags, mode, dir_fd=dir_fd)
        self.descriptors.pop(descriptor, None)
        place = self.find(path, dir_fd)
        if place is None:
            return descriptor
        folder, name = place
        number = 0 if folder is None else self.disk.nodes[folder].now.get(name)
        if number is None and flags & os.O_CREAT:
            number = len(self.disk.nodes)
            self.note("create", folder, name, number, b"")
        if number is not None:
            self.descriptors[descriptor] = number
            self.offsets[descriptor] = None if flags & os.O_APPEND else 0
        return descriptor

    def close(self, descriptor):
        self.descriptors.pop(descriptor, None)
        self.real["close"](descriptor)

    def write(self, descriptor, data):
        written = self.real["write"](descriptor, data)
        number = self.descriptors.get(descriptor)
        if number is not None:
            at = self.offsets[descriptor]
            if at is None:
                at = len(self.disk.nodes[number].now)
            else:
                self.offsets[descriptor] += written
            self.note("write", number, at, bytes(data)[:written])
        return written

    def fsync(self, descriptor):
        self.real["fsync"](descriptor)
        if descriptor in self.descriptors:
            self.note("sync", self.descriptors[descriptor])

    def ftruncate(self, descriptor, size):
        self.real["ftruncate"](descriptor, size)
        if descriptor in self.descriptors:
            self.note("truncate", self.descriptors[descriptor], size, b"")

    def rename(self, old, new, **options):
        self.real["replace"](old, new, **options)
        here, there = self.find(old), self.find(new)
        if here and there:
            self.note("rename", *here, *there)

    replace = rename

    def mkdir(self, path, mode=0o777, *, dir_fd=None):
        self.real["mkdir"](path, mode, dir_fd=dir_fd)
        if place := self.find(path, dir_fd):
            self.note("create", *place, len(self.disk.nodes), {})

    def unlink(self, path, *, dir_fd=None):
        self.unlink_by("unlink")(path, dir_fd=dir_fd)

    def unlink_by(self, name):
        def remove(path, *, dir_fd=None):
            self.real[name](path, dir_fd=dir_fd)
            if place := self.find(path, dir_fd):
                self.note("remove", *place)

        return remove


def finished(folder):
    small_runs.start(folder / "x", steps=14)


def damaged(folder):
    small_runs.start_and_stop(folder / "x", 15)
    newest = max((folder / "x/checkpoints").iterdir()) / "tensors.safetensors"
    data = bytearray(newest.read_bytes())
    data[-1] ^= 1
    newest.write_bytes(data)


def deep(folder):
    return small_runs.start(folder / "new/runs/x")


def begin(folder):
    return small_runs.start(folder / "x")


def results_of(name):
    return lambda folder: small_runs.run_results(folder / name)


RUN = (begin, results_of("x"))
SCENARIOS = {
    "fresh run": (lambda _: None, deep, results_of("new/runs/x")),
    "resume": (lambda folder: small_runs.start_and_stop(folder / "x", 11), *RUN),
    "resume before a checkpoint": (
        lambda folder: small_runs.start_and_stop(folder / "x", 3),
        *RUN,
    ),
    "extend": (finished, *RUN),
    "restart": (begin, *RUN),
    "damaged newest": (damaged, *RUN),
    "final save": (lambda folder: small_runs.start_and_stop(folder / "x", 19), *RUN),
    "job of a sweep": (lambda _: None, small_runs.sweep, small_runs.sweep_results),
}


@contextlib.contextmanager
def resumed_steps():
    """Yield a list of the steps that runs go on from."""
    real, steps = RunDir.resume, []

    def resume(run):
        found = real(run)
        steps.append(found.step if found else 0)
        return found

    RunDir.resume = resume
    try:
        yield steps
    finally:
        RunDir.resume = real


class Scenario:
    """A recorded act, and what it must end in."""

    def __init__(self, name, folder):
        self.name, self.folder = name, folder
        prepare, self.act, self.results = SCENARIOS[name]
        folder.mkdir(parents=True)
        self.before, work = folder / "before", folder / "work"
        self.before.mkdir()
        prepare(self.before)
        shutil.copytree(self.before, work)
        with Recorder(work) as recorder:
            self.act(work)
        self.events = recorder.events
        self.expected = self.results(work)
        self.check(recorder.disk, work)
        self.numbers = itertools.count()
        shutil.rmtree(work)

    def check(self, disk, work):
        """The recorded calls must explain every file: else something writes past the record."""
        copy = self.folder / "copy"
        disk.write_to(copy, {number: node.now for number, node in disk.nodes.items()})
        there, here = (
            {p.relative_to(f): p.read_bytes() for p in f.rglob("*") if p.is_file()}
            for f in (work, copy)
        )
        unknown = [
            str(path)
            for path in there.keys() | here.keys()
            if there.get(path) != here.get(path) and path.name not in NOT_KEPT
        ]
        if unknown:
            sys.exit(f"{self.name}: not explained by the recorded calls: {', '.join(unknown)}")
        shutil.rmtree(copy)

    def cut(self, rng):
        """Cut the power once and start again; return what is wrong, if anything, and where."""
        moment, mode = rng.randrange(len(self.events) + 1), rng.choice(MODES)
        disk, floor = Disk(self.before), 0
        for event in self.events[:moment]:
            if event[0] == "saved":
                floor = event[1]
            else:
                disk.do(event)
        contents = {n: node.after_cut(mode, rng) for n, node in disk.nodes.items()}
        state = self.folder / f"state-{next(self.numbers)}"
        disk.write_to(state, contents)
        for holder in state.rglob(HOLDER):  # the machine was started anew
            with contextlib.suppress(Exception):
                write_json(holder, read_json(holder) | {"boot": "another"})
        wrong = self.recover(state, floor)
        if not wrong:
            shutil.rmtree(state)
        return wrong and f"{self.name}, call {moment}, {mode}, {state}: {wrong}", mode

    def recover(self, state, floor):
        try:
            with resumed_steps() as steps:
                self.act(state)
            found = self.results(state)
        except Exception as error:  # noqa: BLE001  whatever it is, the state was not recovered
            return f"{type(error).__name__}: {error}"
        if self.name != "job of a sweep" and steps[0] < floor:
            return f"went on from step {steps[0]}, though the checkpoint at {floor} was complete"
        names = [n for n in {*found, *self.expected} if found.get(n) != self.expected.get(n)]
        return f"other bytes in {', '.join(names)}" if names else None


def campaign(states, seed, folder, say=lambda _: None):
    """Cut the power so many times; return the counts and the states that were not recovered."""
    rng = random.Random(seed)
    scenarios = [Scenario(name, folder / str(i)) for i, name in enumerate(SCENARIOS)]
    wrong, modes, cuts = [], Counter(), Counter()
    for number in range(states):
        scenario = scenarios[number % len(scenarios)]
        problem, mode = scenario.cut(rng)
        modes[mode] += 1
        cuts[scenario.name] += 1
        if problem:
            wrong.append(problem)
            say(problem)
        if not (number + 1) % 50:
            say(f"states={number + 1} lost={len(wrong)}")
    calls = {scenario.name: len(scenario.events) for scenario in scenarios}
    return {"states": states, "lost": len(wrong), "calls": calls, "modes": dict(modes)}, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    begun = time.monotonic()
    with small_runs.scratch() as folder:
        counts, wrong = campaign(arguments.states, arguments.seed, Path(folder), print)
    counts |= {"seed": arguments.seed, "seconds": round(time.monotonic() - begun)}
    print(f"states={counts['states']} lost={counts['lost']}")
    print(json.dumps(counts))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
