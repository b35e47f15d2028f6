"""``lff resume RUN``: go on with an interrupted run, or extend a finished one."""

import dataclasses
from pathlib import Path

import tyro

from lff.cli.train import run_to_end
from lff.core.errors import BadInputError
from lff.runs.load import read_config
from lff.store import find_run
from lff.training.trackers import Trackers


def resume(
    run: tyro.conf.Positional[Path],
    /,
    *,
    steps: int | None = None,
    trust: tuple[str, ...] = (),
) -> None:
    """Go on with a run from its newest checkpoint, by its stored config and in its trackers.

    Args:
        run: the run directory.
        steps: extend the run to this many environment steps.
        trust: packages of yours whose classes the stored config may name.
    """
    folder = find_run(run)
    config = read_config(folder, trust=trust)
    if steps is not None:
        if steps < config.steps:
            remedy = "a run can be extended, not cut"
            raise BadInputError("steps", steps, f"{config.steps} or more", remedy)
        config = dataclasses.replace(config, steps=steps)
    run_to_end(config, run, Trackers.of(folder), may_differ=("steps",))
