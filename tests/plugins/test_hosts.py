"""What all plug-ins have in common: a missing host is named with its extra, none is imported."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import lff.plugins

FOLDER = Path(lff.plugins.__file__).parent
HOSTS = {
    "sb3": "stable_baselines3",
    "flax": "flax",
    "torchrl": "torchrl",
    "tianshou": "tianshou",
}


@pytest.mark.parametrize(("plugin", "host"), HOSTS.items())
def test_a_missing_host_is_named_with_its_extra(plugin, host, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == host]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, host, None)  # as if it were not installed
    spec = importlib.util.spec_from_file_location("a_copy", FOLDER / f"{plugin}.py")
    with pytest.raises(ModuleNotFoundError) as raised:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    extra = f"pip install 'learned-fourier-features[{plugin}]'"
    assert extra in str(raised.value)


def test_the_audit_imports_no_host_of_its_own_accord():
    code = "import sys, lff; lff.audit(lff.LFF(3, 1), show=False); print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    packages = {name.partition(".")[0] for name in run.stdout.split()}
    assert not packages & {*HOSTS.values(), "jax"}
