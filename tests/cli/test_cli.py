"""The command line as a user starts it."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import lff as lff_package
import lff.cli
from lff.cli.main import MODULES, find_command
from lff.store import RunDir, read_rows

SHORT = ("--steps", "160", "--warmup-steps", "100", "--eval-episodes", "1", "--eval-every", "80")
TRAIN = ("train", "sac", "--env", "probe/action", *SHORT, "--log-every", "40")

LISTS_MODULES = """
import atexit, sys
atexit.register(lambda: print("modules:", *sys.modules, file=sys.stderr))
from lff.cli.main import main
main()
"""


def start(*words, cwd):
    command = [sys.executable, "-c", "from lff.cli.main import main; main()", *words]
    return subprocess.Popen(
        command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def lff(*words, cwd):
    process = start(*words, cwd=cwd)
    return process.communicate(), process.returncode


def test_train_show_resume(tmp_path, cli):
    (said, errors), code = lff(*TRAIN, "--dir", "run", cwd=tmp_path)
    assert code == 0, errors
    assert "fourier(fourier_dim=256, sigma=0.01" in said
    assert re.search(r"^step 80 of 160: return \S+, largest \|Q\| -, \S+ steps/s, 0:00", said, re.M)
    last = r"^step 160 of 160: return (\S+), largest \|Q\| (\S+), \S+ steps/s, 0:00:00 left$"
    value, largest = re.search(last, said, re.MULTILINE).groups()
    rows = [*read_rows(tmp_path / "run" / "metrics.jsonl")]
    assert value == f"{rows[-1]['eval/return']:.1f}"
    assert float(largest) >= float(f"{rows[-2]['train/q_max']:.3g}") > 0
    assert f"\n  step 160: return {value} ± 0.0 over 1 episode\n" in said
    assert ", zero policy" in said
    assert f"\n  step 160: {rows[-2]['episode']:,} episodes of training, train/q_mean" in said
    assert "probe/action, seed 0, finished" in cli("show", "run").out
    longer = cli("resume", "run", "--steps", "240")
    assert longer.code == 0, longer.err
    rows = [row["env_step"] for row in read_rows(tmp_path / "run" / "metrics.jsonl")]
    assert rows == sorted(rows)
    assert rows[-1] == 240


def test_networks_are_chosen_apart(cli):
    options = ("--actor-net", "mlp", "--critic-net", "linear", "--target", "none", "--sigma", "0.1")
    done = cli(*TRAIN, *options, "--dir", "run")
    assert done.code == 0, done.err
    shown = cli("show", "run").out
    assert "actor  identity()" in shown
    assert "critic linear-control(fourier_dim=256, sigma=0.1)" in shown


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("train", "sac", "--env", "dmc/cheetah-rum", "--dir", "x"), 2, "did you mean dmc/cheetah"),
        ((*TRAIN, "--dir", "x", "--sigma", "-1"), 2, "sigma must be"),
        ((*TRAIN, "--dir", "x", "--fourier-dim", "7"), 2, "use 6 or 8"),
        (("show", "nowhere"), 2, "a run directory"),
        (("resume", "nowhere"), 2, "a run directory"),
        (("train", "sac", "--env", "probe/action"), 2, "--dir"),
    ],
    ids=["task", "sigma", "fourier dim", "show", "resume", "no dir"],
)
def test_bad_input_is_a_line_and_exit_code_2_and_leaves_nothing(words, code, says, tmp_path, cli):
    done = cli(*words)
    assert done.code == code
    assert says in done.err + done.out
    assert "Traceback" not in done.err
    assert not list(tmp_path.iterdir())


def test_bad_input_is_the_same_line_from_a_shell(tmp_path):
    words = (*TRAIN, "--dir", "x", "--sigma", "-1")
    (said, errors), code = lff(*words, cwd=tmp_path)
    assert (code, said) == (2, "")
    assert errors == "lff: sigma must be a finite number >= 0, got -1.0; use 0.01 to start\n"
    assert not list(tmp_path.iterdir())


def test_sigterm_exits_with_75_and_the_same_command_goes_on(tmp_path, cli):
    words = [*TRAIN, "--dir", "run", "--steps", "300", "--eval-every", "300"]
    process = start(*words, cwd=tmp_path)
    metrics = tmp_path / "run" / "metrics.jsonl"
    while process.poll() is None and not (metrics.exists() and metrics.stat().st_size):
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate()
    assert process.returncode == 75, errors
    assert "run the same command to continue" in errors
    done = cli(*words)
    assert done.code == 0, done.err
    assert RunDir(tmp_path / "run").status == "finished"


def test_two_starts_in_one_directory(tmp_path, cli):
    words = [*TRAIN, "--dir", "run", "--steps", "20000", "--eval-every", "20000"]
    first = start(*words, cwd=tmp_path)
    try:
        while first.poll() is None and not (tmp_path / "run" / "metrics.jsonl").exists():
            time.sleep(0.05)
        second = cli(*words)
        assert second.code == 3
        assert str(first.pid) in second.err
    finally:
        first.kill()
        first.communicate()


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--help"], 0, "  train       train an agent; the same command again resumes\n"),
        ([], 0, "usage: lff COMMAND ...\n"),
        (["--version"], 0, f"lff {lff_package.__version__}\n"),
        (
            ["trian", "--env", "x"],
            2,
            "lff: command must be one that lff --help lists, got 'trian'; did you mean train?\n",
        ),
    ],
    ids=["help", "nothing", "version", "unknown"],
)
def test_help_and_unknown_commands_import_no_torch(words, code, says):
    done = subprocess.run(
        [sys.executable, "-c", LISTS_MODULES, *words], capture_output=True, text=True, check=False
    )
    said, modules = (done.stdout + done.stderr).split("modules: ")
    assert done.returncode == code
    assert says in said
    loaded = {name.partition(".")[0] for name in modules.split()}
    assert "lff" in loaded
    assert loaded.isdisjoint(("torch", "numpy", "tyro", "rich", "gymnasium"))


def test_help_lists_every_command_and_each_can_be_found(cli):
    said = cli("--help").out
    for name in MODULES:
        assert callable(find_command(name))
        assert re.search(rf"^  {name} +\w", said, re.MULTILINE)
    files = {path.stem for path in Path(lff_package.cli.__path__[0]).glob("*.py")}
    assert files - {*MODULES.values()} == {
        *("__init__", "boundary", "from_python", "main", "output", "power")
    }
