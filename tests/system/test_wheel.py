"""README's lines for Stable-Baselines3, in a new environment with the wheel and nothing else."""

import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PIP = ("-m", "pip", "--disable-pip-version-check")
ASK = """
import lff
report = lff.audit(model, show=False)
assert report.ok and report.layers[0].steps == 50, report  # 150 steps, 100 of them to warm up
print(lff.__file__)
"""


def run(*command, cwd):
    """Run a program that sees no package but those of its own environment."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, env=env)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.system
def test_the_lines_of_readme_work_with_the_wheel_and_its_extra_alone(tmp_path):
    run(sys.executable, *PIP, "wheel", "-q", "--no-deps", "-w", tmp_path, ROOT, cwd=tmp_path)
    (wheel,) = tmp_path.glob("learned_fourier_features-*.whl")
    venv.create(tmp_path / "new", with_pip=True)
    python = tmp_path / "new" / "bin" / "python"
    pins = ("-c", ROOT / "constraints.txt")
    run(python, *PIP, "install", "-q", *pins, f"{wheel}[sb3]", cwd=tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    (lines,) = (block for block in blocks if "lff.plugins.sb3" in block)
    folder = tmp_path / "empty"
    folder.mkdir()
    script = folder / "mine.py"
    script.write_text(lines + ASK)
    assert str(tmp_path / "new") in run(python, script, cwd=folder)
    packages = run(python, *PIP, "list", "--format", "freeze", cwd=folder).lower()
    assert re.search(r"^stable.baselines3==", packages, re.MULTILINE)
    assert not re.search(r"^(torchrl|tianshou|jax|flax|dm.control)==", packages, re.MULTILINE)
