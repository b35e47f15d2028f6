"""Worker: runs one job in its directory; the same code under every launcher.

A job's directory is named by its digest.  ``outcome.json`` is written last: a directory that has it
is finished, any other is run again and continues from its checkpoint.

    python -m lff.launch.worker          reads jobs as JSON lines, answers with one line each
"""

import json
import os
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Collection, Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from lff.core.config import to_dict
from lff.core.errors import ExitCode, MissingExtraError, RunError, StorageError, exit_code
from lff.launch.job import DIVERGED, Job, has_diverged, job_from_dict
from lff.launch.records import FILES, JOB, OUTCOME, PROGRESS, TABLE, open_log, origin, table_bytes
from lff.store import RunLock, make_folder, read_json, write_bytes, write_json
from lff.store.atomic import dumps, read_bytes, seal, sha256, unseal
from lff.training.run import versions

REPORT_EVERY = 0.5  # seconds between two notes of progress


def run_job(data: Mapping[str, Any], folder: Path, *, trust: Collection[str] = ()) -> int:
    """Run a job, given as JSON data, to its end in ``folder``; return an exit code.

    Its output and the error that stops it go to ``log.txt``.  ``trust`` names the packages of the
    user's own classes, as the launcher was given them.
    """
    if (folder / OUTCOME).exists():
        return ExitCode.OK
    with open_log(folder) as log:
        try:
            with redirect_stdout(log), redirect_stderr(log), RunLock(folder):
                _run(job_from_dict(data, trust=trust), folder)
        except (RunError, MissingExtraError) as error:
            print(error, file=log)
            return exit_code(error)
        except Exception as error:  # noqa: BLE001  whatever it is, the log must have it
            traceback.print_exc(file=log)
            return exit_code(error)
    return ExitCode.OK


def run_request(request: str) -> int:
    """Run what a launcher asks for, ``{"job": …, "folder": …, "trust": […]}``."""
    data = json.loads(request)
    return int(run_job(data["job"], Path(data["folder"]), trust=data["trust"]))


def run_here(job: Job, folder: Path) -> None:
    """Run a job in this process, as for a notebook or a debugger; its errors are raised."""
    if not (folder / OUTCOME).exists():
        make_folder(folder)
        with RunLock(folder):
            _run(job, folder)


def _run(job: Job, folder: Path) -> None:
    if (folder / OUTCOME).exists():  # another launcher was faster
        return
    write_json(folder / JOB, to_dict(job))
    progress = _Progress(folder)
    rows = list(job.run(folder, progress.report))
    write_bytes(folder / TABLE, table_bytes(rows))
    hashes = {name: sha256(read_bytes(folder / name)) for name in FILES if (folder / name).exists()}
    outcome = {
        "outcome": DIVERGED if has_diverged(rows) else "finished",
        "seconds": round(progress.seconds, 1),
        "versions": versions(),
        "files": hashes,
        **origin(),
    }
    write_json(folder / OUTCOME, seal(outcome))
    (folder / PROGRESS).unlink(missing_ok=True)


class _Progress:
    """Progress of a job in its folder, with the seconds of the attempts before this one."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / PROGRESS
        self._written = 0.0
        self._start = time.monotonic() - self._before()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._start

    def report(self, fraction: float, text: str) -> None:
        now = time.monotonic()
        if now - self._written < REPORT_EVERY:
            return
        self._written = now
        note = seal({"fraction": fraction, "text": text, "seconds": self.seconds})
        temporary = self._path.with_name(f".{PROGRESS}")
        temporary.unlink(missing_ok=True)
        temporary.write_bytes(dumps(PROGRESS, note))
        temporary.replace(self._path)  # not durable, and need not be

    def _before(self) -> float:
        try:
            return float(unseal(read_json(self._path), self._path)["seconds"])
        except (StorageError, ValueError, LookupError, TypeError):
            return 0.0


def serve() -> None:
    """Answer a launcher's requests until it closes the pipe; if it dies, stop with a checkpoint."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # a library's print must not be an answer
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()

    def listen() -> None:
        for line in sys.stdin:
            lines.put(line)
        lines.put("")
        os.kill(os.getpid(), signal.SIGTERM)  # a training run writes a checkpoint and stops

    threading.Thread(target=listen, daemon=True).start()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(ExitCode.INTERRUPTED))
    while line := lines.get():
        print(run_request(line), file=answers)


if __name__ == "__main__":
    serve()
