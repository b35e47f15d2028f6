"""``lff presets``: what the named set-ups are, and how two of them differ."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, fields
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console
from rich.table import Table

from lff.core.errors import BadInputError
from lff.envs import PAPER_TASKS, has_pixels
from lff.envs.dimensions import dimensions, shapes
from lff.training import ppo_presets
from lff.training.pixel_presets import PIXEL_SOURCES, pixel_preset, pixel_sizes
from lff.training.presets import SOURCES, NetSize, Preset, PresetName, net_sizes, preset

Values = dict[str, Any]
WANTED = {"list": 0, "show": 1, "diff": 2}


def presets(
    action: tyro.conf.Positional[Literal["list", "show", "diff"]] = "list",
    names: tyro.conf.Positional[tuple[PresetName, ...]] = (),
    /,
    *,
    algo: Literal["sac", "ppo"] = "sac",
    env: str | None = None,
    as_json: Annotated[bool, tyro.conf.arg(name="json")] = False,
) -> None:
    """List the presets, show one, or print how two differ, field by field.

    Args:
        action: list, show NAME, or diff A B.
        names: the presets to show or compare.
        algo: whose presets.
        env: a task; then widths and parameter counts for its dimensions are given too, and for
            dmc-pixels/... the presets from pixels. Without it, values that depend on the task are
            given for the paper's eight.
        as_json: print JSON instead of a table.
    """
    if len(names) != WANTED[action]:
        remedy = {"list": "leave them out", "show": "lff presets show laptop"}
        raise BadInputError(
            f"the names after {action}",
            names,
            f"{WANTED[action]} in number",
            remedy.get(action, "lff presets diff paper-table paper-text"),
        )
    if action == "list":
        _print({name: {"source": text} for name, text in _sources(algo, env)}, as_json=as_json)
        return
    columns: dict[str, Values] = {name: describe(name, env, algo=algo) for name in names}
    if action == "diff":
        one, other = (columns[name] for name in names)
        same = {field for field in one if one[field] == other.get(field)}
        columns = {
            name: {field: value for field, value in values.items() if field not in same}
            for name, values in columns.items()
        }
    _print(_by_field(columns), as_json=as_json)


def _sources(algo: Literal["sac", "ppo"], env: str | None) -> Iterable[tuple[str, str]]:
    if algo == "ppo":
        return ppo_presets.SOURCES.items()
    return PIXEL_SOURCES.items() if _seen(env) else SOURCES.items()


def describe(name: PresetName, env: str | None, *, algo: Literal["sac", "ppo"] = "sac") -> Values:
    """Return every field of a preset, and for a task the sizes of its networks."""
    if algo == "ppo":
        return _describe_ppo(name, env)
    if env is None:
        return _over_tasks([(task, preset(name, task)) for task in PAPER_TASKS])
    if _seen(env):
        seen = pixel_preset(name, env)
        _, action_dim = shapes(env, seen.view)
        sizes_seen = pixel_sizes(seen, action_dim=action_dim)
        return asdict(seen) | {f"{part} parameters": size for part, size in sizes_seen.items()}
    chosen = preset(name, env)
    obs_dim, action_dim = dimensions(env)
    sizes = net_sizes(chosen, obs_dim=obs_dim, action_dim=action_dim)
    return asdict(chosen) | _sizes(sizes)


def _describe_ppo(name: PresetName, env: str | None) -> Values:
    chosen = ppo_presets.ppo_preset(name)
    if env is None:
        return asdict(chosen)
    obs_dim, action_dim = dimensions(env)
    sizes = ppo_presets.ppo_net_sizes(chosen, obs_dim=obs_dim, action_dim=action_dim)
    return asdict(chosen) | _sizes(sizes)


def _sizes(sizes: dict[str, NetSize]) -> Values:
    values: Values = {}
    for role, size in sizes.items():
        values[f"{role} hidden"] = list(size.hidden)
        values[f"{role} parameters"] = size.parameters
    return values


def _seen(env: str | None) -> bool:
    """Tell whether the task is seen through a camera."""
    return env is not None and has_pixels(env)


def _over_tasks(chosen: list[tuple[str, Preset]]) -> Values:
    """Return a field's one value, or the usual one and its exceptions by domain."""
    values: Values = {}
    for field in (f.name for f in fields(Preset)):
        found = {task: getattr(one, field) for task, one in chosen}
        usual = Counter(found.values()).most_common(1)[0][0]
        others = {task: value for task, value in found.items() if value != usual}
        values[field] = {"usual": usual, **others} if others else usual
    return values


def _by_field(columns: dict[str, Values]) -> dict[str, Values]:
    names = dict.fromkeys(field for values in columns.values() for field in values)
    return {n: {name: values.get(n) for name, values in columns.items()} for n in names}


def _print(rows: dict[str, Values], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(rows, indent=2))  # noqa: T201
        return
    if not rows:
        print("no difference")  # noqa: T201
        return
    table = Table("", *next(iter(rows.values())), box=None, pad_edge=False)
    for name, values in rows.items():
        table.add_row(name, *(_cell(value) for value in values.values()))
    Console(highlight=False, soft_wrap=True).print(table)


def _cell(value: Any) -> str:
    match value:
        case dict():
            tasks: dict[str, list[str]] = {}
            for task, other in value.items():
                if task != "usual":
                    tasks.setdefault(_cell(other), []).append(task.partition("/")[2])
            rest = "; ".join(f"{other} for {', '.join(names)}" for other, names in tasks.items())
            return f"{_cell(value['usual'])} ({rest})"
        case list():
            return " ".join(map(_cell, value))
        case int():
            return f"{value:,}"
        case _:
            return str(value)
