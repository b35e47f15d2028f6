"""Options that commands share, tables on the terminal, and checks of the files to write."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console
from rich.table import Table

from lff.core.errors import BadInputError

arg = tyro.conf.arg
Run = tyro.conf.Positional[
    Annotated[Path, arg(help="the run directory; the run may still be going on")]
]
Checkpoint = Annotated[str, arg(help="latest, final, or the step of a kept checkpoint")]
Force = Annotated[bool, arg(help="replace the file if it is there")]
Json = Annotated[bool, arg(name="json", help="print JSON instead of tables")]
Trust = Annotated[
    tuple[str, ...],
    arg(help="your packages or modules whose classes and environments a stored config may name"),
]


def print_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    justify: Literal["left", "right"] = "left",
) -> None:
    """Print rows under headings; ``justify`` is for all columns but the first."""
    table = Table(box=None, pad_edge=False, show_header=any(headings))
    for i, heading in enumerate(headings):
        table.add_column(heading, overflow="fold", justify=justify if i else "left")
    for row in rows:
        table.add_row(*row)
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 10_000  # a file does not cut tables at the width of a terminal
    console.print(table)


def cell(value: Any) -> str:
    """Return a value as a cell of a table.

    >>> cell([256, 1024]), cell(None), cell(0.00031), cell(True)
    ('256 1,024', '-', '0.00031', 'True')
    """
    if value is None:
        return "-"
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, list | tuple):
        return " ".join(map(cell, value))
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def check_out(out: Path, *, force: bool, suffix: str = "") -> None:
    """Raise, before any work is done, if a file cannot or must not be written."""
    if suffix and out.suffix != suffix:
        raise BadInputError("file", str(out), f"a {suffix} file", f"use for example curves{suffix}")
    if out.is_dir():
        raise BadInputError("file", str(out), "a file, not a folder", "name a file in it")
    if out.exists() and not force:
        raise BadInputError("file", str(out), "a new file", "use another name, or --force")
    if not out.parent.is_dir():
        raise BadInputError("file", str(out), "in an existing folder", "create the folder first")
