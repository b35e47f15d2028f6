"""``lff presets``: the named presets, and how two of them differ."""

import json
from collections import Counter
from typing import Any, Literal, get_args

import torch
import tyro

from lff.algos import ALGORITHMS, Spaces
from lff.cli.output import Json, cell, print_table
from lff.core.errors import BadInputError
from lff.envs import PAPER_TASKS, shapes
from lff.nn import Ensemble, Network, num_parameters
from lff.training.networks import NetName, PixelSizes
from lff.training.presets import (
    SOURCES,
    Preset,
    PresetName,
    algorithm_for,
    kind_of,
    pixel_sizes,
    preset,
)

Values = dict[str, Any]
WANTED = {"list": 0, "show": 1, "diff": 2}


def presets_command(
    action: tyro.conf.Positional[Literal["list", "show", "diff"]] = "list",
    names: tyro.conf.Positional[tuple[PresetName, ...]] = (),
    /,
    *,
    algo: str = "sac",
    env: str | None = None,
    as_json: Json = False,
) -> None:
    """List the presets, show one, or print how two differ, field by field.

    Args:
        action: list, show NAME, or diff A B.
        names: the presets to show or compare.
        algo: the algorithm: sac, ppo, ...
        env: a task; then widths and parameter counts for its dimensions are given too, and for
            dmc-pixels/... the presets from pixels. Without it, values that depend on the task are
            given for the paper's eight.
    """
    if len(names) != WANTED[action]:
        remedies = (
            "leave them out",
            "lff presets show laptop",
            "lff presets diff paper-table paper-text",
        )
        constraint, remedy = f"{WANTED[action]} in number", remedies[WANTED[action]]
        raise BadInputError(f"the names after {action}", names, constraint, remedy)
    cls = algorithm_for(ALGORITHMS[algo], env or "")
    if action == "list":
        sources = SOURCES[kind_of(cls)].items()
        _print({name: {"source": text} for name, text in sources}, as_json=as_json)
        return
    columns: dict[str, Values] = {name: describe(name, env, algo=cls) for name in names}
    fields = dict.fromkeys(field for values in columns.values() for field in values)
    rows = {f: {name: values.get(f) for name, values in columns.items()} for f in fields}
    if action == "diff":
        rows = {f: row for f, row in rows.items() if row[names[0]] != row[names[1]]}
    _print(rows, as_json=as_json)


def describe(name: PresetName, env: str | None, *, algo: str | type = "sac") -> Values:
    """Return every value of a preset, and for a task the sizes of its networks."""
    if env is None:
        return _over_tasks({task: preset(name, task, algo=algo).values() for task in PAPER_TASKS})
    chosen = preset(name, env, algo=algo)
    obs, action_dim = shapes(env, chosen.config().view)
    if isinstance(chosen.sizes, PixelSizes):
        sizes = pixel_sizes(chosen, action_dim=action_dim)
        return chosen.values() | {f"{part} parameters": size for part, size in sizes.items()}
    return chosen.values() | net_sizes(chosen, Spaces(obs, action_dim))


def net_sizes(chosen: Preset, spaces: Spaces) -> Values:
    """Return hidden widths and exact parameter counts of every network, in actor and critic."""
    configs = {name: chosen.config(name, actor=name).algo for name in get_args(NetName)}
    with torch.device("meta"):  # sizes without weights
        agents = {name: algo.build(spaces, device="meta") for name, algo in configs.items()}
    values: Values = {}
    for role in ("actor", "critic"):
        for name, agent in agents.items():
            network = agent.networks[role]
            if isinstance(network, Ensemble):
                network = network.member(0)
            assert isinstance(network, Network)
            hidden = network.config.hidden(network.in_features, network.out_features)
            values[f"{role} {name} hidden"] = [*hidden]
            values[f"{role} {name} parameters"] = num_parameters(network)
    return values


def _over_tasks(columns: dict[str, Values]) -> Values:
    """Return a field's one value, or the usual one and its exceptions by task."""
    values: Values = {}
    for field in next(iter(columns.values())):
        found = {task: column[field] for task, column in columns.items()}
        usual = Counter(map(str, found.values())).most_common(1)[0][0]
        common = next(value for value in found.values() if str(value) == usual)
        others = {task: value for task, value in found.items() if value != common}
        values[field] = {"usual": common, **others} if others else common
    return values


def _print(rows: dict[str, Values], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(rows, indent=2))
    elif not rows:
        print("no difference")
    else:
        cells = [[name, *map(_cell, values.values())] for name, values in rows.items()]
        print_table(["", *next(iter(rows.values()))], cells)


def _cell(value: Any) -> str:
    if not isinstance(value, dict):
        return cell(value)
    tasks: dict[str, list[str]] = {}
    for task, other in value.items():
        tasks.setdefault(cell(other), []).append(task.partition("/")[2])
    usual, *rest = [f"{text} for {', '.join(names)}" for text, names in tasks.items()]
    return f"{usual.removesuffix(' for ')} ({'; '.join(rest)})"
