"""The command line as a user starts it."""

import signal
import subprocess
import sys
import time

import pytest

from lff.store import RunDir, read_rows

SHORT = ("--steps", "160", "--warmup-steps", "100", "--eval-episodes", "1", "--eval-every", "160")
TRAIN = ("train", "sac", "--env", "probe/action", *SHORT, "--log-every", "40")


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
    assert "fourier(fourier_dim=128, sigma=0.01" in said
    assert "step 160: return" in said
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
    assert "critic linear-control(fourier_dim=128, sigma=0.1)" in shown


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
