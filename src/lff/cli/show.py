"""``lff show RUN``: what a run directory holds, on one screen."""

from pathlib import Path
from statistics import fmean
from typing import Any

import tyro

from lff.store import RunDir, find_run, read_rows


def show(run: tyro.conf.Positional[Path], /) -> None:
    """Print a run's task, networks, status and last metrics.

    Args:
        run: the run directory.
    """
    folder = find_run(run)
    config = folder.config
    print(f"{run}: {config['env']}, seed {config['seed']}, {folder.status}")  # noqa: T201
    print_networks(config["algo"])
    print_summary(run)


def print_networks(agent: dict[str, Any]) -> None:
    """Print the networks of a stored agent and what regularizes them."""
    if agent.get("encoder"):
        print(f"  eyes   {_brief(agent['encoder'])}, {_brief(agent['augmentation'])}")  # noqa: T201
    for role in ("actor", "critic"):
        parts = " -> ".join(_brief(agent[role][part]) for part in ("front", "trunk"))
        print(f"  {role:7s}{parts}")  # noqa: T201
    if "target" in agent:  # PPO has none
        target, noise = agent["target"], agent["target_noise"]
        extra = f", noise {noise:g} on it" if noise else ""
        print(f"  target {_brief(target)}{extra}")  # noqa: T201
    for name in ("observations", "rewards"):
        if agent.get({"observations": "normalize_obs", "rewards": "normalize_reward"}[name]):
            print(f"  with   {name} normalised")  # noqa: T201
    for regularizer in agent.get("regularizers", ()):
        print(f"  with   {_brief(regularizer)}")  # noqa: T201


def print_summary(run: Path) -> None:
    """Print the last evaluation and the last row of training metrics."""
    rows = list(read_rows(RunDir(run).metrics_file))
    evaluations = [row for row in rows if "eval/return" in row]
    for row in evaluations[-1:]:
        value, spread = (_number(row[f"eval/{name}"]) for name in ("return", "return_std"))
        print(f"  step {row['env_step']:,}: return {value} ± {spread} over episodes")  # noqa: T201
    reference = RunDir(run).reference
    if reference:
        means = {n: _number(None if None in r else fmean(r)) for n, r in reference.items() if r}
        told = ", ".join(f"{name} policy {mean}" for name, mean in means.items())
        print(f"  for reference: {told}")  # noqa: T201
    learned = ("train/q_mean", "train/value_mean")
    for row in [row for row in rows if any(name in row for name in learned)][-1:]:
        names = (
            "train/q_mean",
            "train/q_max",
            "train/value_mean",
            "train/explained_variance",
            "lff/critic_B_std",
        )
        values = [f"{name} {row[name]:.3g}" for name in names if row.get(name) is not None]
        print(f"  step {row['env_step']:,}: {', '.join(values)}")  # noqa: T201


def _number(value: float | None) -> str:
    return "not finite" if value is None else f"{value:.1f}"


def _brief(part: dict[str, Any]) -> str:
    shown = {n: _brief(v) if isinstance(v, dict) else v for n, v in part.items() if n != "type"}
    return f"{part['type']}({', '.join(f'{name}={value}' for name, value in shown.items())})"
