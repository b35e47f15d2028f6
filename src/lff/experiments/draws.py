"""What jobs of the theory share: one job makes all its draws, and takes seconds."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from lff.core.experiment import Cost, JobRow, Tell, memory_here


def cost_of(job: Any, *, tried: int = 1) -> Cost:
    """Time a job with fewer draws, and say what all of them will take."""
    start = time.perf_counter()
    tried = min(tried, job.draws)
    list(replace(job, draws=tried).run(Path(), lambda *_: None))
    seconds = (time.perf_counter() - start) * job.draws / tried
    return Cost(seconds, memory_here(), 2**20)


def rows_of(seed: int, metric: str, steps: Iterable[int], values: Iterable[float]) -> list[JobRow]:
    """Return the rows of one curve."""
    return [
        JobRow(seed, int(step), metric, float(value))
        for step, value in zip(steps, values, strict=True)
    ]


def each_draw(
    draws: int, tell: Tell, *, what: str = "draw"
) -> Iterator[tuple[int, torch.Generator]]:
    """Yield every draw's seed and randomness, telling how far the job is."""
    for seed in range(draws):
        tell(seed / draws, f"{what} {seed}")
        yield seed, start(seed)


def start(seed: int) -> torch.Generator:
    """Return the randomness of one draw; one thread is enough."""
    torch.set_num_threads(1)
    return torch.Generator().manual_seed(seed)
