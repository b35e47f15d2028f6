"""The command line as a user starts it."""

import os
import signal
import subprocess
import sys
import time

import pytest

from lff.store import read_rows

SHORT = ("--steps", "400", "--warmup-steps", "100", "--eval-episodes", "1", "--eval-every", "400")
TRAIN = ("train", "sac", "--env", "probe/action", *SHORT, "--log-every", "100")


def lff(*words, cwd):
    command = [sys.executable, "-c", "from lff.cli.main import main; main()", *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)


def test_train_show_resume(tmp_path):
    done = lff(*TRAIN, "--dir", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Fourier(fourier_dim=128, sigma=0.01" in done.stdout
    assert "step 400: return" in done.stdout
    shown = lff("show", "run", cwd=tmp_path)
    assert "probe/action, seed 0, finished" in shown.stdout
    longer = lff("resume", "run", "--steps", "600", cwd=tmp_path)
    assert longer.returncode == 0, longer.stderr
    rows = [row["env_step"] for row in read_rows(tmp_path / "run" / "metrics.jsonl")]
    assert rows == sorted(rows)
    assert rows[-1] == 600


def test_networks_are_chosen_apart(tmp_path):
    options = ("--actor-net", "mlp", "--critic-net", "linear", "--target", "none", "--sigma", "0.1")
    done = lff(*TRAIN, *options, "--dir", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shown = lff("show", "run", cwd=tmp_path).stdout
    assert "actor  Identity()" in shown
    assert "critic LinearControl(fourier_dim=128, sigma=0.1)" in shown


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
def test_bad_input_is_a_line_and_exit_code_2_and_leaves_nothing(words, code, says, tmp_path):
    done = lff(*words, cwd=tmp_path)
    assert done.returncode == code
    assert says in done.stderr + done.stdout
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_sigterm_exits_with_75_and_the_same_command_goes_on(tmp_path):
    words = [*TRAIN, "--dir", "run", "--steps", "1500", "--eval-every", "1500"]
    command = [sys.executable, "-c", "from lff.cli.main import main; main()", *words]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ
    )
    metrics = tmp_path / "run" / "metrics.jsonl"
    while process.poll() is None and not (metrics.exists() and metrics.stat().st_size):
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate()
    assert process.returncode == 75, errors.decode()
    assert "run the same command to go on" in errors.decode()
    done = lff(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_two_starts_in_one_directory(tmp_path):
    words = [*TRAIN, "--dir", "run", "--steps", "20000", "--eval-every", "20000"]
    command = [sys.executable, "-c", "from lff.cli.main import main; main()", *words]
    first = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        while first.poll() is None and not (tmp_path / "run" / "metrics.jsonl").exists():
            time.sleep(0.05)
        second = lff(*words, cwd=tmp_path)
        assert second.returncode == 3
        assert str(first.pid) in second.stderr
    finally:
        first.kill()
        first.communicate()
