"""A policy card: what a run is, what it scored and how to repeat it, as Markdown.

Every string that comes from the run directory is a code span or a code block: a stranger's run can
put neither markup nor a link into the page.  The text depends on the run's config and measurements
alone, not on the time or the machine, so that a repeated run gives the same bytes.
"""

import json
import math
import re
from typing import Any
from urllib.parse import quote

from matplotlib.figure import Figure

from lff.core.errors import printable
from lff.report.drawing import FEW
from lff.report.html import render
from lff.report.style import GREY, dress, new_figure, plain_ticks, run_colors
from lff.runs.read import RETURN, Run, as_number
from lff.stats.intervals import t_interval

STD = "eval/return_std"


def card_text(run: Run, *, audit: str, figure: str, origin: Run | None = None) -> str:
    """Return the card of a run.

    Args:
        run: the run.
        audit: what the audit of its networks prints.
        figure: file of the curve, beside the card.
        origin: the run whose name, command and versions are shown; ``run`` repeats it.
    """
    origin = origin or run
    tag = run.config.get("algo.type")
    fronts = [(part, run.config.get(f"algo.{part}.front.type")) for part in ("actor", "critic")]
    versions = origin.info.get("versions")
    listed = versions if isinstance(versions, dict) else {}
    fields = [
        f"  {json.dumps(name)}: {json.dumps(run.config[name], ensure_ascii=False)}"
        for name in sorted(run.config)
    ]
    config = "\n".join(["{", ",\n".join(fields), "}"])
    stem = figure.removesuffix(".png")
    return render(
        "card.md",
        name=span(origin.name),
        env=span(run.env),
        algo=span(tag),
        steps=f"{run.steps:,}",
        episodes=f"{run.episodes:,}",
        seed=run.seed,
        unfinished="" if run.finished else "; not finished",
        networks=", ".join(f"{part} {span(front)}" for part, front in fronts if front),
        returns=_returns(run),
        figure=quote(figure),
        curve=block(_curve(run), "csv"),
        audit=block(audit),
        config=block(config, "json"),
        command=block(origin.command or "unknown"),
        versions=", ".join(f"{span(name)} {span(v)}" for name, v in sorted(listed.items()))
        or "unknown versions",
        rerun=block(f"lff rerun RUN --dir NEW --card {stem}.md"),
    )


def _returns(run: Run) -> str:
    values = [value for value in run.last_episodes if math.isfinite(value)]
    lines = []
    if len(values) > 1:
        found = t_interval(values)
        interval = f"{found.estimate:.1f} [{found.low:.1f}, {found.high:.1f}]"
        text = "mean with Student's 95 % interval over episodes of one training run"
        lines.append(f"- last evaluation: **{interval}**, {len(values)} episodes: {text}")
    elif values:
        lines.append(f"- last evaluation: **{values[0]:.1f}**, 1 episode")
    if bad := len(run.last_episodes) - len(values):
        lines.append(f"- not finite: {bad} episodes of the last evaluation")
    finite = [value for _, value in run.returns if math.isfinite(value)]
    if finite:
        noun = "evaluation" if len(finite) == 1 else "evaluations"
        lines.append(f"- best of {len(finite)} {noun}: {max(finite):.1f}")
    for policy in ("random", "zero"):
        count = len(run.reference.get(policy) or ())
        if count:
            mean = run.reference_mean(policy)
            lines.append(f"- {policy} policy: {mean:.1f}, {count} episodes")
    if run.q_max is not None:
        lines.append(f"- largest \\|Q\\|: {run.q_max:.4g}")
    return "\n".join(lines) or "no evaluation yet"


def _points(run: Run) -> list[tuple[int, float, float]]:
    return [
        (int(row["env_step"]), as_number(row[RETURN]), as_number(row.get(STD)))
        for row in run.rows
        if isinstance(row.get("env_step"), int) and isinstance(row.get(RETURN), int | float)
    ]


def _curve(run: Run) -> str:
    rows = [f"{step},{value!r},{spread!r}" for step, value, spread in _points(run)]
    return "\n".join(["env_step,return,std over episodes", *rows])


def card_figure(run: Run) -> Figure:
    """Draw the evaluations of a run, and the random policy's mean return."""
    figure, (axis,) = new_figure(1, width=6, height=3.4)
    points = [point for point in _points(run) if all(map(math.isfinite, point))]
    if points:
        color = run_colors([run])[run.name]
        steps, means, spreads = zip(*points, strict=True)
        if len(points) <= FEW:  # a band needs a curve
            axis.errorbar(steps, means, yerr=spreads, color=color, fmt="o-", capsize=3)
        else:
            low = [m - s for m, s in zip(means, spreads, strict=True)]
            high = [m + s for m, s in zip(means, spreads, strict=True)]
            axis.fill_between(steps, low, high, color=color, alpha=0.2, linewidth=0)
            axis.plot(steps, means, color=color, marker=".")
        axis.set_xlim(0, 1.03 * max(*steps, 1))
    random = run.reference_mean("random")
    if math.isfinite(random):
        axis.axhline(random, color=GREY, linestyle=":", label="random policy")
        axis.legend(frameon=False, fontsize=8)
    axis.set(xlabel="environment steps", ylabel="return")
    plain_ticks(axis.xaxis)
    dress(axis)
    return figure


def span(value: Any) -> str:
    """Return a value as a code span that it cannot end.

    >>> span("dmc/cheetah-run"), span("`<b>`")
    ('`dmc/cheetah-run`', '`` `<b>` ``')
    """
    text = printable(str(value))
    fence = "`" * (_longest(text) + 1)
    pad = " " if "`" in text or not text.strip() else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def block(text: str, language: str = "text") -> str:
    """Return lines as a code block that they cannot end."""
    lines = [printable(line) for line in text.splitlines()]
    fence = "`" * max(3, _longest("\n".join(lines)) + 1)
    return "\n".join([f"{fence}{language}", *lines, fence])


def _longest(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
