"""``lff verify FOLDER``: compare every byte of a run or of results with its hash."""

import sys
from collections import Counter
from pathlib import Path

import tyro

from lff.core.errors import ExitCode
from lff.experiments.verify import verify


def verify_command(folder: tyro.conf.Positional[Path], /, *, all: bool = False) -> None:
    """Check every file of a run, of a job or of results; exit code 74 if one is damaged.

    Args:
        folder: a run directory, a job's folder, or a folder of results or of jobs.
        all: also name the files that are right, and those without a hash.
    """
    found = verify(folder)
    for finding in found:
        if finding.state == "damaged" or all:
            print(f"{finding.state}: {finding.why or finding.path}")
    counts = Counter(finding.state for finding in found)
    print(
        f"{folder}: {counts['ok']} right, {counts['damaged']} damaged, {counts['no hash']} "
        "without a hash"
    )
    if counts["damaged"]:
        sys.exit(ExitCode.IO)
