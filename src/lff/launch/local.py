"""Jobs on this machine: a pool of processes, one thread each.

Workers are reused for short jobs, so that a job of a second does not pay for a start of Python; one
that has worked for a while is replaced, so that nothing accumulates.  A job that fails is
reported and the others continue; the job of a worker that is killed continues, from its checkpoint,
in another.
"""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from lff.core.config import digest, to_dict
from lff.core.errors import ExitCode, InterruptedRunError
from lff.core.imports import child_imports
from lff.launch.job import packages_of
from lff.launch.records import OUTCOME

THREADS = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""One thread for each job: no oversubscription."""
FRESH_AFTER = 60.0  # seconds of work after which a worker is replaced
TRIES = 20  # how often a job is started again after its worker was killed
PATIENCE = 30.0  # seconds that workers are given to write their checkpoints when all is to stop
STOPPED = "stopped; run the same command to continue"
WAIT = 0.5
BUSY_WAIT = 2.0  # seconds after which a job that another launcher runs is looked at again


@dataclass
class Task:
    """A job and its state."""

    digest: str
    job: Any
    state: str = "waiting"
    """waiting, running, done, failed"""
    tries: int = 0
    code: int = 0
    not_before: float = 0.0


@dataclass
class _Worker:
    process: subprocess.Popen[bytes]
    task: Task | None = None
    begun: float = 0.0
    worked: float = 0.0
    text: bytes = b""


Show = Callable[[Sequence[Task]], None]


class Workers(Protocol):
    """Whatever takes tasks: the pool of processes here, or Ray."""

    @property
    def busy(self) -> int:
        """How many have a job."""

    @property
    def free(self) -> int:
        """How many more jobs could run."""

    def give(self, task: Task, request: str) -> None:
        """Hand over a task; its request is for :func:`lff.launch.worker.run_request`."""

    def wait(self, seconds: float) -> list[tuple[Task, int]]:
        """Wait for answers and deaths; return the jobs that ended, with their exit codes."""


def launch(
    jobs: Sequence[Any], root: Path, *, workers: int, show: Show | None = None
) -> list[Task]:
    """Run jobs below ``root/jobs``, so many at a time; return the state of each.

    With 0 workers they run in this process, one after the other, and an error is raised.

    Raises:
        InterruptedRunError: a signal came; every running job was asked to write a checkpoint.
    """
    tasks = make_tasks(jobs, root / "jobs")
    stopping = False

    def stop(*_: object) -> None:
        nonlocal stopping
        if not stopping:
            stopping = True
            raise InterruptedRunError(STOPPED)

    if workers == 0:
        _run_here(tasks, root, show or (lambda _: None))
    else:
        with handle_signals(stop), Pool(workers) as pool:
            run_tasks(pool, tasks, root / "jobs", show)
    return tasks


def _run_here(tasks: Sequence[Task], root: Path, show: Show) -> None:
    from lff.launch.worker import run_here  # torch, which a launcher of processes does not need

    for task in tasks:
        task.state = "running"
        show(tasks)
        run_here(task.job, root / "jobs" / task.digest)
        task.state = "done"
    show(tasks)


def make_tasks(jobs: Sequence[Any], folder: Path) -> list[Task]:
    """Return a task for each different job, in their order; those with an outcome are done."""
    unique = {digest(job): job for job in jobs}
    done = {name for name in unique if (folder / name / OUTCOME).exists()}
    return [Task(name, job, "done" if name in done else "waiting") for name, job in unique.items()]


def run_tasks(workers: Workers, tasks: Sequence[Task], folder: Path, show: Show | None) -> None:
    """Give waiting tasks to workers until all have ended; each runs below ``folder``."""
    show = show or (lambda _: None)
    waiting = [task for task in tasks if task.state == "waiting"]
    while waiting or workers.busy:
        now = time.monotonic()
        for task in [t for t in waiting if t.not_before <= now][: workers.free]:
            waiting.remove(task)
            task.tries += 1
            request = {"job": to_dict(task.job), "folder": str(folder / task.digest)}
            workers.give(task, json.dumps(request | {"trust": packages_of(task.job)}))
        for task, code in workers.wait(WAIT):
            if _again(task, code):
                waiting.insert(0, task)
        show(tasks)
    show(tasks)


def _again(task: Task, code: int) -> bool:
    """Record how a job ended; return whether it must be started again."""
    again = (code < 0 or code == ExitCode.INTERRUPTED) and task.tries < TRIES
    if code == ExitCode.BUSY:  # another launcher runs it, or a dead node's lock lives on
        again, task.tries, task.not_before = True, task.tries - 1, time.monotonic() + BUSY_WAIT
    task.code, task.state = code, "waiting" if again else "failed" if code else "done"
    return again


@contextlib.contextmanager
def handle_signals(handler: Callable[..., None]) -> Iterator[None]:
    """Call ``handler`` on SIGINT and SIGTERM; within a thread the caller handles them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    old = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, before in old.items():
            signal.signal(number, before)


class Pool:
    """Worker processes that take one job at a time.  A context manager: none outlives it."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._workers: list[_Worker] = []
        self._selector = selectors.DefaultSelector()

    @property
    def busy(self) -> int:
        return sum(worker.task is not None for worker in self._workers)

    @property
    def free(self) -> int:
        return self.size - self.busy

    def give(self, task: Task, request: str) -> None:
        """Hand a request to an idle worker, or to a new one."""
        idle = [worker for worker in self._workers if worker.task is None]
        worker = idle[0] if idle else self._start()
        task.state = "running"
        worker.task, worker.begun = task, time.monotonic()
        assert worker.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # if it died just now, wait() will notice
            worker.process.stdin.write(request.encode() + b"\n")
            worker.process.stdin.flush()

    def wait(self, seconds: float) -> list[tuple[Task, int]]:
        ended = []
        for key, _ in self._selector.select(seconds):
            worker: _Worker = key.data
            chunk = os.read(key.fd, 65536)
            worker.text += chunk
            if not chunk:
                code = self._bury(worker)
                if worker.task is not None:
                    ended.append((worker.task, code))
            elif b"\n" in worker.text:
                line, _, worker.text = worker.text.partition(b"\n")
                if worker.task is not None:
                    ended.append((worker.task, int(line)))
                worker.task = None
                worker.worked += time.monotonic() - worker.begun
                if worker.worked > FRESH_AFTER:
                    self._dismiss(worker)
        return ended

    def _start(self) -> _Worker:
        process = subprocess.Popen(
            [sys.executable, "-m", "lff.launch.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **THREADS, **child_imports()},
            start_new_session=True,  # ctrl-C is for the launcher, which stops the others
        )
        worker = _Worker(process)
        assert process.stdout is not None
        self._selector.register(process.stdout, selectors.EVENT_READ, worker)
        self._workers.append(worker)
        return worker

    def _bury(self, worker: _Worker) -> int:
        self._selector.unregister(worker.process.stdout)  # type: ignore[arg-type]
        self._workers.remove(worker)
        code = worker.process.wait()
        worker.process.stdout.close()  # type: ignore[union-attr]
        with contextlib.suppress(BrokenPipeError):
            worker.process.stdin.close()  # type: ignore[union-attr]
        return code if code else -signal.SIGKILL

    def _dismiss(self, worker: _Worker) -> None:
        worker.process.stdin.close()  # type: ignore[union-attr]
        self._bury(worker)

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *_: object) -> None:
        """Ask every worker to stop with a checkpoint, wait, then end those that remain."""
        for worker in self._workers:
            if worker.task is None:
                worker.process.stdin.close()  # type: ignore[union-attr]
            else:
                worker.process.terminate()
        deadline = time.monotonic() + PATIENCE
        for worker in [*self._workers]:
            try:
                worker.process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                worker.process.kill()
            self._bury(worker)
        self._selector.close()
