"""What lff trusts: the command line and installed packages, not a folder, nor where it stands."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lff.core.errors import BadInputError
from lff.core.imports import check_stored_env, child_imports
from lff.envs.processes import Subprocesses
from lff.experiments.jobs.pause import PauseJob
from lff.launch.local import launch
from lff.runs.load import load
from lff.store import RunDir
from lff.training.trackers import Trackers, tracked
from tests.trust.feed import TRAIN

MARK = "from pathlib import Path\nPath({mark!r}).touch()\n"
SHADOWED = ("csv", "json", "torch", "numpy", "tyro", "gymnasium", "safetensors", "logging")
OWN = """
import gymnasium, numpy as np

class Still(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1, 1, (2,), np.float32)
    action_space = gymnasium.spaces.Box(-1, 1, (1,), np.float32)
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.count = 0
        return np.zeros(2, np.float32), {}
    def step(self, action):
        self.count += 1
        return np.zeros(2, np.float32), 0.0, False, self.count >= 10, {}

def make(seed):
    return Still()
"""


@pytest.fixture
def trap(tmp_path, monkeypatch):
    """A working directory whose modules leave a mark if anything imports them."""
    folder, mark = tmp_path / "trap", tmp_path / "imported"
    folder.mkdir()
    for name in SHADOWED:
        (folder / f"{name}.py").write_text(MARK.format(mark=str(mark)))
    monkeypatch.chdir(folder)
    return mark


def lff(*words, **variables):
    command = [sys.executable, "-m", "lff", *words]
    env = {**os.environ, **variables}
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False)


def test_python_m_lff_imports_nothing_from_where_it_is_started(trap):
    done = lff("experiment", "list")
    assert done.returncode == 0, done.stderr
    assert not trap.exists()


def test_workers_import_nothing_from_there(trap, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend("")  # as in an interactive session
    variables = child_imports()
    assert str(Path.cwd()) not in variables["PYTHONPATH"].split(os.pathsep)
    assert variables["PYTHONSAFEPATH"] == "1"
    tasks = launch([PauseJob(seconds=0.01)], tmp_path / "jobs", workers=1)
    assert [task.state for task in tasks] == ["done"]
    envs = Subprocesses("probe/action", seed=0, num_envs=1, workers=1)
    assert envs.reset().shape[0] == 1
    envs.close()
    assert not trap.exists()


@pytest.fixture
def own(tmp_path):
    """A run in an environment of a module in a folder of its own; returns both folders."""
    modules, run = tmp_path / "modules", tmp_path / "run"
    modules.mkdir()
    (modules / "lff_own_still.py").write_text(OWN)
    words = TRAIN.replace("probe/action", "lff_own_still:make").split()
    done = lff(*words, str(run), "--path", str(modules))
    assert done.returncode == 0, done.stderr
    return modules, run


def test_a_stored_environment_is_imported_only_if_it_is_named_again(own, cli, monkeypatch):
    modules, run = own
    monkeypatch.syspath_prepend(str(modules))
    said = (
        "lff: stored env must be one of ours, or named again, got 'lff_own_still:make'; making it "
        "imports 'lff_own_still': if you trust that, add --trust lff_own_still\n"
    )
    for words in (("play", run), ("resume", run), ("rerun", run, "--dir", "again")):
        assert cli(*words) == (
            2,
            *(("",) if words[0] != "play" else (f"{run}: lff_own_still:make, step 60\n",)),
            said,
        )
    for words in (("show", run), ("audit", run), ("export", run, "--out", "policy.pt2")):
        assert cli(*words).code == 0
    assert cli("export", run, "--out", "native.pt2", "--native").err == said
    assert "lff_own_still" not in sys.modules
    assert load(run).act([0.0, 0.0]).shape == (1,)
    assert "lff_own_still" not in sys.modules
    assert cli("play", run, "--trust", "lff_own_still").code == 0
    assert cli("resume", run, "--trust", "lff_own_still:make").code == 0


def test_trust_names_a_package_a_module_or_the_environment():
    for trust in (("own",), ("own.envs",), ("own.envs:make",)):
        check_stored_env("own.envs:make", trust)
    check_stored_env("gym/own:Swing-v0", ("own",))
    check_stored_env("dmc/cheetah-run", ())
    for task, trust in (("own.envs:make", ("own.other",)), ("gym/own:Swing-v0", ("gym",))):
        with pytest.raises(BadInputError, match="making it imports 'own"):
            check_stored_env(task, trust)


@pytest.mark.parametrize("env", [":", ".x:y", "x:", "gym/", "gym/:", "gym/.x:y", "a b:c", "1:2"])
def test_a_name_that_is_none_is_one_line(env, cli, tmp_path):
    ended = cli("train", "sac", "--env", env, "--dir", "run")
    assert ended.code == 2
    assert ended.err.startswith("lff: ")
    assert ended.err.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_closed_pipe_is_silence(tmp_path):
    code = "import sys; from lff.cli.main import main; main(['presets'])"
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


def test_an_unexpected_error_is_one_line_and_a_traceback_on_request(cli, monkeypatch):
    def broken(_):
        raise ZeroDivisionError("by \x1b[2Jzero")

    monkeypatch.setattr("lff.cli.main.find_command", lambda _: broken)
    ended = cli("experiment", "list")
    assert (ended.code, ended.out) == (1, "")
    shows = "LFF_TRACEBACK=1 shows where it came from"
    assert ended.err == f"lff: ZeroDivisionError: by \\x1b[2Jzero; {shows}\n"
    monkeypatch.setenv("LFF_TRACEBACK", "1")
    assert "Traceback" in cli("experiment", "list").err


def test_words_with_control_characters_are_refused(cli):
    ended = cli("show", "run\x1b[2J")
    assert ended.code == 2
    assert "free of control characters, got 'run\\x1b[2J'" in ended.err


@pytest.mark.parametrize("words", [("--path",), ("--path", "nowhere"), ("--path=",)])
def test_a_path_is_a_folder(words, cli):
    assert "lff: --path must be a folder" in cli("show", "run", *words).err


def test_links_within_a_run_are_refused_by_writers_and_readers(cli, tmp_path):
    run, other = tmp_path / "run", tmp_path / "other"
    for folder in (run, other):
        assert cli(*TRAIN.split(), folder).code == 0
    for name in ("checkpoints", "replay", "evaluations"):
        before = sorted((other / name).rglob("*"))
        (run / name).rename(tmp_path / "aside")
        (run / name).symlink_to(other / name)
        for words in (("show", run), ("resume", run, "--steps", "80"), (*TRAIN.split(), run)):
            ended = cli(*words)
            assert ended.code == 74
            assert ended.err == f"lff: {run / name} is a link; move it away\n"
        assert sorted((other / name).rglob("*")) == before
        (run / name).unlink()
        (tmp_path / "aside").rename(run / name)
    assert cli("resume", run, "--steps", "80").code == 0


def test_a_stored_tracker_is_not_used(cli, tmp_path, monkeypatch):
    run = tmp_path / "run"
    assert cli(*TRAIN.split(), run).code == 0
    (run / "trackers.json").write_text(json.dumps({"wandb": "stranger", "tensorboard": True}))
    monkeypatch.setattr("lff.training.trackers.Wandb.sync", lambda *_: pytest.fail("sent"))
    assert cli("resume", run, "--steps", "80").code == 0
    assert not (run / "tensorboard").exists()


@pytest.mark.parametrize("name", ["wandb/settings", ".wandb/settings"])
def test_settings_of_wandb_in_a_run_are_refused(name, tmp_path, caplog):
    run = tmp_path / "run"
    (run / name).parent.mkdir(parents=True)
    (run / name).write_text("[default]\nbase_url = http://127.0.0.1:9\n")
    (run / "trackers.json").write_text('{"id": "../../x"}')
    (run / "metrics.jsonl").touch()
    with tracked(Trackers(wandb="mine"), run):
        pass
    assert "is not ours; move it away" in caplog.text
    assert json.loads((run / "trackers.json").read_text())["id"].isalnum()
    assert RunDir(run).status == "empty"
