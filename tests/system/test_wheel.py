"""README's lines for Stable-Baselines3, in a new environment with the wheel and nothing else."""

import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*command, cwd):
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, cwd=cwd
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.system
def test_the_lines_of_readme_work_with_the_wheel_and_its_extra_alone(tmp_path):
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", tmp_path, ROOT, cwd=tmp_path)
    (wheel,) = tmp_path.glob("learned_fourier_features-*.whl")
    venv.create(tmp_path / "new", with_pip=True)
    python = tmp_path / "new" / "bin" / "python"
    pins = ("-c", ROOT / "constraints.txt")
    install = (python, "-m", "pip", "install", "--disable-pip-version-check", "-q", *pins)
    run(*install, f"{wheel}[sb3]", cwd=tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    (lines,) = (block for block in blocks if "lff.plugins.sb3" in block)
    folder = tmp_path / "empty"
    folder.mkdir()
    script = folder / "mine.py"
    script.write_text(lines + "import lff\nprint(lff.__file__)\n")
    assert str(tmp_path / "new") in run(python, script, cwd=folder)
    packages = run(python, "-m", "pip", "list", "--format", "freeze", cwd=folder).lower()
    assert "stable" in packages
    assert not re.search(r"^(torchrl|tianshou|jax|flax|dm.control)==", packages, re.MULTILINE)
