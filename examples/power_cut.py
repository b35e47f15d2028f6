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
import random
import shutil
import sys
import time
from collections import Counter
from pathlib import Path

import small_runs
from simulated_disk import MODES, Disk, Recorder

from lff.store import RunDir


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
        unknown = disk.unexplained(work, self.folder / "copy")
        if unknown:
            sys.exit(f"{self.name}: not explained by the recorded calls: {', '.join(unknown)}")

    def cut(self, rng):
        """Cut the power once and start again; return what is wrong, if anything, and where."""
        moment, mode = rng.randrange(len(self.events) + 1), rng.choice(MODES)
        disk, floor = Disk(self.before), 0
        for event in self.events[:moment]:
            if event[0] == "saved":
                floor = event[1]
            else:
                disk.do(event)
        state = self.folder / f"state-{next(self.numbers)}"
        disk.cut(state, mode, rng)
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
