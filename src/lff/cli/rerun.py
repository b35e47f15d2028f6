"""``lff rerun RUN --dir NEW``: repeat a run from its stored config, and compare the metrics."""

import dataclasses
import json
import sys
from pathlib import Path

import tyro

from lff.cli.train import run_to_end
from lff.core.errors import BadInputError
from lff.core.exit_codes import ExitCode
from lff.runs.load import read_config
from lff.store import RunDir, find_run
from lff.training.run import versions
from lff.training.trackers import Trackers


def rerun(
    run: tyro.conf.Positional[Path],
    /,
    *,
    dir: Path,
    seed: int | None = None,
    trust: tuple[str, ...] = (),
) -> None:
    """Repeat a run by its stored config; exit code 1 if its metrics are not equal byte for byte.

    Args:
        run: the run directory to repeat.
        dir: the directory of the new run; the same command again resumes it.
        seed: another seed; then nothing is compared.
        trust: packages of yours whose classes the stored config may name.
    """
    old = find_run(run)
    if dir.resolve() == run.resolve():
        raise BadInputError("dir", str(dir), "another directory", "name a new one")
    config = read_config(old, trust=trust)
    stored = config.seed
    if seed is not None:
        config = dataclasses.replace(config, seed=seed)
    run_to_end(config, dir, Trackers())
    if config.seed != stored:
        print(f"seed {config.seed} instead of {stored}: nothing to compare")  # noqa: T201
        return
    difference = first_difference(old, RunDir(dir))
    if difference is None:
        done = "" if old.status == "finished" else ", as far as the old one has come"
        print(f"equal: metrics.jsonl is that of {run}, byte for byte{done}")  # noqa: T201
        return
    print(f"different: {difference}")  # noqa: T201
    for name, (then, now) in old.drift(versions()).items():
        print(f"  {name} was {then}, is {now}")  # noqa: T201
    sys.exit(ExitCode.FAILED)


def first_difference(old: RunDir, new: RunDir) -> str | None:
    """Return where the metrics of two runs first differ; None if they are equal.

    A run that is not finished is compared as far as it has come.
    """
    there, here = (folder.metrics_file.read_bytes().split(b"\n") for folder in (old, new))
    if old.status != "finished":
        there = there[:-1]
        here = here[: len(there)]
    for number, (one, other) in enumerate(zip(there, here, strict=False), 1):
        if one != other:
            return f"row {number}, {_describe(one, other)}"
    if len(there) != len(here):
        return f"{len(there) - 1} rows there, {len(here) - 1} here; the shared ones are equal"
    return None


def _describe(one: bytes, other: bytes) -> str:
    try:
        then, now = json.loads(one), json.loads(other)
        names = sorted(n for n in {*then, *now} if then.get(n) != now.get(n))
        parts = [f"{n}: {then.get(n)} there, {now.get(n)} here" for n in names[:3]]
    except (ValueError, AttributeError):
        return "not a row of metrics in both"
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"step {then.get('env_step')}: {'; '.join(parts)}{more}"
