"""SIGINT and SIGTERM while a run goes on: the first asks it to stop, a later one stops it."""

import math
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lff.core.errors import InterruptedRunError

PATIENCE = 1.0
"""Seconds in which a second signal is taken for the first one's echo."""


@contextmanager
def catch_signals(interrupt: Callable[[], None], step: Callable[[], int]) -> Iterator[None]:
    """Call ``interrupt`` on SIGINT and SIGTERM; ``step`` says where the run stands.

    A second signal, a while after the first, stops at once: what came after the last checkpoint
    will be done again.
    """
    first = math.inf
    at_once = False

    def stop(*_: object) -> None:
        nonlocal first, at_once
        first = min(first, time.monotonic())
        interrupt()
        if time.monotonic() - first > PATIENCE:
            at_once = True
            raise KeyboardInterrupt

    try:
        old = {s: signal.signal(s, stop) for s in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not the main thread: somebody else handles signals
        yield
        return
    try:
        yield
    except BaseException as error:
        if at_once:  # whatever became of the KeyboardInterrupt on its way
            raise InterruptedRunError(
                f"stopped at once at step {step():,}, without a checkpoint; run the same command "
                "to go on from the last one"
            ) from error
        raise
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
