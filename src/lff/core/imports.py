"""What may be imported: by child processes, and by the name that a stored file gives."""

import os
import re
import sys
from collections.abc import Collection

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


def module_of(task: str) -> str | None:
    """Return the module that making an environment imports by its name; None for ours.

    >>> module_of("own.envs:make"), module_of("gym/own:Swing-v0"), module_of("dmc/cheetah-run")
    ('own.envs', 'own', None)
    """
    family, _, name = task.partition("/")
    if ":" in family:
        return task.partition(":")[0]
    return name.partition(":")[0] if family == "gym" and ":" in name else None


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
