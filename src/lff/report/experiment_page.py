"""One page for one experiment: question, verdicts, pictures, numbers, origin."""

from collections.abc import Mapping, Sequence
from typing import Any

from lff.experiments.spec import SCALES, Claim, Experiment, Judged, Panel, ScaleName
from lff.report.drawing import DOTTED, POLICIES, draw_picture, legend_names, pictures, variants_of
from lff.report.markup import Markup, command, gallery, page, section, table, tag
from lff.report.pictures import inline_svg, swatch
from lff.report.summaries import number, summarize, values_of
from lff.report.values import show
from lff.stats import RETURN, Curves, Field, Metric, Published, Row, Statistic
from lff.store import flat

SYMBOLS = {"confirmed": "✓", "refuted": "✗", "inconclusive at this scale": "?", "no signal": "–"}
KINDS = {
    "confirmed": "confirmed",
    "refuted": "refuted",
    "inconclusive at this scale": "inconclusive",
}
"""Outcomes that have a colour of their own."""
DIAGNOSTICS = ("lff/", "net/", "train/q_", "eval/q_", "train/target_q")
"""Metrics of jobs that are drawn though no panel asks for them."""
LOGARITHMIC = ("train/q_max", "_B_std", "_B_norm")
HEAD = ("variant", "mean", "95 % interval", "IQM", "least", "most", "seeds")


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
    body = [
        *_header(experiment, rows, scale, verdicts),
        _verdicts(experiment.claims, verdicts),
        _pictures("Curves", experiment.panels, rows, "a", reached, fields),
        _pictures("Diagnostics", diagnostics(experiment, rows), rows, "b"),
        _numbers(experiment, rows),
        _published(rows, published),
        *([section("Notes", tag("p", experiment.notes))] if experiment.notes else []),
        _origin(experiment, rows, scale, provenance),
    ]
    return page(f"{experiment.name}: {experiment.title}", body, home=home)


def badge(outcome: str) -> Markup:
    """Return an outcome as a word with its sign; its colour only repeats it."""
    words = f"{SYMBOLS.get(outcome, '·')} {outcome}"
    return tag("span", words, class_=f"chip {KINDS.get(outcome, 'silent')}")


def diagnostics(experiment: Experiment, rows: Sequence[Row]) -> list[Panel]:
    """Return panels for what the table knows of B and Q and no panel shows."""
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


def legend(entries: Sequence[tuple[str, str, tuple[float, ...]]]) -> Markup:
    """Return the names of a set of pictures, each with its line."""
    items = [
        tag("li", swatch(color, " ".join(f"{3 * d:g}" for d in dash)), name)
        for name, color, dash in entries
    ]
    return tag("ul", *items, class_="legend")


def small_scale(experiment: Experiment, scale: ScaleName) -> list[Markup]:
    """Return the warning that a page of a small scale carries."""
    if not experiment.is_small(scale):
        return []
    words = f"Small scale, not the paper's numbers. Scale “{scale}”: {SCALES[scale]}."
    return [tag("p", words, class_="banner")]


def _header(
    experiment: Experiment, rows: Sequence[Row], scale: ScaleName, verdicts: Sequence[Judged]
) -> list[Markup]:
    tasks = len({row.task for row in rows})
    seeds = len({row.seed for row in rows if row.variant not in POLICIES})
    variants = len(variants_of(rows))
    size = f"{_count(variants, 'variant')}, {_count(tasks, 'task')}, {_count(seeds, 'seed')}"
    chips = [
        tag("span", experiment.name, class_="chip"),
        tag("span", f"scale: {scale}", class_="chip"),
    ]
    counted = dict.fromkeys(verdict.outcome for verdict in verdicts)
    for outcome in counted:
        times = sum(verdict.outcome == outcome for verdict in verdicts)
        chips.append(badge(outcome) if times == 1 else join_times(outcome, times))
    return [
        tag("h1", experiment.title),
        tag("div", *chips, class_="chips"),
        tag("p", f"Source: {experiment.source}. Here: {size}.", class_="meta"),
        *small_scale(experiment, scale),
    ]


def join_times(outcome: str, times: int) -> Markup:
    """Return an outcome that several claims share."""
    kind = KINDS.get(outcome, "silent")
    return tag("span", f"{SYMBOLS.get(outcome, '·')} {times} {outcome}", class_=f"chip {kind}")


def _verdicts(claims: Sequence[Claim], verdicts: Sequence[Judged]) -> Markup:
    cards = []
    for claim, verdict in zip(claims, verdicts, strict=True):
        details = [tag("li", line) for line in getattr(verdict, "details", ())]
        cards.append(
            tag(
                "article",
                tag(
                    "div",
                    badge(verdict.outcome),
                    tag("span", claim.name, class_="chip"),
                    class_="chips",
                ),
                tag("p", claim.text, class_="claim"),
                tag("p", verdict.because, class_="because"),
                *([tag("ul", *details)] if details else []),
                class_="card",
            )
        )
    if not cards:
        return section("Verdicts", note="No claim is declared for this experiment.")
    note = "Computed from the table below by a fixed rule; the line under a claim decided it."
    return section("Verdicts", *cards, note=note)


def _pictures(
    title: str,
    panels: Sequence[Panel],
    rows: Sequence[Row],
    prefix: str,
    published: Sequence[Published] = (),
    fields: Sequence[Field] = (),
) -> Markup:
    parts: list[Markup] = []
    for i, panel in enumerate(panels):
        figures = [
            tag(
                "figure",
                tag("figcaption", picture.task),
                inline_svg(draw_picture(picture), label=picture.label, prefix=f"{prefix}{i}-{j}"),
            )
            for j, picture in enumerate(pictures(panel, rows, published, fields))
        ]
        if figures:
            parts += [tag("h3", panel.metric.title), gallery(figures)]
    if not parts:
        return Markup()
    entries = legend_names(rows)
    if not any(panel.metric.policies for panel in panels):
        entries = [entry for entry in entries if entry[2] != DOTTED]
    note = (
        "Lines are means over seeds, bands their 95 % t-intervals; on logarithmic axes both are of "
        "the logarithms. × on the upper edge: a seed that was not finite there."
    )
    return section(title, legend(entries), *parts, note=note)


def _numbers(experiment: Experiment, rows: Sequence[Row]) -> Markup:
    parts: list[Markup] = []
    there = {row.metric for row in rows}
    for metric in experiment.metrics:
        if metric.title in there:
            curves = Curves(rows, metric=metric)
            for words, statistic in _statistics(metric):
                heading = tag("h3", f"{metric.title}, {words}")
                parts += [heading, _summary_table(rows, curves, statistic)]
    note = (
        "One number per seed, by the rule of the verdicts. The interval is the t-interval of the "
        "mean, IQM the mean of the middle half of the seeds."
    )
    return section("Numbers", *parts, note=note)


def _statistics(metric: Metric) -> list[tuple[str, Statistic]]:
    if metric.policies:
        return [("at the end", "last"), ("mean over training", "mean")]
    return [("over training", "max")] if metric.peak else [("at the end", "last")]


def _summary_table(rows: Sequence[Row], curves: Curves, statistic: Statistic) -> Markup:
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
    return table(HEAD, lines)


def _published(rows: Sequence[Row], published: Sequence[Published]) -> Markup:
    """Return the scores of others on the experiment's tasks, if it measures returns."""
    tasks = dict.fromkeys(row.task.rpartition("/")[2] for row in rows if row.metric == RETURN.title)
    lines: list[list[str]] = []
    for task in tasks:
        own = [score for score in published if score.task == task]
        lines += [[task]] if own else []
        for score in own:
            spread = "–" if score.spread is None else number(score.spread)
            shown = [number(score.score), spread, str(score.seeds)]
            lines.append([score.algorithm, score.source, f"{score.env_steps:,}", *shown])
    if not lines:
        return Markup()
    head = ("algorithm", "source", "environment steps", "return", "std over seeds", "seeds")
    note = "For orientation: other code, other sizes, and most of them at many more steps."
    folded = tag("details", tag("summary", "scores and sources"), table(head, lines, words=2))
    return section("Published by others", folded, note=note)


def _origin(
    experiment: Experiment, rows: Sequence[Row], scale: ScaleName, provenance: Mapping[str, Any]
) -> Markup:
    seeds = sorted({row.seed for row in rows if row.variant not in POLICIES})
    facts = {
        "experiment": experiment.name,
        "scale": scale,
        "seeds": ", ".join(map(str, seeds)),
        "last step": number(max((row.step for row in rows), default=0)),
        "rows of the table": number(len(rows)),
    }
    told = {name: show(value) for name, value in flat(provenance).items() if name not in facts}
    lines = [[name, value] for name, value in (facts | told).items()]
    return section(
        "Reproduce",
        command(f"lff experiment run {experiment.name} --scale {scale}"),
        table(("what", "value"), lines, words=2),
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
