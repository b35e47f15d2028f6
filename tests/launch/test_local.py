import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from lff.core.config import digest, to_dict
from lff.experiments.jobs.pause import PauseJob
from lff.launch import local
from lff.launch.job import JobRow
from lff.launch.local import launch
from lff.launch.records import read_job_table, table_bytes
from lff.launch.worker import run_job
from lff.store import RunLock
from tests.experiments.small import small_train_job


def pauses(count, seconds=0.0):
    return [PauseJob(seconds, number) for number in range(count)]


def states(tasks):
    return [task.state for task in tasks]


def test_every_job_is_run_once_and_leaves_its_table(tmp_path):
    jobs = pauses(5)
    tasks = launch([*jobs, jobs[0]], tmp_path, workers=2)
    assert states(tasks) == ["done"] * 5
    numbers = [read_job_table(tmp_path / "jobs" / digest(job))[0].value for job in jobs]
    assert numbers == [0, 1, 2, 3, 4]


def test_what_is_done_starts_no_worker(tmp_path, monkeypatch):
    launch(pauses(2), tmp_path, workers=1)
    monkeypatch.setattr(local.Pool, "_start", lambda _: pytest.fail("a worker was started"))
    assert states(launch(pauses(2), tmp_path, workers=1)) == ["done", "done"]


def test_a_failing_job_is_told_and_the_others_go_on(tmp_path):
    bad = small_train_job(env="dmc/cheetah-fly")
    tasks = launch([bad, *pauses(2)], tmp_path, workers=1)
    assert states(tasks) == ["failed", "done", "done"]
    assert tasks[0].code == 2
    log = (tmp_path / "jobs" / digest(bad) / "log.txt").read_text()
    assert "cheetah-fly" in log
    assert not (tmp_path / "jobs" / digest(bad) / "outcome.json").exists()


def test_a_killed_worker_costs_a_try_and_no_job(tmp_path):
    killed = []

    def kill_one(tasks):
        if not killed and tasks[0].state == "running":
            children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
            workers = [int(p) for p in children if b"lff.launch.worker" in _command(p)]
            time.sleep(1.5)
            killed.extend(workers)
            for pid in workers:
                os.kill(pid, signal.SIGKILL)

    tasks = launch([PauseJob(4.0, 7)], tmp_path, workers=1, show=kill_one)
    assert killed
    assert states(tasks) == ["done"]
    assert tasks[0].tries == 2


def _command(pid):
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def test_a_job_whose_worker_always_dies_fails_in_the_end(tmp_path, monkeypatch):
    suicide = tmp_path / "python"
    suicide.write_text("#!/bin/sh\nkill -9 $$\n")
    suicide.chmod(0o755)
    monkeypatch.setattr(local, "TRIES", 2)
    monkeypatch.setattr(local.sys, "executable", str(suicide))
    (task,) = launch(pauses(1), tmp_path, workers=1)
    assert (task.state, task.tries, task.code) == ("failed", 2, -signal.SIGKILL)


def test_a_worker_that_cannot_start_is_not_tried_again(tmp_path, monkeypatch):
    monkeypatch.setattr(local.sys, "executable", "/bin/false")
    (task,) = launch(pauses(1), tmp_path, workers=1)
    assert (task.state, task.tries, task.code) == ("failed", 1, 1)


def test_training_jobs_have_the_same_table_whoever_runs_them(tmp_path):
    job = small_train_job(steps=120)
    launch([job], tmp_path / "pool", workers=1)
    folder = tmp_path / "here" / digest(job)
    assert run_job(to_dict(job), folder) == 0
    pooled = tmp_path / "pool" / "jobs" / digest(job) / "table.csv"
    assert pooled.read_bytes() == (folder / "table.csv").read_bytes()


def test_a_signal_stops_with_75_and_the_same_command_finishes(tmp_path):
    program = (
        "import sys; from pathlib import Path; from lff.core.errors import RunError;"
        "from lff.launch.local import launch; from tests.experiments.small import small_train_job\n"
        "try: launch([small_train_job(steps=300)], Path(sys.argv[1]), workers=1)\n"
        "except RunError as error: print(error); sys.exit(error.exit_code)"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "stopped")]
    root = Path(__file__).parents[2]
    driver = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True)
    job = small_train_job(steps=300)
    run = tmp_path / "stopped" / "jobs" / digest(job) / "run"
    _wait_for(lambda: (run / "metrics.jsonl").exists() and (run / "metrics.jsonl").stat().st_size)
    driver.send_signal(signal.SIGINT)
    said, _ = driver.communicate(timeout=60)
    assert driver.returncode == 75
    assert "run the same command" in said
    assert any((run / "checkpoints").glob("*"))
    assert not (run.parent / "table.csv").exists()
    assert states(launch([job], tmp_path / "stopped", workers=1)) == ["done"]
    assert run_job(to_dict(job), tmp_path / "whole") == 0
    tables = [folder / "table.csv" for folder in (run.parent, tmp_path / "whole")]
    assert tables[0].read_bytes() == tables[1].read_bytes()


def test_a_job_that_another_launcher_runs_is_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(local, "BUSY_WAIT", 0.1)
    monkeypatch.setattr(local, "TRIES", 1)
    job = PauseJob(number=3)
    folder = tmp_path / "jobs" / digest(job)
    folder.mkdir(parents=True)
    log, ended = folder / "log.txt", []
    waiting = threading.Thread(target=lambda: ended.extend(launch([job], tmp_path, workers=1)))
    with RunLock(folder):
        waiting.start()
        _wait_for(lambda: log.exists() and log.read_text().count("is in use by pid") > 1)
        assert not ended
    waiting.join()
    assert states(ended) == ["done"]


def _wait_for(happened, seconds=60):
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_workers_die_with_their_launcher(tmp_path):
    program = (
        "import sys; from pathlib import Path; from lff.experiments.jobs.pause import PauseJob;"
        "from lff.launch.local import launch;"
        "launch([PauseJob(60.0)], Path(sys.argv[1]), workers=1)"
    )
    driver = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)])
    progress = tmp_path / "jobs" / digest(PauseJob(60.0)) / "progress.json"
    _wait_for(progress.exists)
    holder = progress.parent / ".lock-holder.json"
    pid = json.loads(holder.read_text())["pid"]
    driver.kill()
    driver.wait()
    _wait_for(lambda: not Path(f"/proc/{pid}").exists(), seconds=20)


def test_a_jobs_table_is_exact(tmp_path):
    rows = [JobRow(0, 1, "a", 0.1 + 0.2), JobRow(1, 2, "b, c", float("inf"))]
    (tmp_path / "table.csv").write_bytes(table_bytes(rows))
    assert read_job_table(tmp_path) == rows
