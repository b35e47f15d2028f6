"""Errors about tasks: the nearest names of an unknown one, the pip line of a missing extra."""

import difflib
from collections.abc import Iterable

from lff.core.errors import BadInputError


def unknown_task(family: str, task: str, names: Iterable[str], *, of: str) -> BadInputError:
    """Return the error for a task that ``of`` does not have; it names up to three that it has."""
    known = sorted(names)
    close = difflib.get_close_matches(task, known, n=3, cutoff=0.4)
    listed = ", ".join(f"{family}/{name}" for name in close or known[:3])
    remedy = f"did you mean {listed}?" if close else f"use {listed}, say"
    return BadInputError("task", f"{family}/{task}", f"a task of {of}", remedy)


def missing_extra(package: str, extra: str) -> BadInputError:
    """Return the error for a package that is not installed; it has the line that installs it."""
    return BadInputError(
        package,
        "no such module",
        "installed for these tasks",
        f"pip install 'learned-fourier-features[{extra}]'",
    )
