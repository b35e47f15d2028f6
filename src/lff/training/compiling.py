"""Compilation of the update: whether it can be done here, and where its results are kept.

Inductor turns the update into C++ and needs a compiler.  What it made is kept in the user's cache
(``$XDG_CACHE_HOME/lff/inductor``, else ``~/.cache/lff/inductor``), so that the second start of a
run of the same shape finds it; ``TORCHINDUCTOR_CACHE_DIR`` wins if it is set.
"""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

import torch

from lff.core.errors import BadInputError

CACHE = "TORCHINDUCTOR_CACHE_DIR"
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def find_compiler() -> str | None:
    """Return the C++ compiler that inductor will call, or None if there is none."""
    wanted = os.environ.get("CXX") or ("clang++" if sys.platform == "darwin" else "g++")
    return shutil.which(wanted)


def check_compiler() -> None:
    """Refuse to compile where that cannot be done."""
    if find_compiler() is None:
        remedy = "install g++, or use --compile off"
        raise BadInputError("compile", "on", "possible: there is no C++ compiler", remedy)


def compile_update(update: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Return the update as one graph, compiled at its first call."""
    check_compiler()
    keep_cache()
    return torch.compile(update, fullgraph=True, dynamic=False)


def keep_cache() -> Path:
    """Point inductor to the user's cache, unless the user has chosen, and return the folder."""
    if CACHE not in os.environ:
        folder = cache_dir()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:  # no home to write to: inductor's own choice, a temporary folder, will do
            return folder
        if os.access(folder, os.W_OK):
            os.environ[CACHE] = str(folder)
    return Path(os.environ.get(CACHE, cache_dir()))


def cache_dir() -> Path:
    """Return where compiled updates are kept by default."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "lff" / "inductor"
