"""A flag for every field of a run's config, read by tyro from the dataclasses themselves."""

import dataclasses
from collections.abc import Sequence
from typing import Annotated, Any

import tyro

from lff.training import RunConfig

FLAT = ("algo", "schedule", "compute")
"""Parts of a run whose fields are flags without a prefix."""


def parse_fields(config: RunConfig, args: Sequence[str], *, prog: str) -> RunConfig:
    """Return the config with the values of these flags.

    Fields of the run, the algorithm, the schedule and the compute part have one flat name each;
    networks and other nested parts keep their path (``--critic.front.sigma``).  The class of a
    part is fixed by the config, so that its fields are flags, not subcommands.
    """
    if not args:
        return config
    flat = tyro.conf.arg(name="")
    kinds: list[tuple[str, Any]] = [
        (name, Annotated[type(getattr(config, name)), flat]) for name in FLAT
    ]
    kinds.append(("env", tyro.conf.Suppress[str]))  # an option of the first phase
    if config.view is not None:
        kinds.append(("view", type(config.view)))
    fields = dataclasses.make_dataclass(
        "Fields", kinds, bases=(RunConfig,), frozen=True, kw_only=True
    )
    values = {field.name: getattr(config, field.name) for field in dataclasses.fields(config)}
    parsed = tyro.cli(
        tyro.conf.AvoidSubcommands[fields],  # type: ignore[valid-type,misc]
        prog=prog,
        description=f"Every field of {prog}, beside the options that {prog} --help lists.",
        args=args,
        default=fields(**values),
    )
    return RunConfig(**{name: getattr(parsed, name) for name in values})
