"""Each check of the doctor, with the failure it is there for."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from lff.training import doctor

BLOCKED = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
class Finder(Blocker):
    pass
sys.meta_path.insert(0, Finder())
import importlib.util
original = importlib.util.find_spec
def find_spec(name, package=None):
    return None if name.partition(".")[0] in {hidden} else original(name, package)
importlib.util.find_spec = find_spec
import json
from dataclasses import asdict
from lff.training import doctor
checks = [doctor.check_env("dmc/cheetah-run"), doctor.check_rendering(), doctor.check_extras()]
print(json.dumps([asdict(check) for check in checks]))
"""


def test_this_machine_can_train():
    statuses = {
        check.name: check.status
        for check in (
            doctor.check_python(),
            doctor.check_packages(),
            doctor.check_torch(),
            doctor.check_cuda(),
            doctor.check_env("dmc/cheetah-run"),
        )
    }
    assert set(statuses.values()) == {"ok"}


def test_a_path_without_compiler(monkeypatch, tmp_path):
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    check = doctor.check_compiler(full=True)
    assert (check.status, check.found) == ("warning", "no g++")
    assert "apt-get install g++" in check.remedy
    assert "--compile off" in check.remedy


@pytest.mark.system
def test_the_compiler_compiles():
    check = doctor.check_compiler(full=True)
    assert check.status == "ok", check
    assert check.found.startswith("torch.compile works")


def test_a_compiler_that_fails(monkeypatch, tmp_path):
    broken = tmp_path / "g++"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CXX", str(broken))
    monkeypatch.setattr(doctor, "COMPILED", "raise SystemExit('no such header')")
    check = doctor.check_compiler(full=True)
    assert check.status == "warning"
    assert "no such header" in check.found


def test_hidden_simulator_and_trackers():
    code = BLOCKED.format(hidden=("dm_control", "mujoco", "wandb"))
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=os.environ
    )
    assert run.returncode == 0, run.stderr
    step, rendering, extras = json.loads(run.stdout.splitlines()[-1])
    assert (step["status"], rendering["status"]) == ("warning", "warning")
    assert step["remedy"] == "pip install 'learned-fourier-features[dmc]'"
    assert "not installed: dmc, gym, wandb" in extras["found"]
    assert "learned-fourier-features[dmc,gym,wandb]" in extras["remedy"]


def test_every_extra_that_users_install_is_checked():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    others = {"dev", "docs", "peers", "rltools", "figures"}
    assert {*doctor.EXTRAS} == {*project["optional-dependencies"]} - others
    assert len(doctor.CORE) == len(project["dependencies"])
    assert doctor.absent(doctor.CORE) == []


def test_a_folder_of_the_same_name_is_not_the_package(tmp_path, monkeypatch):
    (tmp_path / "wandb_").mkdir()  # wandb itself leaves such a folder where it ran
    monkeypatch.syspath_prepend(tmp_path)
    assert doctor.absent(["json", "wandb_"]) == ["wandb_"]


def test_mujoco_4_is_refused_and_3_is_not():
    assert doctor.check_mujoco("4.0.0", "1.0.50").status == "failed"
    assert "<4" in doctor.check_mujoco("4.0.0", "1.0.50").remedy
    assert doctor.check_mujoco("3.17.0", "1.0.50").status == "ok"
    assert doctor.check_mujoco("3.17.0", None).status == "warning"


def test_a_directory_to_be_made_is_fine_and_is_not_made(tmp_path):
    check = doctor.check_directory(tmp_path / "runs" / "deep")
    assert check.status == "ok", check
    assert not list(tmp_path.iterdir())


def test_directories_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    check = doctor.check_directory(tmp_path / "file" / "runs")
    assert check.status == "failed"
    assert "another --dir" in check.remedy
    assert doctor.check_directory(Path("/proc/1")).status == "failed"


def test_a_lock_that_the_file_system_refuses(tmp_path, monkeypatch):
    import fcntl

    def refuse(*_):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert doctor.check_directory(tmp_path).status == "failed"
    assert not list(tmp_path.iterdir())


def test_memory_against_the_replay():
    # cheetah: 17 numbers twice, 6 actions, a reward, a flag
    check = doctor.check_memory(10**9, (17,), 6, capacity=1_000_000)
    assert check.status == "ok"
    assert "takes 165.0 MB" in check.found
    assert doctor.check_memory(2 * 10**8, (17,), 6, capacity=1_000_000).status == "warning"


def test_memory_of_kernel_and_control_group(tmp_path):
    info = tmp_path / "meminfo"
    info.write_text("MemTotal: 900 kB\nMemAvailable: 500 kB\n")
    assert doctor.available_memory(info, tmp_path) == 512_000
    (tmp_path / "memory.max").write_text("300000\n")
    (tmp_path / "memory.current").write_text("100000\n")
    assert doctor.available_memory(info, tmp_path) == 200_000
    (tmp_path / "memory.max").write_text("max\n")
    assert doctor.available_memory(info, tmp_path) == 512_000
    assert doctor.available_memory(tmp_path / "none", tmp_path / "none") is None


def test_threads_against_processors_and_quota():
    assert doctor.cpu_quota("150000 100000\n") == 1.5
    assert doctor.cpu_quota("max 100000\n") is None
    assert doctor.check_threads(8, cpus=8, quota=None).status == "ok"
    over = doctor.check_threads(8, cpus=8, quota=1.5)
    assert (over.status, over.remedy) == ("warning", "export OMP_NUM_THREADS=1")
    assert doctor.check_threads(1, cpus=8, quota=0.5).status == "ok"


def test_cache_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "file"))
    assert doctor.check_cache().status == "warning"
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "new"))
    assert doctor.check_cache().status == "ok"


def test_unknown_task_names_the_nearest():
    check = doctor.check_env("dmc/cheetah-rum")
    assert check.status == "warning"
    assert "cheetah-run" in check.remedy
