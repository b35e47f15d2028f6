"""Errors of one line (what, where, remedy) and the exit codes that a scheduler can act on."""

import enum


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
