"""The progress of a run on the terminal: a bar for people, silence for files."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from lff.training.loop import Loop, Watch

REDRAW_EVERY = 50


class Speed(ProgressColumn):
    """Steps per second, which rich shows only where the end is unknown."""

    def render(self, task: Task) -> Text:
        """Return the speed of the last half minute."""
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:.0f} steps/s")


@contextmanager
def progress(label: str, steps: int) -> Iterator[Watch]:
    """Show a bar with steps, return, |Q| and time left; off where no terminal is."""
    console = Console(file=sys.stderr)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Speed(),
        TimeRemainingColumn(),
        TextColumn("return {task.fields[returns]}  |Q| {task.fields[q]}"),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(label, total=steps, returns="-", q="-")

        def watch(loop: Loop, event: str) -> None:
            if event == "warning":
                console.print(f"[yellow]warning:[/] {loop.warning}", highlight=False)
            if event == "step" and loop.progress.agent_step % REDRAW_EVERY:
                return
            returns = "-" if loop.last_return is None else f"{loop.last_return:.1f}"
            q = f"{loop.progress.value_max:.3g}"
            bar.update(task, completed=min(loop.progress.env_step, steps), returns=returns, q=q)

        yield watch
