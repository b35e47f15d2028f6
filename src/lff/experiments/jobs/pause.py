"""The job that does nothing: what launchers cost, and what they survive, is measured with it."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from lff.core.checks import Config, Scale
from lff.launch.job import JobRow, Report


@dataclass(frozen=True)
class PauseJob(Config):
    """Sleep and return."""

    tag: ClassVar[str] = "pause"

    seconds: Scale = 0.0
    number: int = 0
    """Makes jobs different from one another."""

    def run(self, _folder: Path, report: Report) -> Iterable[JobRow]:
        end = time.monotonic() + self.seconds
        while (left := end - time.monotonic()) > 0:
            report(1 - left / self.seconds, "asleep")
            time.sleep(min(left, 0.1))
        return [JobRow(0, 0, "number", float(self.number))]
