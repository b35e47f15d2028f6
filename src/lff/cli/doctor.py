"""``lff doctor``: checks the installation and prints remedies."""

import json
import sys
from dataclasses import asdict
from pathlib import Path

from rich.text import Text

from lff.cli.output import Json, print_table
from lff.core.errors import ExitCode
from lff.training.doctor import Check, examine

COLORS = {"ok": "green", "warning": "yellow", "failed": "red"}


def doctor_command(
    *,
    dir: Path = Path("runs"),
    env: str = "dmc/cheetah-run",
    full: bool = False,
    as_json: Json = False,
) -> None:
    """Check Python, torch, simulator, rendering, memory, disk and threads; exit 1 if one failed.

    Args:
        dir: where runs will be written; nothing is left there.
        env: the task to make one step of, and to reckon the replay for.
        full: also compile something, which takes half a minute.
    """
    checks = examine(directory=dir, env=env, full=full)
    if as_json:
        print(json.dumps([asdict(check) for check in checks], indent=2))
    else:
        print_table(("", "", ""), map(_row, checks))
    if any(check.status == "failed" for check in checks):
        sys.exit(ExitCode.FAILED)


def _row(check: Check) -> tuple[str, Text, Text]:
    text = Text(check.found)
    if check.remedy:
        text.append(f"\n-> {check.remedy}", style="bold")
    return check.name, Text(check.status, style=COLORS[check.status]), text
