"""Compilation of the update: whether it can be done here, and where its results are kept.

Inductor turns the update into C++ and needs a compiler.  What it made is kept in the user's cache
(``$XDG_CACHE_HOME/lff/inductor``, else ``~/.cache/lff/inductor``), so that the second start of a
run of the same shape finds it; ``TORCHINDUCTOR_CACHE_DIR`` wins if it is set.
"""

import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import torch

from lff.core.errors import BadTypeError
from lff.native.build import cache_dir, make_cache_dir, need_compiler

if TYPE_CHECKING:  # the compiler takes seconds to import: only who compiles waits for them
    from torch._dynamo.types import GuardFilterEntry

CACHE, INDUCTOR = "TORCHINDUCTOR_CACHE_DIR", "inductor"
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def compile_update(update: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Return the update as one graph, compiled at its first call, for inputs of one shape.

    What is called changes only the values of the agent's tensors, never which tensors they are, so
    that the graph's checks of them, hundreds at every call, are left out; those of the arguments
    stay.
    """
    need_compiler("graph")
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
        with suppress(OSError):  # no home to write to: inductor's own temporary folder will do
            folder = make_cache_dir(INDUCTOR)
            if os.access(folder, os.W_OK):
                os.environ[CACHE] = str(folder)
    return Path(os.environ.get(CACHE, cache_dir(INDUCTOR)))
