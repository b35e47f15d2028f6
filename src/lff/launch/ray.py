"""Jobs on Ray: on this machine, or on a cluster whose nodes share the folder of the results.

A job is a Ray task that is given JSON: the job, its folder, the packages of the user's own classes,
and returns an exit code; nothing of ours is pickled.  When a worker or a node dies,
Ray starts the task elsewhere and it continues from its checkpoint.  A cluster that is started here
listens on 127.0.0.1 alone, asks for a token that lies in a private folder, and ends with the jobs.
"""

import atexit
import contextlib
import functools
import math
import os
import secrets
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

from lff.core.errors import BadInputError, ExitCode, InterruptedRunError, RunError, require_extra
from lff.core.imports import GIVEN_PATH, child_imports
from lff.launch import local
from lff.launch.records import OUTCOME, PROGRESS, open_log
from lff.store import RunLock

LOOPBACK = "127.0.0.1"
PRIVATE = "lff-ray-"
AHEAD = 2
"""Tasks handed to Ray for each one that can run: the next is there when one ends, and the driver
holds a few however many there are."""
FEWEST_AHEAD = 4
RECOUNT = 5.0  # seconds between two counts of the cluster's processors: nodes come and go
JOINING = 60.0  # seconds that a cluster is given to have a node large enough for a job
ARRIVING = 15.0  # seconds in which the end of a job on another node must be seen here
OBJECTS = 100_000_000  # bytes of Ray's object store, which a job does not use
LONGEST_FOLDER = 20
"""Ray's sockets lie deep inside its folder, and a socket's path has at most 107 characters."""
BIND = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Ray listens on 127.0.0.1 only if this is "0" when it is imported, else on the network."""


def run_as_task(request: str) -> int:
    """Run a job within a Ray worker; return the exit code."""
    from lff.launch.worker import run_request

    return run_request(request)


def launch_on_ray(
    jobs: Sequence[Any],
    root: Path,
    *,
    address: str | None = None,
    workers: int | None = None,
    cpus_per_job: float = 1,
    memory_per_job: int | None = None,
    show: local.Show | None = None,
) -> list[local.Task]:
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
    tasks = local.make_tasks(jobs, folder)
    if any(task.state == "waiting" for task in tasks):
        cpus = math.ceil(workers * cpus_per_job) if workers else len(os.sched_getaffinity(0))
        stop = Event()  # set by a signal: Ray's own waiting must not be interrupted
        caught = functools.partial(local.handle_signals, lambda *_: stop.set())
        with caught(), _cluster(address, cpus) as ray, caught():  # Ray takes our handler's place
            remote = ray.remote(run_as_task).options(
                num_cpus=cpus_per_job,
                memory=memory_per_job,
                max_retries=local.TRIES,
                runtime_env={"env_vars": local.THREADS | _imports(address)},
            )
            need = {"CPU": cpus_per_job} | ({"memory": memory_per_job} if memory_per_job else {})
            at_ray = _RayWorkers(ray, folder, remote, need, stop=stop)
            at_ray.wait_for_a_node(JOINING if address else 0.0)
            local.run_tasks(at_ray, tasks, folder, show)
    elif show:
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
    require_extra("ray", "ray", purpose="--ray")


class _RayWorkers:
    """Tasks at Ray, a window of them at a time; after a signal the next wait stops them all."""

    def __init__(
        self, ray: Any, folder: Path, remote: Any, need: Mapping[str, float], *, stop: Event
    ) -> None:
        self.ray, self.folder, self.remote, self.need, self._stop = ray, folder, remote, need, stop
        self._flying: dict[Any, local.Task] = {}
        self._slots, self._counted = 0, 0.0
        self._shared = True

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
            time.sleep(local.WAIT)

    @property
    def busy(self) -> int:
        return len(self._flying)

    @property
    def free(self) -> int:
        if time.monotonic() - self._counted > RECOUNT:
            have = self.ray.cluster_resources()
            self._slots = int(min(have.get(name, 0) / need for name, need in self.need.items()))
            self._counted = time.monotonic()
        return max(0, max(FEWEST_AHEAD, AHEAD * self._slots) - self.busy)

    def give(self, task: local.Task, request: str) -> None:
        self._flying[self.remote.remote(request)] = task

    def wait(self, seconds: float) -> list[tuple[local.Task, int]]:
        if self._stop.is_set():
            self._cancel()
            raise InterruptedRunError(local.STOPPED)
        if not self._flying:
            time.sleep(seconds)
            return []
        references, _ = self.ray.wait([*self._flying], timeout=seconds)
        # all that are there: one call of wait returns one, and looking is cheap
        more, _ = self.ray.wait([*self._flying], num_returns=self.busy, timeout=0)
        ended = [(self._flying.pop(one), one) for one in {*references, *more}]
        for task in self._flying.values():
            if task.state == "waiting" and (self.folder / task.digest / PROGRESS).exists():
                task.state = "running"
        return [(task, self._code(task, reference)) for task, reference in ended]

    def _code(self, task: local.Task, reference: Any) -> int:
        try:
            code = int(self.ray.get(reference))
        except self.ray.exceptions.TaskCancelledError:
            return ExitCode.INTERRUPTED
        except self.ray.exceptions.RayTaskError as error:  # ours do not raise: lff is missing there
            self._note(task, error)
            return ExitCode.FAILED
        except self.ray.exceptions.RayError as error:  # died, and so did all its retries
            self._note(task, error)
            task.tries = local.TRIES
            return -signal.SIGKILL
        if code == ExitCode.OK and not self._arrived(task):
            self._note(task, f"the job ended, but {self.folder} is not the same folder everywhere")
            return ExitCode.IO
        return code

    def _arrived(self, task: local.Task) -> bool:
        """Return whether a job's end has arrived here; shared storage may take a moment."""
        folder = self.folder / task.digest
        deadline = time.monotonic() + (ARRIVING if self._shared else 0.0)
        # a listing asks the server, where a look for one name may be answered from memory
        while not (folder.is_dir() and any(path.name == OUTCOME for path in folder.iterdir())):
            if time.monotonic() > deadline:
                self._shared = False
                return False
            time.sleep(local.WAIT)
        return True

    def _note(self, task: local.Task, error: object) -> None:
        with open_log(self.folder / task.digest) as log:
            print(f"Ray: {error}", file=log)

    def _cancel(self) -> None:
        """Interrupt every task, as ctrl-C would: a training run writes a checkpoint and stops."""
        for reference in self._flying:
            self.ray.cancel(reference, force=False)
        if self._flying:
            self.ray.wait([*self._flying], num_returns=self.busy, timeout=local.PATIENCE)


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


def _imports(address: str | None) -> dict[str, str]:
    """Return what workers import: all that we can here; on a cluster the folders of --path."""
    found = child_imports()
    if address is None:
        return found
    given = os.environ.get(GIVEN_PATH)
    return found | {"PYTHONPATH": given} if given else {"PYTHONSAFEPATH": "1"}


def _init(ray: Any, address: str, options: Mapping[str, Any]) -> Any:
    try:
        with contextlib.chdir(_private_folder() / "empty"):  # workers import from here, says Ray
            return ray.init(
                address,
                log_to_driver=False,
                logging_level="ERROR",
                configure_logging=False,
                **options,
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
    """Make the folder of this process's own clusters, with their token; removed at its end.

    A killed process leaves its folder; the next one, which can lock it, removes it.
    """
    short = len(tempfile.gettempdir()) <= LONGEST_FOLDER
    home = Path(tempfile.gettempdir() if short else "/tmp")
    for old in home.glob(f"{PRIVATE}*/token"):
        if old.lstat().st_uid == os.getuid() and not old.parent.is_symlink():
            with contextlib.suppress(RunError), RunLock(old.parent):
                shutil.rmtree(old.parent, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=PRIVATE, dir=home))
    stack = contextlib.ExitStack()
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    stack.enter_context(RunLock(folder))
    atexit.register(stack.close)
    (folder / "empty").mkdir()
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
