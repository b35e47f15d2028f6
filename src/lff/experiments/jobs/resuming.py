"""Resumable jobs: rows and state in checkpoints, the same rows to the last bit after a kill.

    kept = Resumable(folder, learner)              # learner is where the newest checkpoint left it
    while kept.step < steps:
        learner.update(...)
        kept.rows += look(...)                # if it is time to look
        kept.at(kept.step + 1)                # and save now and then
    return kept.finish()

A checkpoint holds what training depends on, the rows so far and the step.  When one is written is a
matter of the clock; what the rows are is not, as long as all randomness of a step comes from the
state and nothing that was drawn before :meth:`Resumable.at` is used after it.
"""

import shutil
import time
from pathlib import Path

from lff.core.errors import CorruptError
from lff.launch.job import JobRow
from lff.store import load_latest, save
from lff.store.checkpoint import CHECKPOINTS
from lff.tabular.learner import Learner
from lff.training.loop import to_arrays, to_tensors

EVERY = 20.0  # seconds between two checkpoints: this much work is lost by a kill, at most


class Resumable:
    """The rows of a job so far and the step that it is at; both survive a kill."""

    def __init__(self, folder: Path, learner: Learner) -> None:
        """Restore the learner from the newest checkpoint in the folder, if there is one."""
        self.folder, self.learner = folder, learner
        self.step = 0
        """Steps that are done."""
        self.rows: list[JobRow] = []
        """What was measured in them."""
        self._saved = time.monotonic()
        checkpoint = load_latest(folder)
        if checkpoint is not None:
            state = to_tensors(checkpoint.arrays, "")
            odd = sorted({*state} ^ {*learner.state()})[:3]
            if odd:
                reason = f"of another version of this job ({', '.join(odd)})"
                raise CorruptError(f"{checkpoint.path} is {reason}; remove {folder}")
            learner.restore(state)
            self.step = checkpoint.step
            self.rows = [JobRow(a, b, c, float(d)) for a, b, c, d in checkpoint.meta["rows"]]

    def at(self, step: int) -> None:
        """Say that ``step`` steps are done; save if the last time is long ago."""
        self.step = step
        if time.monotonic() - self._saved >= EVERY:
            self.save()

    def save(self) -> None:
        """Write a checkpoint; the text of a value keeps every bit, NaN and infinity too."""
        rows = [[*row[:3], repr(row.value)] for row in self.rows]
        save(self.folder, self.step, to_arrays(self.learner.state()), {"rows": rows})
        self._saved = time.monotonic()

    def finish(self) -> list[JobRow]:
        """Remove the checkpoints and return all rows.

        A kill between this and the launcher's outcome runs the job again from its start.
        """
        if (self.folder / CHECKPOINTS).is_dir():
            # under another name first: half of a checkpoint would be taken for a damaged one
            gone = self.folder / f"{CHECKPOINTS}.done"
            shutil.rmtree(gone, ignore_errors=True)
            (self.folder / CHECKPOINTS).rename(gone)
            shutil.rmtree(gone)
        return self.rows
