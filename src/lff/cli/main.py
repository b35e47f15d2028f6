"""``lff COMMAND``: finds the command, and turns errors into one line and an exit code."""

import sys
from collections.abc import Callable
from typing import Any

import tyro

from lff.cli.audit import audit_command
from lff.cli.compare import compare
from lff.cli.doctor import doctor
from lff.cli.export import export_command
from lff.cli.play import play
from lff.cli.presets import presets
from lff.cli.report import report
from lff.cli.rerun import rerun
from lff.cli.resume import resume
from lff.cli.show import show
from lff.cli.sigma import sigma
from lff.cli.train import train
from lff.core.errors import BadInputError, RunError
from lff.core.exit_codes import exit_code

COMMANDS: dict[str, Callable[..., Any]] = {
    "train": train,
    "resume": resume,
    "show": show,
    "compare": compare,
    "report": report,
    "rerun": rerun,
    "play": play,
    "audit": audit_command,
    "export": export_command,
    "presets": presets,
    "sigma": sigma,
    "doctor": doctor,
}


def main() -> None:
    """Run the command line; exit codes are those of ``docs/run-directory.md``."""
    try:
        tyro.extras.subcommand_cli_from_dict(COMMANDS, prog="lff", description=_DESCRIPTION)
    except (BadInputError, RunError) as error:
        print(f"lff: {error}", file=sys.stderr)  # noqa: T201
        sys.exit(exit_code(error))


_DESCRIPTION = "Learned Fourier features for reinforcement learning."
