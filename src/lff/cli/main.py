"""``lff COMMAND``: finds the command, and turns errors into one line and an exit code."""

import importlib
import sys

import tyro

from lff.core.errors import BadInputError, RunError
from lff.core.exit_codes import exit_code

GROUPS = {"experiment": "Experiments: every figure and claim, one command each."}
"""Commands that have commands of their own, in ``cli/<name>.py``; they start without torch."""
LIGHT = ("report", "explore")
"""Commands in ``cli/<name>.py`` that start without torch."""
_DESCRIPTION = "Learned Fourier features for reinforcement learning."


def main() -> None:
    """Run the command line; exit codes are those of ``docs/run-directory.md``."""
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    try:
        if name == "train":  # it reads its words in two phases
            importlib.import_module("lff.cli.train").train_command(sys.argv[2:])
            return
        if name in LIGHT:
            command = getattr(importlib.import_module(f"lff.cli.{name}"), name)
            tyro.cli(command, prog=f"lff {name}", args=sys.argv[2:])
            return
        if name in GROUPS:
            group = importlib.import_module(f"lff.cli.{name}")
            commands, rest = group.COMMANDS, group.completed(sys.argv[2:])
            prog, text = f"lff {name}", GROUPS[name]
        else:
            commands = importlib.import_module("lff.cli.commands").COMMANDS
            prog, rest, text = "lff", sys.argv[1:], _DESCRIPTION
        tyro.extras.subcommand_cli_from_dict(commands, prog=prog, description=text, args=rest)
    except (BadInputError, RunError) as error:
        print(f"lff: {error}", file=sys.stderr)  # noqa: T201
        sys.exit(exit_code(error))
