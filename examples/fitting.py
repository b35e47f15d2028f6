"""Shared by the studies that fit noisy targets: all seeds of an arm train as one ensemble."""

import platform
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

import torch

import lff
from lff import Ensemble, NetConfig
from lff.core import digest
from lff.stats import write_table


def parse_arguments(description: str, *, name: str, steps: int) -> Namespace:
    parser = ArgumentParser(description=description)
    parser.add_argument("--out", type=Path, default=Path("runs") / name, help="folder to write to")
    parser.add_argument("--steps", type=int, default=steps, help="gradient steps per network")
    arguments = parser.parse_args()
    if arguments.steps < 1:
        parser.error(f"--steps must be 1 or more, got {arguments.steps}; leave it out for {steps}")
    return arguments


def fit(config: NetConfig, inputs, targets, *, steps, batch=None, every, watch, look_at=None):
    """Fit ``targets`` (seed, point, 1), a network per seed; ``watch(step, outputs)`` looks on.

    The members share batches but no weights, and Adam works entry by entry, so this equals
    training them one after another.
    """
    rng = torch.Generator().manual_seed(0)
    size, width = len(targets), inputs.shape[-1]
    nets = Ensemble.build(config, size, in_features=width, out_features=1, generator=rng)
    optimizer = torch.optim.Adam(nets.parameters(), lr=1e-3, fused=True)
    for step in range(steps + 1):
        if step % every == 0 or step == steps:
            with torch.no_grad():
                watch(step, nets(inputs if look_at is None else look_at))
        points = (
            slice(None) if batch is None else torch.randint(len(inputs), (batch,), generator=rng)
        )
        loss = (nets(inputs[points]) - targets[:, points]).square().mean(dim=(1, 2)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def save_table(arguments: Namespace, name: str, rows, *, configs=None, seeds) -> None:
    """Write ``name.csv`` and beside it what made it: command, versions, digests of the networks."""
    provenance = {
        "command": f"python examples/{Path(sys.argv[0]).name} --steps {arguments.steps}",
        "networks": {arm: digest(config) for arm, config in (configs or {}).items()},
        "seeds": seeds,
        "versions": {
            "lff": lff.__version__,
            "torch": torch.__version__,
            "python": platform.python_version(),
        },
    }
    write_table(arguments.out / f"{name}.csv", rows, provenance=provenance)
