"""Shared by the studies: what they are told, and the table that they write."""

import platform
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

import torch

import lff
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


def save_table(
    arguments: Namespace, name: str, rows, *, configs=None, seeds, options: str = ""
) -> None:
    """Write ``name.csv`` and beside it what made it: command, versions, digests of the networks."""
    script = Path(sys.argv[0]).name
    provenance = {
        "command": f"python examples/{script} {options}--steps {arguments.steps}",
        "networks": {arm: digest(config) for arm, config in (configs or {}).items()},
        "seeds": seeds,
        "versions": {
            "lff": lff.__version__,
            "torch": torch.__version__,
            "python": platform.python_version(),
        },
    }
    write_table(arguments.out / f"{name}.csv", rows, provenance=provenance)
