"""How a command ends, as a number that a scheduler can act on."""

import enum


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

    >>> from lff.core import BadInputError
    >>> exit_code(BadInputError("sigma", -1, "a number >= 0", "use 0.01")).value
    2
    """
    return ExitCode(getattr(error, "exit_code", ExitCode.FAILED))
