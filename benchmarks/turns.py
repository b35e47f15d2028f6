"""Training loops take turns: each in a process of its own, asleep while another one runs.

The loop calls :func:`turns`'s function once a step; it returns at once inside a slice and waits for
the next slice otherwise, so a loop is measured as it is, with nothing cut out.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
"""What a rate is by: processor time, over all threads, is the fairer one on a busy machine."""


def turns(
    *, ready_after: int, clock: Callable[[], float] = time.perf_counter
) -> Callable[[], None]:
    """Return what a loop calls after every step; the first ``ready_after`` steps are warm-up."""
    steps, start, end = -ready_after, 0.0, float("inf")

    def tick() -> None:
        nonlocal steps, start, end
        steps += 1
        now = time.perf_counter()
        if steps < 0 or (steps > 0 and now < end):
            return
        print("slice", steps / (clock() - start), flush=True)
        line = sys.stdin.readline()
        if not line.strip():
            raise SystemExit
        steps, start = 0, clock()
        end = time.perf_counter() + float(line)

    return tick


class Contender:
    """A child process that runs one of the loops, a slice when told."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        threads: int | None = None,
        source: Path | None = None,
    ) -> None:
        """Start the child, on ``threads`` processors and, if given, with another ``src``."""
        self.name, self.rates = name, list[float]()
        processors = sorted(os.sched_getaffinity(0))[:threads]
        self.child = subprocess.Popen(
            [sys.executable, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **({"PYTHONPATH": str(source)} if source else {})},
            # every library takes its threads from here, whatever it reads besides
            preexec_fn=lambda: os.sched_setaffinity(0, processors),
        )
        self._answer()

    def start(self, seconds: float) -> None:
        """Begin a slice."""
        self.child.stdin.write(f"{seconds}\n")
        self.child.stdin.flush()

    def finish(self) -> float:
        """Wait for the end of the slice; return its steps per second."""
        self.rates.append(self._answer())
        return self.rates[-1]

    def stop(self) -> None:
        """Let the child go."""
        self.child.stdin.close()
        self.child.wait()

    def _answer(self) -> float:
        for line in self.child.stdout:
            if line.startswith("slice"):
                return float(line.split()[1])
        sys.exit(f"{self.name} stopped with exit code {self.child.wait()}")


def take_turns(contenders: Sequence[Contender], *, rounds: int, seconds: float) -> None:
    """Let each run a slice in every round, then end them; the order moves on by one each time."""
    for turn in range(rounds):
        shift = turn % len(contenders)
        for contender in [*contenders[shift:], *contenders[:shift]]:
            contender.start(seconds)
            contender.finish()
    for contender in contenders:
        contender.stop()


def median_and_quartiles(values: Sequence[float]) -> tuple[float, list[float]]:
    """Return the median, and the quartiles as the spread."""
    if len(values) < 2:
        return values[0], [round(values[0], 3)] * 2
    quartiles = statistics.quantiles(values, n=4, method="inclusive")
    return quartiles[1], [round(quartiles[0], 3), round(quartiles[2], 3)]
