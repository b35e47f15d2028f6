"""Draws of the theory's jobs: one job makes all of them, and takes seconds."""

from collections.abc import Iterable, Iterator

import torch

from lff.launch.job import JobRow, Report


def rows_of(seed: int, metric: str, steps: Iterable[int], values: Iterable[float]) -> list[JobRow]:
    """Return the rows of one curve."""
    return [
        JobRow(seed, int(step), metric, float(value))
        for step, value in zip(steps, values, strict=True)
    ]


def each_draw(
    draws: int, report: Report, *, what: str = "draw"
) -> Iterator[tuple[int, torch.Generator]]:
    """Yield every draw's seed and randomness, and report the progress."""
    for seed in range(draws):
        report(seed / draws, f"{what} {seed}")
        yield seed, start(seed)


def start(seed: int) -> torch.Generator:
    """Return the randomness of one draw; one thread is enough."""
    torch.set_num_threads(1)
    return torch.Generator().manual_seed(seed)
