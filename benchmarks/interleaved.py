"""Ratios on a noisy machine: peers take turns in one run, and each round gives one ratio."""

import argparse
import statistics
import time
from collections.abc import Callable, Mapping

import torch

Run = Callable[[], object]


def set_up(description: str) -> argparse.Namespace:
    """Read the options that every benchmark has, and set threads and seed by them."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=31)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    return arguments


def measure(
    runs: Mapping[str, Run], *, rounds: int, seconds: float = 0.02
) -> dict[str, list[float]]:
    """Return seconds per call of every run, round by round, the runs taking turns."""
    for run in runs.values():  # warm up, compile
        for _ in range(3):
            run()
    calls = {name: max(1, int(seconds / _time(run, 3))) for name, run in runs.items()}
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            times[name].append(_time(run, calls[name]))
    return times


def ratio(times: Mapping[str, list[float]], numerator: str, denominator: str) -> float:
    """Return the median over rounds of time(numerator) / time(denominator)."""
    pairs = zip(times[numerator], times[denominator], strict=True)
    return statistics.median(a / b for a, b in pairs)


def _time(run: Run, calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        run()
    return (time.perf_counter() - start) / calls
