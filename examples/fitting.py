"""Shared by the studies that fit noisy targets: all seeds of an arm train as one ensemble."""

import platform
from argparse import ArgumentParser, Namespace
from pathlib import Path

import torch

import lff
from lff import Ensemble, NetConfig


def parse_arguments(description: str, *, name: str, steps: int) -> Namespace:
    parser = ArgumentParser(description=description)
    parser.add_argument("--out", type=Path, default=Path("runs") / name, help="folder to write to")
    parser.add_argument("--steps", type=int, default=steps, help="gradient steps per network")
    arguments = parser.parse_args()
    if arguments.steps < 1:
        parser.error(f"--steps must be 1 or more, got {arguments.steps}; leave it out for {steps}")
    return arguments


def fit(config: NetConfig, inputs, targets, *, steps, batch=None, every, watch, watch_inputs=None):
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
                watch(step, nets(inputs if watch_inputs is None else watch_inputs))
        points = (
            slice(None) if batch is None else torch.randint(len(inputs), (batch,), generator=rng)
        )
        loss = (nets(inputs[points]) - targets[:, points]).square().mean(dim=(1, 2)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def provenance(command: str, **facts) -> dict[str, object]:
    """Return what made a table, for its sidecar file."""
    versions = {
        "lff": lff.__version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
    }
    return {"command": command, "versions": versions, **facts}
