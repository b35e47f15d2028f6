"""Errors of one line (what, where, remedy) and the exit codes that a scheduler can act on."""

import enum
import importlib.util
import re
import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path

_CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Characters that control a terminal or the direction of text, and those that cannot be encoded."""


class ExitCode(enum.IntEnum):
    """Exit codes of commands; 70, 74 and 75 as in BSD's sysexits.h."""

    OK = 0
    """It did what was asked."""
    FAILED = 1
    """Anything without a number of its own."""
    USAGE = 2
    """The input is wrong: the message names value, constraint and remedy; nothing was written."""
    BUSY = 3
    """Another process runs in this directory; the message names it."""
    NON_FINITE = 70
    """NaN or infinity in an observation, reward or weight; the last checkpoint is good."""
    IO = 74
    """Disk full, read-only, missing, forbidden, or what is stored is damaged."""
    INTERRUPTED = 75
    """Stopped by a signal after a checkpoint: run the same command to continue."""


def exit_code(error: BaseException) -> ExitCode:
    """Return the code that an exception carries, or ``FAILED``.

    >>> exit_code(BadInputError("sigma", -1, "a number >= 0", "use 0.01")).value
    2
    """
    return ExitCode(getattr(error, "exit_code", ExitCode.FAILED))


def printable(text: str) -> str:
    r"""Return a text with its control characters spelled out, so that no terminal obeys them.

    >>> printable("\x1b[31mred")
    '\\x1b[31mred'
    """
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def one_line(text: object) -> str:
    """Return a text, or an error's, on one line."""
    return " ".join(str(text).split())


class BadInputError(ValueError):
    """A value outside its constraint.  The command line turns it into one line and exit code 2."""

    exit_code = ExitCode.USAGE

    def __init__(self, name: str, value: object, constraint: str, remedy: str) -> None:
        text = one_line(repr(value))
        short = text if len(text) <= 80 else text[:79] + "…"
        super().__init__(f"{name} must be {constraint}, got {short}; {remedy}")


class BadTypeError(BadInputError, TypeError):
    """A value of the wrong type or dtype; also a TypeError, as Python callers expect."""


class MissingExtraError(BadInputError):
    """Packages of an optional part of lff are not installed."""

    def __init__(self, packages: Sequence[str], extra: str, purpose: str) -> None:
        verb = "is" if len(packages) == 1 else "are"
        needs = f"{purpose} needs {' and '.join(packages)}, which {verb} not installed"
        ValueError.__init__(self, f"{needs}; pip install 'learned-fourier-features[{extra}]'")


def require_extra(extra: str, *modules: str, purpose: str) -> None:
    """Raise an error with the line that installs an extra, unless its modules are there.

    >>> require_extra("none", "json", "ray_gun", purpose="lff shoot")
    Traceback (most recent call last):
    ...
    lff.core.errors.MissingExtraError: lff shoot needs ray_gun, which is not installed; pip \
install 'learned-fourier-features[none]'
    """
    missing = absent(modules)
    if missing:
        raise MissingExtraError(missing, extra, purpose)


def absent(modules: Iterable[str]) -> list[str]:
    """Return those that are not installed; a plain folder of that name is not the package."""
    specs = {name: importlib.util.find_spec(name) for name in modules}
    return [name for name, spec in specs.items() if spec is None or spec.origin is None]


class RunError(RuntimeError):
    """Something that stops a run, though its input was right."""

    exit_code = ExitCode.FAILED
    detail = ""
    """Lines to print below the message: the traceback of somebody else's code."""


class EnvCrashError(RunError):
    """An exception inside an environment that is not ours; it has its traceback.  Exit code 1."""

    def __init__(self, name: str, doing: str, error: Exception) -> None:
        said = one_line(f"{type(error).__name__}: {error}")
        super().__init__(f"{name} failed in {doing}: {said}")
        inner, ours = error.__traceback__, str(Path(__file__).parents[1])
        while inner is not None and inner.tb_frame.f_code.co_filename.startswith(ours):
            inner = inner.tb_next  # its own traceback, without our frames
        self.detail = "".join(traceback.TracebackException(type(error), error, inner).format())


class BusyError(RunError):
    """Another process holds the run directory.  Exit code 3."""

    exit_code = ExitCode.BUSY


class NonFiniteError(RunError):
    """NaN or infinity where a number belongs.  Exit code 70."""

    exit_code = ExitCode.NON_FINITE


class StorageError(RunError):
    """The disk refused: full, read-only, missing, forbidden.  Exit code 74."""

    exit_code = ExitCode.IO


class CorruptError(StorageError):
    """A stored file is damaged, or was not written by this package.  Exit code 74."""


class InterruptedRunError(RunError):
    """A signal stopped the run after a checkpoint; the same command goes on.  Exit code 75."""

    exit_code = ExitCode.INTERRUPTED
