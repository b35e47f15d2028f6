"""``lff show RUN``: the task, agent, status and last metrics of a run."""

import math
from pathlib import Path
from typing import Any

import tyro

from lff.runs.read import RETURN, Run, read_run
from lff.store import find_run
from lff.store.atomic import understood

LEARNED = (
    "train/q_mean",
    "train/q_max",
    "train/value_mean",
    "train/explained_variance",
    "lff/critic_B_std",
)


def show_command(run: tyro.conf.Positional[Path], /) -> None:
    """Print a run's task, networks, status and last metrics.

    Args:
        run: the run directory.
    """
    with understood(run):
        folder = find_run(run)
        config = folder.config
        computed = folder.info.get("computed") if folder.info_file.exists() else None
        if not isinstance(computed, dict) or computed.get("by") not in [*FORMS]:
            computed = {"by": config["compute"]["compile"]}
        how = describe_compute(computed)
        print(f"{run}: {config['env']}, seed {config['seed']}, {folder.status}, {how}")
        print_networks(config["algo"])
        print_summary(run)


FORMS = {"native": "native", "graph": "compiled graph", "off": "eager"}


def describe_compute(computed: dict[str, Any]) -> str:
    """Return which form of the update runs, and why not the native one."""
    how, reason = FORMS[computed["by"]], str(computed.get("not_native") or "as asked")
    if how == "native":
        return "native acting, compiled graph" if computed.get("acts_alone") else how
    return f"{how} ({reason if reason.isprintable() else 'unreadable reason'})"


def print_networks(algo: dict[str, Any]) -> None:
    """Print the parts of an algorithm's config: its networks, its target, its regularizers."""
    for name, part in algo.items():
        if isinstance(part, dict) and {"front", "trunk"} <= {*part}:
            print(f"  {name:6s} {_brief(part['front'])} -> {_brief(part['trunk'])}")
        elif isinstance(part, dict):
            print(f"  {name:6s} {_brief(part)}")
    for name, words in (("normalize_obs", "observations"), ("normalize_reward", "rewards")):
        if algo.get(name):
            print(f"  with   {words} normalised")
    if algo.get("target_noise"):
        print(f"  with   target_noise {algo['target_noise']:g}")
    for part in algo.get("regularizers", ()):
        print(f"  with   {_brief(part)}")


def print_summary(path: Path) -> None:
    """Print the last evaluation, the reference policies and the last row of training metrics."""
    with understood(path):
        _print_summary(read_run(path))


def _print_summary(run: Run) -> None:
    for row in [row for row in run.rows if RETURN in row][-1:]:
        value, spread = (_number(row[name]) for name in (RETURN, "eval/return_std"))
        played = episodes(len(run.last_episodes))
        print(f"  step {row['env_step']:,}: return {value} ± {spread} over {played}")
    listed = [
        f"{name} policy {_number(run.reference_mean(name))} over {episodes(len(values))}"
        for name, values in run.reference.items()
        if values
    ]
    if listed:
        print(f"  for reference: {', '.join(listed)}")
    for row in [row for row in run.rows if any(name in row for name in LEARNED)][-1:]:
        values = [f"{name} {row[name]:.3g}" for name in LEARNED if row.get(name) is not None]
        trained = f"{episodes(run.episodes)} of training"
        print(f"  step {row['env_step']:,}: {', '.join([trained, *values])}")
    if run.steps_per_second is not None:
        shares = [f"{name} {share:.0%}" for name, share in run.time_shares.items()]
        print(f"  {run.steps_per_second:,.0f} steps/s: {', '.join(shares)}")


def episodes(count: int) -> str:
    """Return a count in words.

    >>> episodes(1), episodes(1200)
    ('1 episode', '1,200 episodes')
    """
    return f"{count:,} episode{'' if count == 1 else 's'}"


def _number(value: float | None) -> str:
    return f"{value:.1f}" if value is not None and math.isfinite(value) else "not finite"


def _brief(part: dict[str, Any]) -> str:
    shown = {n: _brief(v) if isinstance(v, dict) else v for n, v in part.items() if n != "type"}
    return f"{part['type']}({', '.join(f'{name}={value}' for name, value in shown.items())})"
