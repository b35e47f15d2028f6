"""``lff resume RUN`` goes on with a run; ``lff rerun RUN --dir NEW`` repeats and compares it."""

import dataclasses
import sys
from pathlib import Path
from typing import Annotated

from lff.cli.card import card_difference
from lff.cli.output import Run, Trust, arg
from lff.cli.train import run_to_end
from lff.core.errors import BadInputError, CorruptError, ExitCode, StorageError
from lff.runs.load import read_config
from lff.store import RunDir, find_run
from lff.store.atomic import loads, read_bytes, shown
from lff.training.run import versions
from lff.training.trackers import Trackers

NO_TRACKERS = Trackers()


def resume_command(
    run: Run,
    /,
    *,
    steps: int | None = None,
    trust: Trust = (),
    trackers: Annotated[Trackers, arg(name="")] = NO_TRACKERS,
) -> None:
    """Go on with a run from its newest checkpoint, by its stored config.

    Args:
        steps: extend the run to this many environment steps.
    """
    folder = find_run(run)
    config = read_config(folder, trust=trust)
    if steps is not None:
        if steps < config.steps:
            remedy = "a run can be extended, not cut"
            raise BadInputError("steps", steps, f"{config.steps} or more", remedy)
        config = dataclasses.replace(config, steps=steps)
    try:
        episodes = int(folder.info.get("reference_episodes", 0))
    except (StorageError, TypeError, ValueError):
        episodes = 0  # the start reports what is damaged
    run_to_end(config, run, trackers, may_differ=("steps",), reference_episodes=episodes)


def rerun_command(
    run: Run, /, *, dir: Path, seed: int | None = None, card: Path | None = None, trust: Trust = ()
) -> None:
    """Repeat a run by its stored config; exit code 1 if its metrics are not equal byte for byte.

    Args:
        dir: the directory of the new run; the same command again resumes it.
        seed: another seed; then nothing is compared.
        card: also compare this card of the run (lff card) with that of the new one.
    """
    old = find_run(run)
    if card is not None and not (card.is_file() and old.status == "finished"):
        wanted = "the card of a finished run"
        raise BadInputError("card", str(card), wanted, "write it: lff card RUN")
    if dir.resolve() == run.resolve():
        raise BadInputError("dir", str(dir), "another directory", "name a new one")
    config = read_config(old, trust=trust)
    stored = config.seed
    if seed is not None:
        config = dataclasses.replace(config, seed=seed)
    episodes = len(old.reference.get("random") or ())
    run_to_end(config, dir, Trackers(), reference_episodes=episodes)
    if config.seed != stored:
        print(f"seed {config.seed} instead of {stored}: nothing to compare")
        return
    difference = first_difference(old, RunDir(dir))
    if difference is None:
        done = "" if old.status == "finished" else ", as far as the old one has come"
        print(f"equal: metrics.jsonl is that of {run}, byte for byte{done}")
        if card is None:
            return
        difference = card_difference(card, dir, origin=run, trust=trust)
        if difference is None:
            print(f"equal: {card}, byte for byte")
            return
        difference = f"{card}, {difference}"
    print(f"different: {difference}")
    for name, (then, now) in old.drift(versions()).items():
        print(f"  {name} was {then}, is {now}")
    if old.info.get("computed") != RunDir(dir).info.get("computed"):
        print("  compiled by another compiler, for another processor, or from other sources")
    sys.exit(ExitCode.FAILED)


def first_difference(old: RunDir, new: RunDir) -> str | None:
    """Return where the metrics of two runs first differ; None if they are equal.

    A run that is not finished is compared as far as it has come.
    """
    there, here = (read_bytes(folder.metrics_file).split(b"\n") for folder in (old, new))
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
        then, now = (shown(loads(row, Path("metrics.jsonl"))) for row in (one, other))
        names = sorted(n for n in {*then, *now} if then.get(n) != now.get(n))
        parts = [f"{n}: {then.get(n)} there, {now.get(n)} here" for n in names[:3]]
    except CorruptError:
        return "not a row of metrics in both"
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"step {then.get('env_step')}: {'; '.join(parts)}{more}"
