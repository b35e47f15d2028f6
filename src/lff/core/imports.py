"""Imports of child processes, and those that the name in a stored file asks for."""

import os
import re
import subprocess
import sys
from collections.abc import Collection, Mapping
from pathlib import Path

from lff.core.errors import BadInputError

GIVEN_PATH = "LFF_PATH"
"""The variable with the folders of ``--path``, for the workers of a cluster."""
_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def child_imports() -> dict[str, str]:
    """Return the variables with which a child imports what this process can import.

    The working directory is not among it, however this process was started.
    """
    found = os.pathsep.join(os.path.abspath(path) for path in sys.path if path)  # noqa: PTH100
    return {"PYTHONPATH": found, "PYTHONSAFEPATH": "1"}


def child_can_import(module: str) -> bool:
    """Return whether a child process finds a module: not if only the working directory has it."""
    found = sys.modules.get(module.partition(".")[0])
    file = getattr(found, "__file__", None)
    if file is None:
        return True
    folders = {str(Path(one).resolve()) for one in sys.path if one}
    home = Path(file).resolve().parent
    return str(home.parent if Path(file).name == "__init__.py" else home) in folders


def run_code(code: str, environment: Mapping[str, str], *, timeout: float) -> str:
    """Run Python code in a child process; return the last line of its error, or nothing."""
    command = [sys.executable, "-c", code]
    try:
        run = subprocess.run(
            command, env=environment, capture_output=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {timeout:.0f} s"
    lines = run.stderr.decode(errors="replace").strip().splitlines()
    return (lines or ["no message"])[-1][:120] if run.returncode else ""


def module_of(task: str) -> str | None:
    """Return the module that making an environment imports by its name; None for ours.

    >>> module_of("own.envs:make"), module_of("gym/own:Swing-v0"), module_of("dmc/cheetah-run")
    ('own.envs', 'own', None)
    >>> module_of("gym-pixels/own:Swing-v0")
    'own'
    """
    family, _, name = task.partition("/")
    if ":" in family:
        return task.partition(":")[0]
    return name.partition(":")[0] if family in ("gym", "gym-pixels") and ":" in name else None


def check_module(what: str, name: str) -> None:
    """Raise unless the part of a name before its colon can be a module."""
    if not _DOTTED.fullmatch(name.partition(":")[0]):
        remedy = "write package.module:name"
        raise BadInputError(what, name, "a module and a name in it", remedy)


def check_stored_env(task: str, trust: Collection[str]) -> None:
    """Raise if a stored environment would import a module that the command line does not name.

    ``trust`` has packages, modules, or names of environments as they are stored.
    """
    module = module_of(task)
    if module is None or {task, module, module.partition(".")[0]} & {*trust}:
        return
    remedy = f"making it imports {module!r}: if you trust that, add --trust {module}"
    raise BadInputError("stored env", task, "one of ours, or named again", remedy)
