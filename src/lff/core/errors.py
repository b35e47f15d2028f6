"""What goes wrong, in one line each: what, where, and the remedy.  Each carries its exit code."""

from lff.core.exit_codes import ExitCode


class BadInputError(ValueError):
    """A value outside its constraint.  The command line turns it into one line and exit code 2."""

    exit_code = ExitCode.USAGE

    def __init__(self, name: str, value: object, constraint: str, remedy: str) -> None:
        super().__init__(f"{name} must be {constraint}, got {_brief(value)}; {remedy}")


class BadTypeError(BadInputError, TypeError):
    """A value of the wrong type or dtype; also a TypeError, as Python callers expect."""


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
    """What is stored is not what was written, or was never ours.  Exit code 74."""


class InterruptedRunError(RunError):
    """A signal stopped the run after a checkpoint; the same command goes on.  Exit code 75."""

    exit_code = ExitCode.INTERRUPTED


def _brief(value: object, limit: int = 80) -> str:
    """A printable form on one line, shortened: an error must stay readable for any input."""
    text = " ".join(repr(value).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
