"""The wheel in new environments with no extra, ``[sb3]`` and ``[dmc]``: every command works there,
or names the extra that it needs."""

import json
import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PIP = ("-m", "pip", "--disable-pip-version-check")
PINS = ("-c", ROOT / "constraints.txt")
ASK = """
import lff
report = lff.audit(model, show=False)
assert report.ok and report.layers[0].steps == 50, report  # 150 steps, 100 of them to warm up
print(lff.__file__)
"""
ALL = """
import contextlib, io, json, sys, traceback
from lff.cli.main import main
ends = {}
for line in json.loads(sys.argv[1]):
    sys.argv = ["lff", *line.split()]
    code, out, err = 0, io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        except Exception:
            code, _ = -1, traceback.print_exc()
    ends[line] = code, out.getvalue(), err.getvalue()
print(json.dumps(ends))
"""
"""Runs command lines one after another: torch is imported once."""
SHORT = "--steps 160 --warmup-steps 100 --eval-episodes 1 --log-every 40 --reference-episodes 1"
WORK = (
    "--help",
    "presets",
    f"train sac --env gym/Pendulum-v1 {SHORT} --dir runs/a",
    f"train sac --env gym/Pendulum-v1 --seed 1 {SHORT} --dir runs/b",
    "resume runs/a --steps 200",
    "rerun runs/b --dir runs/c",
    "show runs/a",
    "compare runs/a runs/b --plot curves.png",
    "play runs/a",
    "audit runs/a",
    "export runs/a --out policy.pt2",
    "spectrum runs/a --points 32 --lines 4",
    "sigma --env gym/Pendulum-v1 --steps 100 --plot sigma.png",
    "experiment list",
    "experiment run fig1 --scale smoke --workers 1",
    "experiment status fig1",
    "experiment verdict fig1",
    "experiment plot fig1",
    "experiment power fig1",
    "report fig1",
    "report runs/a --out run.html",
    "explore",
    "doctor --env probe/action",
)
"""Need no extra."""
NEED = {
    "train sac --env dmc/cheetah-run --dir runs/x": "dmc",
    "train sac --env dmc-pixels/cheetah-run --dir runs/x": "dmc",
    "presets show laptop --env dmc/cheetah-run": "dmc",
    "sigma --env dmc/cheetah-run": "dmc",
    "train sac --env gym/HalfCheetah-v5 --dir runs/x": "gym",
    "train sac --env gym/Pendulum-v1 --tensorboard --dir runs/x": "tensorboard",
    "train sac --env gym/Pendulum-v1 --wandb mine --dir runs/x": "wandb",
    "play runs/a --video a.mp4": "video",
    "export runs/a --out policy.onnx": "export",
    "tune --env gym/Pendulum-v1 --dir runs/x": "tune",
    "experiment run fig1 --scale laptop --ray": "ray",
}
"""Command lines that an extra is needed for."""
WITH_DMC = (
    f"train sac --env dmc/cheetah-run {SHORT} --dir runs/x",
    "presets show laptop --env dmc/cheetah-run",
    "sigma --env dmc/cheetah-run --steps 100",
)


def run(*command, cwd):
    """Run a program that sees no package but those of its own environment."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, env=env)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def new_environment(folder, *packages, below=None):
    """Return the interpreter of a new environment; ``below``: one whose packages it has, too."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    if below is not None:
        (own,) = folder.glob("lib/python*/site-packages")
        (other,) = below.glob("lib/python*/site-packages")
        (own / "below.pth").write_text(f"{other}\n")
    run(python, *PIP, "install", "-q", "--no-compile", *PINS, *packages, cwd=folder)
    return python


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, *PIP, "wheel", "-q", "--no-deps", "-w", folder, ROOT, cwd=folder)
    (path,) = folder.glob("learned_fourier_features-*.whl")
    return path


@pytest.fixture(scope="module")
def core(wheel, tmp_path_factory):
    """The folder of an environment with the wheel and its own dependencies."""
    folder = tmp_path_factory.mktemp("core")
    new_environment(folder, wheel)
    return folder


def check(python, folder, works, needs, extras):
    """Run all commands in an environment; ``extras`` are those that it has."""
    folder.mkdir()
    lines = [*works, *needs, "doctor --env probe/action --json"]
    ends = json.loads(run(python, "-c", ALL, json.dumps(lines), cwd=folder).splitlines()[-1])
    for line in works:
        assert ends[line][0] == 0, (line, ends[line])
    for line, extra in needs.items():
        code, _, err = ends[line]
        assert code == 2, (line, ends[line])
        (said,) = err.splitlines()
        assert re.fullmatch(
            r"lff: .+ needs .+, which (is|are) not installed; "
            rf"pip install 'learned-fourier-features\[{extra}\]'",
            said,
        ), said
    assert not (folder / "runs" / "x" / "config.json").exists() or extras == "dmc"
    listed = json.loads(ends[lines[-1]][1])[-1]
    assert listed["found"].startswith(f"installed: {extras}; not installed: ")


@pytest.mark.system
def test_without_any_extra(core, tmp_path):
    check(core / "bin" / "python", tmp_path / "empty", WORK, NEED, "none")


@pytest.mark.system
def test_with_the_extra_dmc(core, wheel, tmp_path):
    python = new_environment(tmp_path / "new", f"{wheel}[dmc,figures]", below=core)
    needs = {line: extra for line, extra in NEED.items() if extra != "dmc"}
    needs["play runs/a --video a.mp4"] = "video"
    works = (WORK[2], *WITH_DMC)
    check(python, tmp_path / "empty", works, needs, "dmc")


@pytest.mark.system
def test_the_lines_of_readme_work_with_the_wheel_and_its_extra_alone(core, wheel, tmp_path):
    python = new_environment(tmp_path / "new", f"{wheel}[sb3]", below=core)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    (lines,) = (block for block in blocks if "lff.plugins.sb3" in block)
    script = tmp_path / "mine.py"
    script.write_text(lines + ASK)
    assert str(core) in run(python, script, cwd=tmp_path)
    packages = run(python, *PIP, "list", "--format", "freeze", cwd=tmp_path).lower()
    assert re.search(r"^stable.baselines3==", packages, re.MULTILINE)
    assert not re.search(r"^(torchrl|tianshou|jax|flax|dm.control)==", packages, re.MULTILINE)
    works = ("experiment status fig1", WORK[2])
    check(python, tmp_path / "empty", works, NEED, "sb3")
