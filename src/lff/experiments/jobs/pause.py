"""The job that does nothing: what launchers cost, and what they survive, is measured with it."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from lff.core.checks import check_scale, check_size
from lff.launch.job import JobRow, Report


@dataclass(frozen=True)
class PauseJob:
    """Sleep and return."""

    tag: ClassVar[str] = "pause"

    seconds: float = 0.0
    """How long."""
    number: int = 0
    """Makes jobs different from one another."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        check_scale("seconds", self.seconds)
        check_size("number", self.number + 1)

    def run(self, folder: Path, report: Report) -> Iterable[JobRow]:
        """Sleep; the row says which job it was."""
        del folder
        end = time.monotonic() + self.seconds
        while (left := end - time.monotonic()) > 0:
            report(1 - left / self.seconds, "asleep")
            time.sleep(min(left, 0.1))
        return [JobRow(0, 0, "number", float(self.number))]
