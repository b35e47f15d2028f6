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
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor

from lff.core.errors import CorruptError
from lff.launch.job import JobRow
from lff.store import load_latest, save
from lff.store.checkpoint import CHECKPOINTS
from lff.training.loop import to_arrays, to_tensors

EVERY = 20.0
"""Seconds between two checkpoints: this much work is lost by a kill, at most."""
STATE, ROWS = "state/", "rows/"


class Stateful(Protocol):
    """Anything that is a dict of tensors between two steps, such as a ``Learner``."""

    def state(self) -> Mapping[str, Tensor]:
        """Return all that the next steps depend on."""
        ...

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Continue from a state."""
        ...


class Resumable:
    """The rows of a job so far and the step that it is at; both survive a kill."""

    def __init__(self, folder: Path | None, what: Stateful, *, every: float | None = None) -> None:
        """Restore ``what`` from the newest checkpoint in the folder, if there is one.

        No folder: nothing is read or written.  ``every``: seconds between checkpoints.
        """
        self.folder = folder
        self.what = what
        self.every = EVERY if every is None else every
        self.step = 0
        """Steps that are done."""
        self.rows: list[JobRow] = []
        """What was measured in them."""
        self._saved = time.monotonic()
        checkpoint = None if folder is None else load_latest(folder)
        if checkpoint is not None:
            state = to_tensors(checkpoint.arrays, STATE)
            wanted = {*what.state()}
            if {*state} != wanted:
                odd = ", ".join(sorted({*state} ^ wanted)[:3])
                raise CorruptError(
                    f"{checkpoint.path} is of another version of this job ({odd}); remove {folder}"
                )
            what.restore(state)
            self.step = checkpoint.step
            self.rows = _unpack(to_tensors(checkpoint.arrays, ROWS), checkpoint.meta["metrics"])

    def at(self, step: int) -> None:
        """Say that ``step`` steps are done; save if the last time is long ago."""
        self.step = step
        if self.folder is not None and time.monotonic() - self._saved >= self.every:
            self.save()

    def save(self) -> None:
        """Write a checkpoint."""
        if self.folder is None:
            return
        metrics = list(dict.fromkeys(row.metric for row in self.rows))
        tensors = {STATE + name: value for name, value in self.what.state().items()}
        tensors |= {ROWS + name: value for name, value in _pack(self.rows, metrics).items()}
        save(self.folder, self.step, to_arrays(tensors), {"metrics": metrics})
        self._saved = time.monotonic()

    def finish(self) -> list[JobRow]:
        """Remove the checkpoints and return all rows.

        A kill between this and the launcher's outcome runs the job again from its start.
        """
        if self.folder is not None and (self.folder / CHECKPOINTS).is_dir():
            # under another name first: half of a checkpoint would be taken for a damaged one
            gone = self.folder / f"{CHECKPOINTS}.done"
            shutil.rmtree(gone, ignore_errors=True)
            (self.folder / CHECKPOINTS).rename(gone)
            shutil.rmtree(gone)
        return self.rows


def _pack(rows: Sequence[JobRow], metrics: Sequence[str]) -> dict[str, Tensor]:
    """Return rows as columns: a float64 tensor keeps every bit, NaN and infinity too."""
    place = {metric: i for i, metric in enumerate(metrics)}
    whole = [(row.seed, row.step, place[row.metric]) for row in rows]
    return {
        "places": torch.tensor(whole, dtype=torch.int64).reshape(-1, 3),
        "values": torch.tensor([row.value for row in rows], dtype=torch.float64),
    }


def _unpack(columns: Mapping[str, Tensor], metrics: Sequence[str]) -> list[JobRow]:
    places, values = columns["places"].tolist(), columns["values"].tolist()
    return [
        JobRow(seed, step, metrics[metric], value)
        for (seed, step, metric), value in zip(places, values, strict=True)
    ]
