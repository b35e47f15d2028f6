"""``lff sigma``: advice on σ from the inputs of a task, before training."""

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import torch
import tyro
from torch import Tensor

from lff.auditing import SigmaAdvice, advise_sigma
from lff.cli.output import Force, Json, check_out, print_table
from lff.core.checks import EvenSize, check_positive, check_scale, check_size, checked
from lff.core.errors import BadInputError
from lff.envs import has_pixels
from lff.report.style import PALETTE, new_figure, save_figure
from lff.training.evaluate import random_batch

GRID = (1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1.0)
BANDS = {"1": (1, 1), "2": (2, 2), "3-4": (3, 4), "5-8": (5, 8), "9+": (9, None)}
"""Harmonics that are shown together."""
INPUTS = {
    "dimensions": "{a.in_features}",
    "of which constant": "{constant}",
    "in effect (by variance)": "{a.effective_dims:.1f}",
    "spread by dimension": "{least:.3g} … {most:.3g}",
    "norm (5, 50, 95 %)": "{a.norms[0]:.3g}  {a.norms[1]:.3g}  {a.norms[2]:.3g}",
    "distance (5, 50, 95 %)": "{a.distances[0]:.3g}  {a.distances[1]:.3g}  {a.distances[2]:.3g}",
    "nearest neighbour": "{a.neighbour:.3g}",
    "σ: floor": "{a.floor:.3g}",
    "σ: phases spread 1 rad": "{a.bend:.3g}",
    "σ: phases wrap (π rad)": "{a.wrap:.3g}",
    "σ: neighbours part": "{a.scatter:.3g}",
}
"""Lines of the table of the inputs."""


def sigma_command(
    *,
    env: str,
    fourier_dim: int = 128,
    current: Annotated[float | None, tyro.conf.arg(name="sigma")] = None,
    lr: float = 3e-4,
    steps: int = 4_000,
    seed: int = 0,
    as_json: Json = False,
    plot: Path | None = None,
    force: Force = False,
) -> None:
    """Play random actions and advise σ for actor and critic; docs/sigma explains every number.

    Args:
        env: dmc/<domain>-<task>, gym/<id>, probe/<name> or package.module:make_env.
        fourier_dim: number of Fourier features.
        current: the σ that you have in mind.
        lr: learning rate of B, for what Adam does to σ.
        steps: random actions to play.
        seed: seed of the environment and of the actions.
        plot: also draw phase spread and frequencies over σ into this file, .png.
    """
    checked(EvenSize, "fourier_dim", fourier_dim)
    check_positive("lr", lr, remedy="use 3e-4")
    if current is not None:
        check_scale("sigma", current)
    if check_size("steps", steps) < 2:
        raise BadInputError("steps", steps, "2 or more", "use 4000")
    if has_pixels(env):
        remedy = "use the preset's (lff presets show laptop --env ...), 0.1 or 0.01 in the paper"
        raise BadInputError("env", env, "a task that observes numbers", remedy)
    if plot is not None:
        check_out(plot, force=force, suffix=".png")
    obs, action = random_batch(env, steps=steps, seed=seed)
    advice = _both(obs, action, fourier_dim)
    whitened = _both(_standardize(obs), action, fourier_dim)
    if plot is not None:
        _draw(advice, plot, current=current)
    data = {role: describe(one, current=current, lr=lr) for role, one in advice.items()}
    if as_json:
        for role, one in whitened.items():
            data[role]["bend_normalized"] = one.bend
        print(json.dumps({"env": env, "seed": seed, "steps": steps, **data}, indent=2))
        return
    print(f"{env}: {steps:,} random actions, seed {seed}, F = {fourier_dim}")
    columns = [_inputs(one) for one in advice.values()]
    print_table(["inputs", *advice], zip(INPUTS, *columns, strict=True))
    for role, one in advice.items():
        headings = (f"{role}: σ", "spread", "waves", *(f"n={band}" for band in BANDS))
        rows = [_sigma_row(values, current, one.bend) for values in data[role]["sigmas"]]
        print()
        print_table([*headings, "forgotten after"], rows)
        for line in _advice(role, one, whitened[role].bend, current=current, lr=lr):
            print(line)


def _both(obs: Tensor, action: Tensor, fourier_dim: int) -> dict[str, SigmaAdvice]:
    inputs = {"actor": obs, "critic": torch.cat((obs, action), dim=1)}
    return {role: advise_sigma(x, fourier_dim=fourier_dim) for role, x in inputs.items()}


def describe(advice: SigmaAdvice, *, current: float | None, lr: float) -> dict[str, Any]:
    """Return all statistics as plain data."""
    names = ("floor", "bend", "wrap", "uneven", "effective_dims")
    data = asdict(advice) | {name: getattr(advice, name) for name in names}
    data["scatter"] = advice.scatter if math.isfinite(advice.scatter) else None
    data["sigmas"] = [
        {
            "sigma": value,
            "phase_spread": advice.phase_spread(value),
            "wave_share": advice.wave_share(value),
            "harmonics": _bands(advice, value),
            "updates_to_forget": advice.updates_to_forget(value, lr),
            "verdict": advice.judge(value),
        }
        for value in sorted({*GRID, advice.bend, current or advice.bend})
    ]
    return data


def _bands(advice: SigmaAdvice, value: float) -> list[float]:
    shares = advice.harmonics(value)
    return [sum(shares[first - 1 : last]) for first, last in BANDS.values()]


def _inputs(advice: SigmaAdvice) -> list[str]:
    varying = [s for i, s in enumerate(advice.spreads) if i not in advice.constant]
    constant = ", ".join(map(str, advice.constant)) or "none"
    values = {"a": advice, "constant": constant, "least": min(varying), "most": max(varying)}
    return [text.format(**values) for text in INPUTS.values()]


def _sigma_row(values: dict[str, Any], current: float | None, bend: float) -> list[str]:
    sigma = values["sigma"]
    mark = " <- yours" if sigma == current else " <- 1 rad" if sigma == bend else ""
    shares = [f"{share:.0%}" for share in (values["wave_share"], *values["harmonics"])]
    spread, updates = values["phase_spread"][1], values["updates_to_forget"]
    return [f"{sigma:.3g}{mark}", f"{spread:.2g} rad", *shares, f"{updates:,.0f} steps"]


def _advice(
    role: str, one: SigmaAdvice, normalized: float, *, current: float | None, lr: float
) -> list[str]:
    lines = [f"{role}: start with σ = {one.bend:.2g}; useful range up to {one.wrap:.2g}"]
    if current is not None:
        lines.append(f"{role}: σ = {current:g} is {one.judge(current)}")
        if current < 0.01:
            updates = one.updates_to_forget(current, lr)
            lines.append(
                f"{role}: Adam at {lr:g} can forget σ = {current:g} within {updates:,.0f} updates; "
                "the learning rate of B is the knob"
            )
    if one.bend < one.floor:
        lines.append(
            f"{role}: distances are large: phases spread by 1 rad below the floor {one.floor:.2g}, "
            "and most of the embedding is x itself"
        )
    if one.constant:
        lines.append(
            f"{role}: dimensions {', '.join(map(str, one.constant))} never vary; leave them out"
        )
    if one.uneven > 10:
        top = max(range(one.in_features), key=lambda i: one.spreads[i])
        share = one.spreads[top] ** 2 / sum(s * s for s in one.spreads)
        lines.append(
            f"{role}: spreads differ {one.uneven:,.0f}-fold, dimension {top} has {share:.0%} of "
            f"the variance: one σ cannot suit all; with --normalize-obs start with {normalized:.2g}"
        )
    return lines


def _draw(advice: dict[str, SigmaAdvice], path: Path, *, current: float | None) -> None:
    grid = [10 ** (-4 + 4 * i / 60) for i in range(61)]
    figure, axes = new_figure(2 * len(advice), width=4.0 * 2 * len(advice), height=3.2)
    for column, (role, one) in enumerate(advice.items()):
        spread, share = axes[2 * column], axes[2 * column + 1]
        low, middle, high = zip(*(one.phase_spread(s) for s in grid), strict=True)
        spread.fill_between(grid, low, high, color=PALETTE[0], alpha=0.2, linewidth=0)
        spread.loglog(grid, middle, color=PALETTE[0])
        spread.axhspan(1, math.pi, color=PALETTE[2], alpha=0.2, linewidth=0)
        spread.set(title=f"{role}: phase spread (rad)", xlabel="σ")
        bands = list(zip(*(_bands(one, s) for s in grid), strict=True))
        share.stackplot(grid, bands, labels=[*BANDS], colors=PALETTE[: len(bands)])
        share.set(title=f"{role}: share of harmonics", xlabel="σ", xscale="log", ylim=(0, 1))
        share.legend(fontsize=7, loc="lower left")
        for axis in (spread, share):
            axis.axvline(one.floor, color="black", linestyle=":", linewidth=1)
            if current:
                axis.axvline(current, color=PALETTE[1], linewidth=1)
    save_figure(figure, path)


def _standardize(x: Tensor) -> Tensor:
    """Zero mean and unit spread in every dimension that varies, as running statistics give."""
    spread = x.std(dim=0, correction=0)
    return (x - x.mean(dim=0)) / torch.where(spread > 1e-6, spread, torch.ones_like(spread))
