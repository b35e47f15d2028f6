"""Compilation of the update: whether it can be done here, and where its results are kept.

Inductor turns the update into C++ and needs a compiler.  What it made is kept in the user's cache
(``$XDG_CACHE_HOME/lff/inductor``, else ``~/.cache/lff/inductor``), so that the second start of a
run of the same shape finds it; ``TORCHINDUCTOR_CACHE_DIR`` wins if it is set.
"""

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import torch

from lff.core.errors import BadInputError, BadTypeError
from lff.native.build import find_compiler as find_compiler

if TYPE_CHECKING:  # the compiler takes seconds to import: only who compiles waits for them
    from torch._dynamo.types import GuardFilterEntry

CACHE = "TORCHINDUCTOR_CACHE_DIR"
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def check_compiler(wanted: str = "graph") -> None:
    """Refuse to compile where that cannot be done."""
    if find_compiler() is None:
        remedy = "install g++, or use --compile off"
        raise BadInputError("compile", wanted, "possible here: no C++ compiler found", remedy)


def compile_update(update: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Return the update as one graph, compiled at its first call, for inputs of one shape.

    What is called changes only the values of the agent's tensors, never which tensors they are, so
    that the graph's checks of them, hundreds at every call, are left out; those of the arguments
    stay.
    """
    check_compiler()
    keep_cache()
    own = _own_code(update)
    options: dict[str, Any] = {"cpp_wrapper": True, "guard_filter_fn": _of_arguments}
    return torch.compile(own, fullgraph=True, dynamic=False, options=options)


def _of_arguments(checks: "Sequence[GuardFilterEntry]") -> list[bool]:
    """Say which checks of the graph to keep: of the arguments, and those that name nothing.

    The rest is of the agent, ``self``, and of modules of code.
    """
    fixed = re.compile(r"\bself\b|__import__")
    return [not (check.is_global or fixed.search(check.name)) for check in checks]


def _own_code(method: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Return a bound method whose code no other object's method shares.

    Graphs are kept by code.  Without checks of ``self`` a second agent would run the graph, and so
    change the tensors, of the first.
    """
    if not isinstance(method, MethodType):
        remedy = "pass agent.update"
        raise BadTypeError("the update to compile", method, "a method of an agent", remedy)
    inner = method.__func__
    code = inner.__code__.replace()
    own = FunctionType(
        code, inner.__globals__, inner.__name__, inner.__defaults__, inner.__closure__
    )
    own.__kwdefaults__ = inner.__kwdefaults__
    return MethodType(own, method.__self__)


def keep_cache() -> Path:
    """Point inductor to the user's cache, unless the user has chosen, and return the folder."""
    if CACHE not in os.environ:
        folder = cache_dir()
        try:
            for place in (folder.parent, folder):  # native code refuses what others may write
                place.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError:  # no home to write to: inductor's own choice, a temporary folder, will do
            return folder
        if os.access(folder, os.W_OK):
            os.environ[CACHE] = str(folder)
    return Path(os.environ.get(CACHE, cache_dir()))


def cache_dir() -> Path:
    """Return where compiled updates are kept by default."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "lff" / "inductor"
