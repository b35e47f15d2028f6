"""Real Ray: our own cluster, and two nodes of which one dies; the tables are those of no Ray."""

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from lff.core.config import digest, to_dict
from lff.core.errors import BadInputError, ExitCode
from lff.experiments.jobs.pause import PauseJob
from lff.experiments.jobs.training import TrainJob
from lff.launch.local import launch
from lff.launch.ray import launch_on_ray
from tests.launch.processes import descendants
from tests.training.runs import small

TASK = "dmc/cartpole-swingup"
TABLE, OUTCOME, HOLDER = "table.csv", "outcome.json", ".lock-holder.json"
HERE = {
    **os.environ,
    "OMP_NUM_THREADS": "1",
    "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *filter(None, sys.path)]),
    "PYTHONWARNINGS": "ignore",
}
EVERY = 100


def tiny(seed, steps=300, **options):
    schedule = {"checkpoint_every": EVERY, "eval_every": steps, "warmup_steps": 50} | options
    return TrainJob(small(TASK, seed=seed, steps=steps, **schedule), reference_episodes=0)


@contextmanager
def driver(root, jobs, address="own", env=HERE):
    """A launcher in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.launch.ray_driver", str(root), address],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
    )
    process.stdin.write(json.dumps([to_dict(job) for job in jobs]))
    process.stdin.close()
    process.stdin = None
    with process:
        try:
            yield process
        finally:
            process.kill()


def tables(root, jobs):
    return {digest(job): (root / "jobs" / digest(job) / TABLE).read_bytes() for job in jobs}


def wait_for(condition, what, seconds=240):
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.05)
    return found


def checkpoints(folder):
    """Steps of the checkpoints of a training job."""
    names = [path.name.removeprefix("step-") for path in folder.glob("run/checkpoints/step-*")]
    return sorted(int(name) for name in names if name.isdigit())


@pytest.mark.system
def test_own_cluster_gives_the_tables_and_states_of_the_local_pool(tmp_path):
    broken = TrainJob(small("gym/NoSuchTask-v0"))
    good = [
        tiny(0, steps=200),
        tiny(1, steps=200),
        *(PauseJob(0.01, number) for number in range(6)),
    ]
    jobs = [*good, broken, good[0]]
    with driver(tmp_path / "ray", jobs) as process:
        local = launch(jobs, tmp_path / "local", workers=1)
        out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    said = json.loads(out.splitlines()[-1])
    assert said["ends"] == {task.digest: [task.state, task.code] for task in local}
    assert said["ends"][digest(broken)] == ["failed", ExitCode.USAGE]
    assert tables(tmp_path / "ray", good) == tables(tmp_path / "local", good)
    assert {"waiting", "running", "done"} <= {*said["states"]}
    assert said["hosts"] == ["127.0.0.1"]
    assert said["modes"] == ["600", "700"]
    assert "AuthenticationError" in said["strangers"][0]
    assert said["left"] == []


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("address", {"address": "ray://head:10001"}),
        ("workers", {"workers": 0}),
        ("cpus_per_job", {"cpus_per_job": 1.5}),
        ("memory_per_job", {"memory_per_job": 0}),
    ],
)
def test_bad_input_is_refused_before_anything_starts(tmp_path, name, options):
    with pytest.raises(BadInputError, match=name):
        launch_on_ray([PauseJob()], tmp_path, **options)
    assert not [*tmp_path.iterdir()]


def test_what_is_done_needs_no_cluster(tmp_path):
    folder = tmp_path / "jobs" / digest(PauseJob())
    folder.mkdir(parents=True)
    (folder / OUTCOME).write_text("{}")
    start = time.monotonic()
    (task,) = launch_on_ray([PauseJob()], tmp_path)
    assert task.state == "done"
    assert time.monotonic() - start < 2


@pytest.mark.system
def test_interrupted_driver_leaves_checkpoints_and_goes_on(tmp_path):
    job = tiny(0, steps=1000, checkpoint_every=100_000)
    folder = tmp_path / "ray" / "jobs" / digest(job)
    with driver(tmp_path / "ray", [job]) as process:
        wait_for(lambda: (folder / "progress.json").exists(), "the job")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=300)
    assert process.returncode == ExitCode.INTERRUPTED, err
    (step,) = checkpoints(folder)
    assert 0 < step < 1000
    assert not (folder / OUTCOME).exists()
    launch([job], tmp_path / "ray", workers=1)
    launch([job], tmp_path / "local", workers=1)
    assert tables(tmp_path / "ray", [job]) == tables(tmp_path / "local", [job])


@contextmanager
def ray_node(env, folder, *address):
    """A node of a cluster; its processes are descendants of the one given."""
    node = subprocess.Popen(
        [sys.executable, "-m", "tests.launch.ray_node", str(folder), *address],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=env,
    )
    with node:
        try:
            yield node
        finally:
            for pid in descendants(node.pid):
                kill(pid)


def kill(pid):
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


@pytest.mark.system
def test_killed_node_loses_nothing(tmp_path):
    """Two nodes; one is killed by pid with all its processes in the middle of a training job."""
    jobs = [
        tiny(0, steps=600),
        tiny(1, steps=600),
        tiny(2, steps=200),
        PauseJob(0.1),
        PauseJob(0.1, 1),
    ]
    token = tmp_path / "token"
    token.touch(mode=0o600)
    token.write_text(secrets.token_hex(32))
    env = {
        **HERE,
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(token),
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
        "RAY_worker_niceness": "0",
        "RAY_health_check_period_ms": "500",
        "RAY_health_check_failure_threshold": "3",
    }
    folder = tempfile.mkdtemp(prefix="lff-", dir="/tmp")  # a socket's path must be short
    with ray_node(env, f"{folder}/ray") as head:
        launch(jobs, tmp_path / "local", workers=1)  # while the head starts
        address = head.stdout.readline().strip()
        with ray_node(env, folder, address) as second:
            assert second.stdout.readline().strip() == address
            # as a driver of Ray Jobs finds its cluster
            with driver(tmp_path / "ray", jobs, "auto", env | {"RAY_ADDRESS": address}) as process:
                root = tmp_path / "ray"
                victim = wait_for(lambda: running_below(second.pid, root, jobs[:2]), "a checkpoint")
                before = checkpoints(victim)[-1]
                played = sorted(victim.glob("run/replay/*"))[: before // EVERY]
                old = {path: path.stat().st_mtime_ns for path in played}
                for pid in descendants(second.pid):
                    kill(pid)
                assert not (victim / OUTCOME).exists()
                out, err = process.communicate(timeout=300)
                assert process.returncode == 0, err
    shutil.rmtree(folder, ignore_errors=True)
    info = json.loads((victim / "run" / "run.json").read_text())
    assert len(info["restarts"]) == 1
    # what was played before the checkpoint is there as it was written: it was not played again
    assert len(old) == before // EVERY >= 1
    assert {path: path.stat().st_mtime_ns for path in old} == old
    said = json.loads(out.splitlines()[-1])
    assert {tuple(end) for end in said["ends"].values()} == {("done", 0)}
    assert tables(tmp_path / "ray", jobs) == tables(tmp_path / "local", jobs)


def running_below(pid, root, jobs):
    """The folder of a job that runs in a process below this one and has a checkpoint."""
    pids = descendants(pid)
    for job in jobs:
        folder = root / "jobs" / digest(job)
        try:
            holder = json.loads((folder / HOLDER).read_text())
        except (OSError, ValueError):
            continue
        if holder["pid"] in pids and checkpoints(folder):
            return folder
    return None


HOLD = """
import sys
from lff.launch.ray import _private_folder
print(_private_folder(), flush=True)
sys.stdin.read()
"""


def test_the_folder_of_a_killed_driver_goes_at_the_next_start():
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "env": HERE}
    command = [sys.executable, "-c", HOLD]
    with subprocess.Popen(command, **options) as killed, subprocess.Popen(command, **options) as on:
        folders = [Path(process.stdout.readline().strip()) for process in (killed, on)]
        killed.kill()
        killed.wait()
        assert all((folder / "token").exists() for folder in folders)
        with subprocess.Popen(command, **options) as following:
            new = Path(following.stdout.readline().strip())
            assert (new / "token").stat().st_mode & 0o777 == 0o600
            assert [folder.exists() for folder in folders] == [False, True]
            following.communicate()
        on.communicate()
    assert not any(folder.exists() for folder in (*folders, new))
