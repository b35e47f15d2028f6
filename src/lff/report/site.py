"""Pages of experiments: one each, an index of all, and all claims as Markdown."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
from scipy.stats import trim_mean

from lff.core.errors import BadInputError
from lff.experiments.spec import SCALES, Experiment, Panel, ScaleName
from lff.report.drawing import LOGARITHMIC
from lff.report.experiment_figure import (
    POLICIES,
    caption,
    draw_panel,
    legend_entries,
    task_panels,
    variants_of,
)
from lff.report.html import Drawn, check_replaceable, draw, number, render, show, write_page
from lff.report.style import GREY, variant_colors
from lff.stats import RETURN, Curves, Field, Metric, Published, Row, Statistic, t_interval
from lff.stats.claim import Kind, Whose
from lff.stats.verdicts import TESTED, Outcome, Verdict, benjamini_hochberg
from lff.store import flat

DIAGNOSTICS = ("lff/", "net/", "train/q_", "eval/q_", "train/target_q")
"""Metrics of jobs that are drawn though no panel asks for them."""
INDEX = "index.html"
GROUPS: dict[Whose, str] = {
    "paper, empirical": "The paper's experiments",
    "paper, mathematical": "The paper's mathematics",
    "ours": "Ours",
}
"""Headings of the index, by whose claims they are."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """An experiment with its table, verdicts and surfaces; without a scale it has not been run.

    ``published`` are scores of others to draw beside the returns.
    """

    experiment: Experiment
    scale: ScaleName | None = None
    rows: Sequence[Row] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    published: Sequence[Published] = ()
    fields: Sequence[Field] = ()

    @property
    def judged(self) -> list[tuple[Kind, Verdict]]:
        """The claims with their verdicts."""
        return [(c, self.verdicts[c.name]) for c in self.experiment.claims if self.verdicts]

    @property
    def file(self) -> str:
        """The page's name, that of its experiment, which must be fit for it."""
        name = self.experiment.name
        if not re.fullmatch(r"[a-z0-9][a-z0-9._-]*", name) or name == "index":
            constraint = "lower-case letters, digits, dashes"
            raise BadInputError("experiment", name, constraint, "rename it")
        return f"{name}.html"

    def page(self, home: str | None = None) -> str:
        """Return the experiment's page as HTML; the same table gives the same bytes.

        ``home`` is the address of an index to lead back to.
        """
        assert self.scale is not None
        experiment, rows = self.experiment, self.rows
        end = max((row.step for row in rows), default=0)
        reached = [score for score in self.published if score.env_steps <= end]  # later: a table
        colors = variant_colors(variants_of(rows), experiment.roles)
        return render(
            "experiment.html",
            colors=[*dict.fromkeys((*colors.values(), GREY))],
            title=f"{experiment.name}: {experiment.title}",
            home=home,
            experiment=experiment,
            scale=self.scale,
            outcomes=Counter(verdict.outcome for verdict in self.verdicts.values()),
            size=_size(rows),
            small=SCALES[self.scale] if experiment.is_small(self.scale) else "",
            judged=self.judged,
            caption=caption(rows),
            front=_group(experiment.panels, rows, colors, reached, self.fields),
            behind=_group(panels_behind(experiment, rows), rows, colors, reached, self.fields),
            numbers=_numbers(experiment, rows),
            published=_published(rows, self.published),
            origin=_origin(experiment, rows, self.scale, self.provenance),
        )


def panels_behind(experiment: Experiment, rows: Sequence[Row]) -> list[Panel]:
    """Return panels to unfold: tasks that the figure leaves out, then diagnostics."""
    found: dict[tuple[str, str], Panel] = {}
    for panel in experiment.panels:
        if panel.tasks:
            whole = replace(panel, tasks=())
            if panel.kind == "ends":
                whole = replace(whole, kind="curves", x="")
            found.setdefault((panel.metric.title, whole.kind), whole)
    return [*found.values(), *diagnostics(experiment, rows)]


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
    panels: Sequence[Panel],
    rows: Sequence[Row],
    colors: Mapping[str, str],
    published: Sequence[Published] = (),
    fields: Sequence[Field] = (),
) -> dict[str, Any]:
    drawn: dict[str, list[Drawn]] = {}
    for panel in panels:
        drawn.setdefault(panel.metric.title, []).extend(
            draw(draw_panel(one), title=f"{panel.metric.title}: {one.title}", label=one.label)
            for one in task_panels(panel, rows, colors, published, fields)
        )
    entries = legend_entries(rows, colors)
    if not any(panel.metric.policies for panel in panels):
        entries = [entry for entry in entries if not entry.dash]
    return {
        "panels": {metric: figures for metric, figures in drawn.items() if figures},
        "legend": entries,
    }


def _numbers(experiment: Experiment, rows: Sequence[Row]) -> dict[str, list[list[str]]]:
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
        found = {v: curves.values(v, task, statistic) for v in (*variants_of(rows), *POLICIES)}
        lines += [[variant, *summarize(values)] for variant, values in found.items() if values]
    return lines


def _published(rows: Sequence[Row], published: Sequence[Published]) -> list[list[str]]:
    lines: list[list[str]] = []
    for task in dict.fromkeys(r.task.rpartition("/")[2] for r in rows if r.metric == RETURN.title):
        scores = [score for score in published if score.task == task]
        lines += [[task]] if scores else []
        for score in scores:
            shown = [number(score.score), number(score.spread), str(score.seeds)]
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


def summarize(values: Sequence[float]) -> list[str]:
    """Return mean, 95 % t-interval, mean of the middle half, range and seeds, as cells of a table.

    A seed that is not finite counts as infinite.

    >>> summarize([1.0, 2.0, 3.0, float("inf")])
    ['∞', '–', '2.5', '1', '∞', '4, 1 not finite']
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    counted = np.where(np.isfinite(ordered), ordered, math.inf)
    lost, interval = int(np.isinf(counted).sum()), "–"
    if len(ordered) > 1 and not lost:
        found = t_interval([*values])
        interval = f"[{number(found.low)}, {number(found.high)}]"
    rest = map(number, (trim_mean(counted, 0.25), ordered[0], ordered[-1]))
    seeds = f"{len(ordered)}, {lost} not finite" if lost else str(len(ordered))
    return [number(counted.mean()), interval, *rest, seeds]


def write_site(folder: Path, entries: Iterable[Entry], *, force: bool = False) -> list[Path]:
    """Write the index and a page for each experiment that was run; return the files.

    Pages of our own are replaced, other files only with ``force``; all pages are made before the
    first is written, and the index is written last.
    """
    listed = [*entries]
    pages = {entry.file: entry.page(INDEX) for entry in listed if entry.scale}
    pages[INDEX] = index_page(listed)
    paths = {folder / name: text for name, text in pages.items()}
    for path in paths:
        check_replaceable(path, force=force)
    for path, text in paths.items():
        write_page(path, text)
    return [*paths]


def index_page(entries: Sequence[Entry]) -> str:
    """Return the index: a forest plot of all claims in three groups, and what was not run."""
    run = [entry for entry in entries if entry.scale]
    waiting = [entry for entry in entries if not entry.scale]
    small = [e for e in run if e.scale is not None and e.experiment.is_small(e.scale)]
    groups = {}
    for whose, title in GROUPS.items():
        own = [(e, [(c, v) for c, v in e.judged if (c.whose or "ours") == whose]) for e in run]
        outcomes = Counter(v.outcome for _, judged in own for _, v in judged)
        outcomes["not run"] += sum(
            c.whose == whose for entry in waiting for c in entry.experiment.claims
        )
        found = [(entry, judged) for entry, judged in own if judged]
        ordered = {one: outcomes[one] for one in get_args(Outcome) if outcomes[one]}
        groups[title] = {"entries": found, "outcomes": ordered}
    return render(
        INDEX,
        title="lff: experiments and verdicts",
        run=run,
        waiting=waiting,
        groups=groups,
        small=", ".join(f"{entry.experiment.name} ({entry.scale})" for entry in small),
    )


def claims_page(entries: Iterable[Entry]) -> str:
    """Return a summary and a table for each experiment; the same tables give the same bytes."""
    run = [entry for entry in entries if entry.scale and entry.verdicts]
    counts = {whose: Counter[str]() for whose in get_args(Whose)}
    tested: dict[str, float] = {}
    for entry in run:
        for claim, verdict in entry.judged:
            counts[claim.whose or "ours"][verdict.outcome] += 1
            if verdict.outcome in TESTED and verdict.p is not None:
                tested[f"{entry.experiment.name} {claim.name}"] = verdict.p
    outcomes = dict.fromkeys(outcome for found in counts.values() for outcome in found)
    q_values = benjamini_hochberg(tested)
    return render("claims.md", entries=run, counts=counts, outcomes=outcomes, q_values=q_values)
