"""Errors of one line (what, where, remedy) and the exit codes that a scheduler can act on."""

import enum
import traceback
from pathlib import Path


class ExitCode(enum.IntEnum):
    """What ``$?`` is after a command; 70, 74 and 75 as in BSD's sysexits.h."""

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
    """Stopped by a signal after a checkpoint: start the same command again to go on."""


def exit_code(error: BaseException) -> ExitCode:
    """Return the code that an exception carries, or ``FAILED``.

    >>> exit_code(BadInputError("sigma", -1, "a number >= 0", "use 0.01")).value
    2
    """
    return ExitCode(getattr(error, "exit_code", ExitCode.FAILED))


class BadInputError(ValueError):
    """A value outside its constraint.  The command line turns it into one line and exit code 2."""

    exit_code = ExitCode.USAGE

    def __init__(self, name: str, value: object, constraint: str, remedy: str) -> None:
        text = " ".join(repr(value).split())  # one readable line for any input
        short = text if len(text) <= 80 else text[:79] + "…"
        super().__init__(f"{name} must be {constraint}, got {short}; {remedy}")


class BadTypeError(BadInputError, TypeError):
    """A value of the wrong type or dtype; also a TypeError, as Python callers expect."""


def missing_extra(package: str, extra: str, purpose: str) -> BadInputError:
    """Return the error for a package that is not installed; it has the line that installs it."""
    remedy = f"pip install 'learned-fourier-features[{extra}]'"
    return BadInputError(package, "no such module", f"installed for {purpose}", remedy)


class RunError(RuntimeError):
    """Something that stops a run, though its input was right."""

    exit_code = ExitCode.FAILED
    detail = ""
    """Lines to print below the message: the traceback of somebody else's code."""


class EnvCrashError(RunError):
    """An exception inside an environment that is not ours; it has its traceback.  Exit code 1."""

    def __init__(self, name: str, doing: str, error: Exception) -> None:
        said = " ".join(f"{type(error).__name__}: {error}".split())
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
    """What is stored is not what was written, or was never ours.  Exit code 74."""


class InterruptedRunError(RunError):
    """A signal stopped the run after a checkpoint; the same command goes on.  Exit code 75."""

    exit_code = ExitCode.INTERRUPTED
