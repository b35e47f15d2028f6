"""Shared by the examples that train agents: several ``lff train sac`` side by side, with bars."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from lff.store import RunDir

NON_FINITE = 70
"""The exit code of a run whose numbers left the finite ones: a result, not a failure."""


def train_all(
    runs: dict[Path, list[str]], *, steps: int, workers: int | None = None
) -> dict[Path, int]:
    """Train each folder's run by its options and return exit codes; finished ones stay as they are.

    One thread each, as many at a time as there are cores.  A run that fails is reported with the
    end of its log, after the others have come to their end.
    """
    waiting, going, codes = [r for r in runs.items() if not _is_done(r[0], steps)], {}, {}
    workers = workers or max(1, len(os.sched_getaffinity(0)))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    more = (TimeElapsedColumn(), TimeRemainingColumn(), TextColumn("{task.fields[seen]}"))
    with Progress(*columns, *more, console=Console(stderr=True)) as bar:
        tasks = {f: bar.add_task(f.name, total=steps, seen="", start=False) for f in runs}
        for folder in runs.keys() - dict(waiting).keys():
            bar.update(tasks[folder], completed=steps, seen=_last(folder)[1])
        while waiting or going:
            while waiting and len(going) < workers:
                folder, options = waiting.pop(0)
                going[folder] = _start(folder, options, steps)
                bar.start_task(tasks[folder])
            time.sleep(0.5)
            for folder, process in list(going.items()):
                code = process.poll()
                step, seen = _last(folder)
                bar.update(tasks[folder], completed=steps if code == 0 else step, seen=seen)
                if code is not None:
                    del going[folder]
                    codes[folder] = code
    for folder, code in codes.items():
        if code:
            log = folder.with_suffix(".log").read_text().strip().splitlines()[-3:]
            print(f"{folder} ended with {code}:", *log, sep="\n  ", file=sys.stderr)
    worst = max((code for code in codes.values() if code != NON_FINITE), key=abs, default=0)
    if worst:
        sys.exit(abs(worst))
    return codes


def _is_done(folder: Path, steps: int) -> bool:
    return RunDir(folder).status == "finished" and RunDir(folder).config["steps"] == steps


def read_metrics(folder: Path) -> list[dict]:
    """Return the whole rows of a run's metrics, also while it is being written."""
    path = folder / "metrics.jsonl"
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text.split("\n")[:-1]]


def _start(folder: Path, options: list[str], steps: int) -> subprocess.Popen:
    folder.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "lff", "train", "sac", "--dir", str(folder)]
    command += ["--steps", str(steps), "--threads", "1", *options]
    with folder.with_suffix(".log").open("w") as log:
        return subprocess.Popen(command, stdout=log, stderr=log)


def _last(folder: Path) -> tuple[int, str]:
    rows = read_metrics(folder)
    step = rows[-1]["env_step"] if rows else 0
    q = [row["train/q_mean"] for row in rows if row.get("train/q_mean") is not None][-1:]
    returns = [row["eval/return"] for row in rows if row.get("eval/return") is not None][-1:]
    return step, "  ".join([f"Q {v:.3g}" for v in q] + [f"return {v:.1f}" for v in returns])
