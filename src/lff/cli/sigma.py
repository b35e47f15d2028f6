"""``lff sigma``: the σ to take for a task, from inputs that random actions visit."""

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import torch
import tyro
from torch import Tensor

from lff.auditing.sigma import USUAL_DISTANCES, SigmaAdvice, advise_sigma
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
    "standard deviations": "{least:.3g} … {most:.3g}",
    "distance D (5, 50, 95 %)": "{a.distances[0]:.3g}  {a.distances[1]:.3g}  {a.distances[2]:.3g}",
    "σ for 1 rad (if B is fixed)": "{a.bend:.2g}",
    "σ for π rad (phases wrap)": "{a.wrap:.2g}",
}
"""Lines of the table of the inputs."""


def sigma_command(
    *,
    env: str,
    fourier_dim: int = 256,
    current: Annotated[float | None, tyro.conf.arg(name="sigma")] = None,
    lr: float = 3e-4,
    steps: int = 4_000,
    seed: int = 0,
    as_json: Json = False,
    plot: Path | None = None,
    force: Force = False,
) -> None:
    """Recommend σ for actor and critic from the inputs of a task; docs/sigma says why.

    Args:
        env: dmc/<domain>-<task>, gym/<id>, probe/<name> or package.module:make_env.
        fourier_dim: number of Fourier features.
        current: a σ to compare with the recommended one.
        lr: learning rate of B, for ``updates_to_forget`` of --json.
        steps: random actions to play.
        seed: seed of the environment and of the actions.
        plot: also draw phases and frequencies over σ, the advised σ marked, into this file, .png.
    """
    checked(EvenSize, "fourier_dim", fourier_dim)
    check_positive("lr", lr, remedy="use 3e-4")
    if current is not None:
        check_scale("sigma", current)
    if check_size("steps", steps) < 2:
        raise BadInputError("steps", steps, "2 or more", "use 4000")
    if has_pixels(env):
        remedy = "take the preset's σ (lff presets show laptop --env ...); docs/sigma says why"
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
    _print_advice(env, advice, whitened, current)
    print(f"\nFrom {steps:,} random actions, seed {seed}, F = {fourier_dim}. Nothing was trained.")
    columns = [_inputs(one) for one in advice.values()]
    print_table(["inputs", *advice], zip(INPUTS, *columns, strict=True))
    print("\nPhase difference 2πσD of typical inputs before training:")
    _print_phases(advice, current)


def _both(obs: Tensor, action: Tensor, fourier_dim: int) -> dict[str, SigmaAdvice]:
    inputs = {"actor": obs, "critic": torch.cat((obs, action), dim=1)}
    return {role: advise_sigma(x, fourier_dim=fourier_dim) for role, x in inputs.items()}


def describe(advice: SigmaAdvice, *, current: float | None, lr: float) -> dict[str, Any]:
    """Return all statistics as plain data."""
    names = ("advised", "floor", "bend", "wrap", "uneven", "effective_dims")
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
        for value in sorted({*GRID, advice.advised, advice.bend, current or advice.bend})
    ]
    return data


def _bands(advice: SigmaAdvice, value: float) -> list[float]:
    shares = advice.harmonics(value)
    return [sum(shares[first - 1 : last]) for first, last in BANDS.values()]


def _inputs(advice: SigmaAdvice) -> list[str]:
    varying = [s for i, s in enumerate(advice.spreads) if i not in advice.constant]
    values = {
        "a": advice,
        "constant": len(advice.constant),
        "least": min(varying),
        "most": max(varying),
    }
    return [text.format(**values) for text in INPUTS.values()]


def _print_advice(
    env: str,
    advice: dict[str, SigmaAdvice],
    normalized: dict[str, SigmaAdvice],
    current: float | None,
) -> None:
    low, high = USUAL_DISTANCES
    for role, one in advice.items():
        distance = f"typical inputs are D = {one.distances[1]:.3g} apart"
        if one.usual:
            print(
                f"{env}, {role}: take σ = {one.advised:g} ({distance}, within {low:g} to {high:g})"
            )
        else:
            print(
                f"{env}, {role}: {distance}, outside {low:g} to {high:g}: normalise observations "
                f"(--normalize-obs) and take σ = {normalized[role].advised:g}, or, without "
                f"normalising, take σ = {one.advised:g}"
            )
        if current is not None:
            print(f"{env}, {role}: σ = {current:g} is {one.judge(current)}")
    if one.constant:
        print(f"input dimensions {', '.join(map(str, one.constant))} never varied")


def _print_phases(advice: dict[str, SigmaAdvice], current: float | None) -> None:
    marks = {one.advised: " <- take" for one in advice.values()}
    if current is not None:
        marks[current] = marks.get(current, "") + " <- yours"
    rows = []
    for value in sorted({*GRID, *marks}):
        row = [f"{value:.3g}{marks.get(value, '')}"]
        for one in advice.values():
            kind = one.judge(value).partition(":")[0]
            row.append(f"{one.phase_spread(value)[1]:.2g} rad, {kind}")
        rows.append(row)
    print_table(["σ", *advice], rows)


def _draw(advice: dict[str, SigmaAdvice], path: Path, *, current: float | None) -> None:
    """Draw the phases of actor and critic over σ, and the frequencies of the critic's features."""
    grid = [10 ** (-4 + 4 * i / 60) for i in range(61)]
    figure, axes = new_figure(len(advice) + 1, width=4.0 * (len(advice) + 1), height=3.4)
    for axis, (role, one) in zip(axes[:-1], advice.items(), strict=True):
        low, middle, high = zip(*(one.phase_spread(s) for s in grid), strict=True)
        axis.fill_between(grid, low, high, color=PALETTE[0], alpha=0.2, linewidth=0)
        axis.loglog(grid, middle, color=PALETTE[0])
        for height in (1, math.pi):
            axis.axhline(height, color="grey", linestyle=":", linewidth=1)
        for height, text in ((0.15, "nearly linear"), (1.15, "waves"), (12, "phases wrap")):
            axis.text(1.2e-4, height, text, fontsize=8, color="dimgrey")
        axis.set(title=f"{role}: phase difference (rad)", xlabel="σ")
    share, (role, critic) = axes[-1], [*advice.items()][-1]
    bands = list(zip(*(_bands(critic, s) for s in grid), strict=True))
    share.stackplot(grid, bands, labels=[f"n = {b}" for b in BANDS], colors=PALETTE[: len(bands)])
    share.set(title=f"{role}: share of frequency n", xlabel="σ", xscale="log", ylim=(0, 1))
    share.legend(fontsize=7, loc="lower left")
    for axis, one in zip(axes, [*advice.values(), critic], strict=True):
        lines = {"take": one.advised} | ({} if current is None else {"yours": current})
        for row, (name, value) in enumerate(lines.items()):
            axis.axvline(value, color="black", linestyle=("-", "--")[row], linewidth=1.5 - row / 2)
            if axis is not share:
                height, place = 0.93 - 0.07 * row, axis.get_xaxis_transform()
                axis.text(1.15 * value, height, f"{name} {value:g}", fontsize=8, transform=place)
    save_figure(figure, path)


def _standardize(x: Tensor) -> Tensor:
    """Zero mean and unit spread in every dimension that varies, as running statistics give."""
    spread = x.std(dim=0, correction=0)
    return (x - x.mean(dim=0)) / torch.where(spread > 1e-6, spread, torch.ones_like(spread))
