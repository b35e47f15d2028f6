"""``lff doctor``: checks the installation and prints remedies."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lff.core.exit_codes import ExitCode
from lff.training.doctor import Check, examine

COLORS = {"ok": "green", "warning": "yellow", "failed": "red"}


def doctor(
    *,
    dir: Path = Path("runs"),
    env: str = "dmc/cheetah-run",
    full: bool = False,
    as_json: Annotated[bool, tyro.conf.arg(name="json")] = False,
) -> None:
    """Check Python, torch, simulator, rendering, memory, disk and threads; exit 1 if one failed.

    Args:
        dir: where runs will be written; nothing is left there.
        env: the task to make one step of, and to reckon the replay for.
        full: also compile something, which takes half a minute.
        as_json: print JSON instead of a table.
    """
    checks = examine(directory=dir, env=env, full=full)
    if as_json:
        print(json.dumps([asdict(check) for check in checks], indent=2))  # noqa: T201
    else:
        _print(checks)
    if any(check.status == "failed" for check in checks):
        sys.exit(ExitCode.FAILED)


def _print(checks: list[Check]) -> None:
    table = Table(box=None, pad_edge=False, show_header=False)
    for check in checks:
        status = Text(check.status, style=COLORS[check.status])
        text = Text(check.found)
        if check.remedy:
            text.append(f"\n-> {check.remedy}", style="bold")
        table.add_row(check.name, status, text)
    Console(highlight=False).print(table)
