"""Jobs on Ray: on this machine, or on a cluster whose nodes share the folder of the results.

A job is a Ray task that is given strings: the job as JSON, its folder, the packages of the user's
own classes, and returns an exit code; nothing of ours is pickled.  When a worker or a node dies,
Ray starts the task elsewhere and it continues from its checkpoint.  A cluster that is started here
listens on 127.0.0.1 alone, asks for a token that lies in a private folder, and ends with the jobs.
"""

import atexit
import functools
import importlib.util
import json
import math
import os
import secrets
import shutil
import signal
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lff.core.config import to_dict
from lff.core.errors import BadInputError, ExitCode, InterruptedRunError, RunError
from lff.launch.job import packages_of
from lff.launch.local import PATIENCE, THREADS, TRIES, WAIT, Show, Task, import_path, make_tasks
from lff.launch.records import LOG, OUTCOME, PROGRESS

LOOPBACK = "127.0.0.1"
AHEAD = 2
"""Tasks handed to Ray for each one that can run: the next is there when one ends, and the driver
holds a few however many there are."""
FEWEST_AHEAD = 4
RECOUNT = 5.0
"""Seconds between two counts of the cluster's processors: nodes come and go."""
JOINING = 60.0
"""Seconds that a cluster is given to have a node large enough for a job."""
ARRIVING = 15.0
"""Seconds in which the end of a job on another node must be seen here."""
LONGEST_WAIT = 30.0
"""Seconds at most until a job that another launcher runs is tried again."""
OBJECTS = 100_000_000
"""Bytes of Ray's object store, which a job does not use."""
LONGEST_FOLDER = 20
"""Ray's sockets lie deep inside its folder, and a socket's path has at most 107 characters."""
BIND = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Ray listens on 127.0.0.1 only if this is "0" when it is imported, else on the network."""


def run_as_task(job: str, folder: str, trust: str) -> int:
    """Run a job, given as JSON, in its folder, within a Ray worker; return the exit code."""
    from lff.launch.worker import run_job

    return int(run_job(json.loads(job), Path(folder), trust=json.loads(trust)))


def launch_on_ray(
    jobs: Sequence[Any],
    root: Path,
    *,
    address: str | None = None,
    workers: int | None = None,
    cpus_per_job: float = 1,
    memory_per_job: int | None = None,
    show: Show | None = None,
) -> list[Task]:
    """Run jobs below ``root/jobs`` as Ray tasks; return the state of each.

    Args:
        jobs: what to run, each once.
        root: the folder of results, which every node of the cluster must see under this path.
        address: ``host:port`` of a cluster's head; ``auto`` for the cluster that this process was
            started on, as by Ray Jobs; None to start one here, for as long as it takes.
        workers: jobs at a time on a cluster that is started here; all processors if None.
        cpus_per_job: processors that Ray keeps for a job.
        memory_per_job: bytes that Ray keeps for a job.
        show: called about twice a second.

    Raises:
        InterruptedRunError: a signal came; every running job was asked to write a checkpoint.
    """
    _check(address, workers, cpus_per_job, memory_per_job)
    folder = root.resolve() / "jobs"
    tasks = make_tasks(jobs, folder)
    if any(task.state == "waiting" for task in tasks):
        cpus = math.ceil(workers * cpus_per_job) if workers else len(os.sched_getaffinity(0))
        with _Signals() as signals, _cluster(address, cpus) as ray:
            signals.take()  # Ray has put a handler of its own in our place
            run = _Run(ray, folder, cpus_per_job, memory_per_job, here=address is None)
            run.wait_for_a_node(JOINING if address else 0.0)
            run.run(tasks, show, signals)
    if show:
        show(tasks)
    return tasks


def _check(address: str | None, workers: int | None, cpus: float, memory: int | None) -> None:
    if address is not None and ("://" in address or not address):
        raise BadInputError("address", address, "host:port or auto", "give that of the head node")
    if workers is not None and workers < 1:
        raise BadInputError("workers", workers, "a positive integer", "use 1")
    if not 0 < cpus < float("inf") or (cpus > 1 and cpus != int(cpus)):
        raise BadInputError("cpus_per_job", cpus, "a whole number or a part of one", "use 1")
    if memory is not None and memory < 1:
        raise BadInputError("memory_per_job", memory, "a positive number of bytes", "use 10**9")
    if importlib.util.find_spec("ray") is None:
        remedy = "pip install 'learned-fourier-features[ray]'"
        raise BadInputError("ray", "nothing", "installed", remedy)


class _Run:
    """Hands tasks to Ray, a window of them at a time."""

    def __init__(
        self, ray: Any, folder: Path, cpus: float, memory: int | None, *, here: bool
    ) -> None:
        self.ray, self.folder = ray, folder
        self.need = {"CPU": cpus} | ({"memory": memory} if memory else {})
        self.remote = ray.remote(run_as_task).options(
            num_cpus=cpus,
            memory=memory,
            max_retries=TRIES,
            runtime_env={"env_vars": THREADS | (import_path() if here else {})},
        )
        self.flying: dict[Any, Task] = {}
        self._slots, self._counted = 0, 0.0
        self._shared = True

    def run(self, tasks: Sequence[Task], show: Show | None, signals: "_Signals") -> None:
        """Run them all; on a signal cancel those that run, and wait for their checkpoints."""
        ready = deque(task for task in tasks if task.state == "waiting")
        later: list[Task] = []
        shown = 0.0
        while ready or later or self.flying:
            if signals.came:
                self._cancel()
                raise InterruptedRunError("stopped; run the same command to continue")
            now = time.monotonic()
            ready.extend(task for task in later if task.not_before <= now)
            later = [task for task in later if task.not_before > now]
            while ready and len(self.flying) < self._window():
                self._submit(ready.popleft())
            later.extend(task for task in self._ended() if task.state == "waiting")
            if show and time.monotonic() - shown >= WAIT:
                self._look_who_runs()
                show(tasks)
                shown = time.monotonic()

    def _window(self) -> int:
        if time.monotonic() - self._counted > RECOUNT:
            have = self.ray.cluster_resources()
            self._slots = int(min(have.get(name, 0) / need for name, need in self.need.items()))
            self._counted = time.monotonic()
        return max(FEWEST_AHEAD, AHEAD * self._slots)

    def wait_for_a_node(self, seconds: float) -> None:
        """Ray would wait for ever, and silently, for a node that is large enough."""
        deadline = time.monotonic() + seconds
        while True:
            nodes = [node["Resources"] for node in self.ray.nodes() if node["Alive"]]
            if any(all(n.get(k, 0) >= v for k, v in self.need.items()) for n in nodes):
                return
            if time.monotonic() >= deadline:
                largest = {k: max((n.get(k, 0) for n in nodes), default=0) for k in self.need}
                remedy = "ask for less, or add a larger node"
                raise BadInputError("a job's need", self.need, f"at most {largest}", remedy)
            time.sleep(WAIT)

    def _submit(self, task: Task) -> None:
        folder = self.folder / task.digest
        task.tries += 1
        job, trust = json.dumps(to_dict(task.job)), json.dumps(packages_of(task.job))
        self.flying[self.remote.remote(job, str(folder), trust)] = task

    def _ended(self) -> list[Task]:
        """Wait a moment; return the tasks that came back, whatever became of them."""
        if not self.flying:
            time.sleep(WAIT / 2)
            return []
        references, _ = self.ray.wait([*self.flying], timeout=WAIT / 2)
        # all that are there: one call of wait returns one, and looking is cheap
        more, _ = self.ray.wait([*self.flying], num_returns=len(self.flying), timeout=0)
        ended = []
        for reference in {*references, *more}:
            task = self.flying.pop(reference)
            self._collect(task, reference)
            ended.append(task)
        return ended

    def _collect(self, task: Task, reference: Any) -> None:
        try:
            task.code = int(self.ray.get(reference))
        except self.ray.exceptions.TaskCancelledError:
            task.code = int(ExitCode.INTERRUPTED)
        except self.ray.exceptions.RayTaskError as error:  # ours do not raise: lff is missing there
            self._note(task, error)
            task.code = int(ExitCode.FAILED)
        except self.ray.exceptions.RayError as error:  # died, and so did all its retries
            self._note(task, error)
            task.code = -signal.SIGKILL
        if task.code == ExitCode.OK and not self._arrived(task):
            self._note(task, f"the job ended, but {self.folder} is not the same folder everywhere")
            task.code = int(ExitCode.IO)
        if task.code == ExitCode.OK:
            task.state = "done"
        elif task.code == ExitCode.BUSY:
            # a dead node's lock may live on for a while, and another launcher may have the job
            task.state = "waiting"
            task.not_before = time.monotonic() + min(LONGEST_WAIT, 2.0 ** min(task.tries - 1, 10))
        elif task.code == ExitCode.INTERRUPTED and task.tries < TRIES:
            task.state, task.not_before = "waiting", 0.0
        else:
            task.state = "failed"

    def _arrived(self, task: Task) -> bool:
        """Return whether a job's end has arrived here; shared storage may take a moment."""
        folder = self.folder / task.digest
        deadline = time.monotonic() + (ARRIVING if self._shared else 0.0)
        # a listing asks the server, where a look for one name may be answered from memory
        while not (folder.is_dir() and any(path.name == OUTCOME for path in folder.iterdir())):
            if time.monotonic() > deadline:
                self._shared = False
                return False
            time.sleep(WAIT)
        return True

    def _note(self, task: Task, error: object) -> None:
        folder = self.folder / task.digest
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / LOG).open("a") as log:
            print(f"Ray: {error}", file=log)

    def _look_who_runs(self) -> None:
        """Mark tasks as running whose folder has a note of progress."""
        for task in self.flying.values():
            if task.state == "waiting" and (self.folder / task.digest / PROGRESS).exists():
                task.state = "running"

    def _cancel(self) -> None:
        """Interrupt every task, as ctrl-C would: a training run writes a checkpoint and stops."""
        for reference in self.flying:
            self.ray.cancel(reference, force=False)
        deadline = time.monotonic() + PATIENCE
        while self.flying and time.monotonic() < deadline:
            self._ended()


class _Signals:
    """Records SIGINT and SIGTERM; Ray's own waiting must not be interrupted."""

    def __init__(self) -> None:
        self.came = False

    def take(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._note)

    def _note(self, *_: object) -> None:
        self.came = True

    def __enter__(self) -> "_Signals":
        self._old = {s: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)}
        self.take()
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._old.items():
            signal.signal(number, handler)


@contextmanager
def _cluster(address: str | None, cpus: int) -> Iterator[Any]:
    """Connect to a cluster, or start one of so many processors; yield ``ray``, connected.

    Ray reads its settings from the environment when it is first imported and used, so they are set
    before, and are the same each time in one process.
    """
    settings: dict[str, str | None] = {}
    options: dict[str, Any] = {}
    if address is None:
        folder = _private_folder()
        settings = {
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(folder / "token"),
            "RAY_AUTH_TOKEN": None,  # would be taken first
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_worker_niceness": "0",  # as the local pool
        }
        options = {
            "num_cpus": cpus,
            "include_dashboard": False,
            "object_store_memory": OBJECTS,
            "_node_ip_address": LOOPBACK,
            "_temp_dir": str(folder / "ray"),  # Ray opens this one to everybody
        }
    if address is None or _is_loopback(address):
        settings[BIND] = "0"
    with _environment(settings):
        import ray

        if ray.is_initialized():
            raise RunError("this process is connected to Ray already; call ray.shutdown() first")
        try:
            node = _init(ray, address or "local", options).address_info["node_ip_address"]
            if address is None and node != LOOPBACK:
                reason = "it was imported with other settings; start a new process"
                raise RunError(f"Ray listens on {node}, not on {LOOPBACK}: {reason}")
            yield ray
        finally:
            ray.shutdown()


def _init(ray: Any, address: str, options: Mapping[str, Any]) -> Any:
    try:
        return ray.init(
            address, log_to_driver=False, logging_level="ERROR", configure_logging=False, **options
        )
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        reason = " ".join(str(error).split())
        raise RunError(f"cannot reach Ray at {address}: {reason}") from error


def _is_loopback(address: str) -> bool:
    if address == "auto":
        address = os.environ.get("RAY_ADDRESS", "")
    return address.rpartition(":")[0] in (LOOPBACK, "localhost")


@functools.cache
def _private_folder() -> Path:
    """Make the folder of this process's own clusters, with their token; removed at its end."""
    short = len(tempfile.gettempdir()) <= LONGEST_FOLDER
    folder = Path(tempfile.mkdtemp(prefix="lff-ray-", dir=None if short else "/tmp"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    token = folder / "token"
    token.touch(mode=0o600)
    token.write_text(secrets.token_hex(32))
    return folder


@contextmanager
def _environment(settings: Mapping[str, str | None]) -> Iterator[None]:
    """Set variables for Ray's processes, which inherit ours; None removes one."""
    before = {name: os.environ.get(name) for name in settings}
    _set(settings)
    try:
        yield
    finally:
        _set(before)


def _set(settings: Mapping[str, str | None]) -> None:
    for name, value in settings.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
