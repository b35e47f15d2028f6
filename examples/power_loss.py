"""A process that loses its power at some call to the system, for faults that follow one another.

Unlike in ``power_cut.py`` the process is a real one, and what it leaves may be killed, damaged or
cut again.  What stands in its folder at its start counts as synced.
"""

import atexit
import json
import os
import random
import shutil
import signal
from pathlib import Path

from simulated_disk import MODES, Recorder

from lff.store import RunDir

CODE = "import power_loss; power_loss.{}(*{!r})"


def cut_code(root, call, seed):
    """Return what a process executes first, to lose its power at a call that changes ``root``."""
    return CODE.format("lose_power", (str(root), call, seed))


def probe_code(note):
    """Return what a process executes first, to note where its run goes on, and be killed there."""
    return CODE.format("stop_after_resume", (str(note),))


def lose_power(root, call, seed):
    """Record the calls of this process; at the given one, or at the end, cut its power."""
    loss = PowerLoss(Path(root), call, random.Random(seed))
    loss.__enter__()
    atexit.register(loss.cut)


def watch_resume(then):
    """Call ``then(step)`` when a run has found where it goes on."""
    real = RunDir.resume

    def resume(run):
        found = real(run)
        then(found.step if found else 0)
        return found

    RunDir.resume = resume


def stop_after_resume(note):
    def stop(step):
        Path(note).write_text(str(step))
        die()

    watch_resume(stop)


def die():
    os.kill(os.getpid(), signal.SIGKILL)


class PowerLoss(Recorder):
    """A recorder that cuts the power: the state of the disk is left beside it, the process dies."""

    def __init__(self, root, call, rng):
        super().__init__(root)
        self.call, self.rng, self.floor = call, rng, 0

    def __enter__(self):
        watch_resume(self.reach)
        return super().__enter__()

    def reach(self, step):
        """Keep a step that no power cut may take back."""
        self.floor = step

    def note(self, *event):
        super().note(*event)
        self.call -= 1
        if not self.call:
            self.cut()

    def cut(self):
        self.__exit__()
        self.floor = max([self.floor, *(e[1] for e in self.events if e[0] == "saved")])
        state, mode = state_of(self.root), self.rng.choice(MODES)
        unexplained = self.disk.unexplained(self.root, state)
        self.disk.cut(state, mode, self.rng)
        left = {"mode": mode, "floor": self.floor, "unexplained": unexplained}
        note_of(self.root).write_text(json.dumps(left))
        die()


def state_of(root):
    return root.with_name(f"{root.name}-after")


def note_of(root):
    return root.with_name(f"{root.name}.json")


def take_state(root):
    """Put the state that a power cut left in the folder's place; return what is known of it."""
    note = json.loads(note_of(root).read_text())
    if note["unexplained"]:
        raise SystemExit(f"{root}: not explained by the recorded calls: {note['unexplained']}")
    note_of(root).unlink()
    shutil.rmtree(root)
    state_of(root).rename(root)
    return note
