"""Runs one job in its directory; the same code under every launcher.

A job's directory is named by its digest.  ``outcome.json`` is written last: a directory that has it
is done for good, any other is run again and goes on where it stopped.

    python -m lff.launch.worker          reads jobs as JSON lines, answers with one line each
"""

import csv
import io
import json
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from lff.core.config import to_dict
from lff.core.errors import RunError
from lff.core.exit_codes import ExitCode, exit_code
from lff.launch.files import JOB, LOG, OUTCOME, PROGRESS, TABLE
from lff.launch.job import DIVERGED, JobRow, has_diverged, job_from_dict
from lff.store import RunLock, write_bytes, write_json

TOLD_EVERY = 0.5
"""Seconds between two notes of progress."""


def run_job(data: Mapping[str, Any], folder: Path) -> int:
    """Run a job, given as JSON data, to its end in ``folder``; return an exit code.

    What it prints goes to ``log.txt``, and so does what stops it.
    """
    if (folder / OUTCOME).exists():
        return ExitCode.OK
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOG).open("a", buffering=1) as log:
        try:
            with redirect_stdout(log), redirect_stderr(log), RunLock(folder):
                _run(data, folder)
        except RunError as error:
            print(error, file=log)
            return exit_code(error)
        except Exception as error:  # noqa: BLE001  whatever it is, the log must have it
            traceback.print_exc(file=log)
            return exit_code(error)
    return ExitCode.OK


def _run(data: Mapping[str, Any], folder: Path) -> None:
    if (folder / OUTCOME).exists():  # somebody else was faster
        return
    job = job_from_dict(data)
    write_json(folder / JOB, to_dict(job))
    rows = list(job.run(folder, _teller(folder)))
    write_bytes(folder / TABLE, table_bytes(rows))
    outcome = DIVERGED if has_diverged(rows) else "finished"
    write_json(folder / OUTCOME, {"outcome": outcome})
    (folder / PROGRESS).unlink(missing_ok=True)


def table_bytes(rows: Iterable[JobRow]) -> bytes:
    """Return a job's numbers as CSV, exact to the last bit."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(JobRow._fields)
    writer.writerows([row.seed, row.step, row.metric, repr(float(row.value))] for row in rows)
    return text.getvalue().encode()


def read_job_table(folder: Path) -> list[JobRow]:
    """Read what :func:`table_bytes` wrote."""
    with (folder / TABLE).open(newline="") as file:
        lines = csv.reader(file)
        next(lines)
        return [JobRow(int(seed), int(step), name, float(v)) for seed, step, name, v in lines]


def _teller(folder: Path) -> Any:
    last = 0.0

    def tell(fraction: float, seen: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < TOLD_EVERY:
            return
        last = now
        temporary = folder / f".{PROGRESS}"
        temporary.write_text(json.dumps({"fraction": fraction, "seen": seen}))
        temporary.replace(folder / PROGRESS)  # not durable, and need not be

    return tell


def serve() -> None:
    """Answer requests of a launcher until it closes the pipe; if it dies, stop with a checkpoint.

    A request is ``{"job": …, "folder": …}``.
    """
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # a library's print must not be an answer
    lines: list[str] = []
    arrived = threading.Condition()

    def listen() -> None:
        for line in sys.stdin:
            with arrived:
                lines.append(line)
                arrived.notify()
        with arrived:
            lines.append("")
            arrived.notify()
        os.kill(os.getpid(), signal.SIGTERM)  # a training run writes a checkpoint and stops

    threading.Thread(target=listen, daemon=True).start()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(ExitCode.INTERRUPTED))
    while True:
        with arrived:
            arrived.wait_for(lambda: lines)
            line = lines.pop(0)
        if not line:
            return
        request = json.loads(line)
        print(
            json.dumps({"code": int(run_job(request["job"], Path(request["folder"])))}),
            file=answers,
        )


if __name__ == "__main__":
    serve()
