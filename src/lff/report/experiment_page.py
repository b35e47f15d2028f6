"""One page for one experiment: question, verdicts, figures, numbers, origin."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from lff.experiments.spec import SCALES, Experiment, Judged, Panel, ScaleName
from lff.report.experiment_figure import (
    POLICIES,
    draw_panel,
    legend_entries,
    task_panels,
    variants_of,
)
from lff.report.html import draw, render
from lff.report.style import GREY, variant_colors
from lff.report.summaries import number, show, summarize, values_of
from lff.stats import RETURN, Curves, Field, Metric, Published, Row, Statistic
from lff.store import flat

DIAGNOSTICS = ("lff/", "net/", "train/q_", "eval/q_", "train/target_q")
"""Metrics of jobs that are drawn though no panel asks for them."""
LOGARITHMIC = ("train/q_max", "_B_std", "_B_norm")


def experiment_page(
    experiment: Experiment,
    rows: Sequence[Row],
    *,
    scale: ScaleName,
    provenance: Mapping[str, Any],
    verdicts: Sequence[Judged],
    published: Sequence[Published] = (),
    fields: Sequence[Field] = (),
    home: str | None = None,
) -> str:
    """Return the page as HTML, made from the table alone; the same table gives the same bytes.

    ``verdicts`` are the judgements of the experiment's claims, in their order; ``published``
    are scores of others to draw beside the returns, ``fields`` surfaces; ``home`` is the address of
    an index to lead back to.
    """
    end = max((row.step for row in rows), default=0)
    reached = [score for score in published if score.env_steps <= end]  # later ones: a table
    colors = variant_colors(variants_of(rows), experiment.roles)
    groups = [
        _group("Curves", experiment.panels, rows, colors, reached, fields),
        _group("Diagnostics", diagnostics(experiment, rows), rows, colors),
    ]
    return render(
        "experiment.html",
        colors=[*dict.fromkeys((*colors.values(), GREY))],
        title=f"{experiment.name}: {experiment.title}",
        home=home,
        experiment=experiment,
        scale=scale,
        outcomes=Counter(verdict.outcome for verdict in verdicts),
        size=_size(rows),
        small=SCALES[scale] if experiment.is_small(scale) else "",
        judged=[*zip(experiment.claims, verdicts, strict=True)],
        groups=[group for group in groups if group["panels"]],
        numbers=_numbers(experiment, rows),
        published=_published(rows, published),
        origin=_origin(experiment, rows, scale, provenance),
    )


def diagnostics(experiment: Experiment, rows: Sequence[Row]) -> list[Panel]:
    """Return panels for the metrics of B and Q that no panel of the experiment shows."""
    shown = {panel.metric.title for panel in experiment.panels}
    there = {row.metric for row in rows}
    found = []
    for metric in experiment.metrics:
        if metric.title in shown or not metric.key.startswith(DIAGNOSTICS):
            continue
        if f"{metric.title}[0]" in there:
            found.append(Panel(metric, kind="histogram"))
        elif metric.title in there:
            found.append(Panel(metric, log=metric.key.endswith(LOGARITHMIC)))
    return found


def _size(rows: Sequence[Row]) -> str:
    counts = {
        "variant": len(variants_of(rows)),
        "task": len({row.task for row in rows}),
        "seed": len({row.seed for row in rows if row.variant not in POLICIES}),
    }
    return ", ".join(f"{n} {noun}{'' if n == 1 else 's'}" for noun, n in counts.items())


def _group(
    title: str,
    panels: Sequence[Panel],
    rows: Sequence[Row],
    colors: Mapping[str, str],
    published: Sequence[Published] = (),
    fields: Sequence[Field] = (),
) -> dict[str, Any]:
    """Return the figures of some panels by metric, and their legend."""
    drawn = {
        panel.metric.title: [
            draw(draw_panel(one), title=one.task, label=one.label)
            for one in task_panels(panel, rows, colors, published, fields)
        ]
        for panel in panels
    }
    entries = legend_entries(rows, colors)
    if not any(panel.metric.policies for panel in panels):
        entries = [entry for entry in entries if not entry.dash]
    return {
        "title": title,
        "panels": {metric: figures for metric, figures in drawn.items() if figures},
        "legend": entries,
    }


def _numbers(experiment: Experiment, rows: Sequence[Row]) -> dict[str, list[list[str]]]:
    """Return the lines of a table for each statistic of each metric."""
    there = {row.metric for row in rows}
    return {
        f"{metric.title}, {words}": _summaries(rows, Curves(rows, metric=metric), statistic)
        for metric in experiment.metrics
        if metric.title in there
        for words, statistic in _statistics(metric)
    }


def _statistics(metric: Metric) -> list[tuple[str, Statistic]]:
    if metric.policies:
        return [("at the end", "last"), ("mean over training", "mean")]
    return [("over training", "max")] if metric.peak else [("at the end", "last")]


def _summaries(rows: Sequence[Row], curves: Curves, statistic: Statistic) -> list[list[str]]:
    lines = []
    for task in dict.fromkeys(row.task for row in rows if row.metric == curves.metric.title):
        lines.append([task])
        for variant in [*variants_of(rows), *POLICIES]:
            values = values_of(curves, variant, task, statistic)
            if not values:
                continue
            s = summarize(values)
            interval = "–" if s.low != s.low else f"[{number(s.low)}, {number(s.high)}]"
            seeds = f"{s.seeds}, {s.lost} not finite" if s.lost else str(s.seeds)
            shown = [number(s.mean), interval, *map(number, (s.iqm, s.least, s.most)), seeds]
            lines.append([variant, *shown])
    return lines


def _published(rows: Sequence[Row], published: Sequence[Published]) -> list[list[str]]:
    """Return published scores on the experiment's tasks, if it measures returns."""
    lines: list[list[str]] = []
    for task in dict.fromkeys(r.task.rpartition("/")[2] for r in rows if r.metric == RETURN.title):
        scores = [score for score in published if score.task == task]
        lines += [[task]] if scores else []
        for score in scores:
            spread = "–" if score.spread is None else number(score.spread)
            shown = [number(score.score), spread, str(score.seeds)]
            lines.append([score.algorithm, score.source, f"{score.env_steps:,}", *shown])
    return lines


def _origin(
    experiment: Experiment, rows: Sequence[Row], scale: ScaleName, provenance: Mapping[str, Any]
) -> dict[str, str]:
    seeds = sorted({row.seed for row in rows if row.variant not in POLICIES})
    facts = {
        "experiment": experiment.name,
        "scale": scale,
        "seeds": ", ".join(map(str, seeds)),
        "last step": number(max((row.step for row in rows), default=0)),
        "rows of the table": number(len(rows)),
    }
    stored = {name: show(value) for name, value in flat(provenance).items() if name not in facts}
    return facts | stored
