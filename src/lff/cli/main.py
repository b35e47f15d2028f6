"""``lff COMMAND``: finds the command, and turns errors into one line and an exit code."""

import importlib
import sys
from collections.abc import Callable
from typing import Any

import tyro

from lff.core.errors import BadInputError, RunError, exit_code

COMMANDS = {
    "train": "train",
    "resume": "rerun",
    "show": "show",
    "verify": "verify",
    "compare": "compare",
    "rerun": "rerun",
    "play": "policy",
    "audit": "policy",
    "export": "policy",
    "presets": "presets",
    "sigma": "sigma",
    "spectrum": "spectrum",
    "doctor": "doctor",
    "tune": "tune",
    "experiment": "experiment",
    "report": "report",
    "explore": "report",
}
"""The module of each command; a command imports what it needs, torch too, when it is called."""
RAW = ("train", "experiment")
"""Commands that read their words themselves."""


def main() -> None:
    """Run the command line; exit codes are those of ``docs/run-directory.md``."""
    name, *words = sys.argv[1:] or ["--help"]
    try:
        if name in RAW:
            find_command(name)(words)
        elif name in COMMANDS:
            tyro.cli(find_command(name), prog=f"lff {name}", args=words)
        else:
            tyro.extras.subcommand_cli_from_dict(
                {command: find_command(command) for command in COMMANDS},
                prog="lff",
                description="Learned Fourier features for reinforcement learning.",
                args=[name, *words],
            )
    except (BadInputError, RunError) as error:
        print(f"lff: {error}", file=sys.stderr)
        sys.exit(exit_code(error))


def find_command(name: str) -> Callable[..., Any]:
    """Return the function of a command."""
    found: Callable[..., Any] = getattr(
        importlib.import_module(f"lff.cli.{COMMANDS[name]}"), f"{name}_command"
    )
    return found
