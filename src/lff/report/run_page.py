"""One page for one run or several: results, pictures, config, and the command to repeat it."""

import math
import shlex
from collections.abc import Sequence

from lff.figures import color_of, dash_of
from lff.report.experiment_page import legend
from lff.report.markup import Markup, command, gallery, page, section, table, tag
from lff.report.pictures import inline_png, inline_svg
from lff.report.run_drawing import GROUPS, draw_chart, has_data
from lff.report.summaries import number
from lff.report.values import show
from lff.runs.read import Run, as_number, differences

SEEN = (
    "The newest frame as it was drawn (raw), as it comes in a batch (augmented), as the policy "
    "sees it (acting), and against the oldest of its stack (motion); for LFF three sines of the "
    "front as red, green and blue (waves)."
)
MANY = 12
"""More lines than this are folded away."""


def run_page(runs: Sequence[Run]) -> str:
    """Return the page as HTML, made from the runs' files alone; the same files, the same bytes."""
    names = [run.name for run in runs]
    title = names[0] if len(runs) == 1 else f"{len(runs)} runs: {', '.join(names)}"
    body = [
        tag("h1", title),
        tag("div", *[tag("span", c, class_="chip") for c in _chips(runs)], class_="chips"),
        *_warnings(runs),
        _results(runs),
        *_pictures(runs),
        *_sheets(runs),
        _evaluations(runs),
        _config(runs),
        _reproduce(runs),
    ]
    return page(title, body)


def _chips(runs: Sequence[Run]) -> list[str]:
    envs = dict.fromkeys(run.env for run in runs)
    seeds = dict.fromkeys(str(run.seed) for run in runs)
    chips = [*envs, f"seed {', '.join(seeds)}" if len(seeds) == 1 else f"seeds {', '.join(seeds)}"]
    going = sum(not run.finished for run in runs)
    if going:
        chips.append("not finished" if len(runs) == 1 else f"{going} of {len(runs)} not finished")
    else:
        chips.append("finished" if len(runs) == 1 else "all finished")
    return chips


def _warnings(runs: Sequence[Run]) -> list[Markup]:
    found = []
    envs = dict.fromkeys(run.env for run in runs)
    if len(envs) > 1:
        found.append(f"Different tasks ({', '.join(envs)}): their returns do not compare.")
    for run in runs:
        lost = [name for name in ("train/q_max", "train/critic_loss") if _lost(run, name)]
        if lost:
            found.append(f"{run.name}: not finite at some step: {', '.join(lost)}.")
    return [tag("p", words, class_="banner") for words in found]


def _lost(run: Run, metric: str) -> bool:
    return any(not math.isfinite(value) for _, value in run.curve(metric))


def _results(runs: Sequence[Run]) -> Markup:
    returns = [[value for _, value in run.returns] for run in runs]
    lines = {
        "steps": [f"{run.steps:,} of {show(run.config.get('steps'))}" for run in runs],
        "last return": [number(values[-1] if values else math.nan) for values in returns],
        "best return": [number(max(values, default=math.nan)) for values in returns],
        "random policy": [number(run.reference_mean("random")) for run in runs],
        "zero policy": [number(run.reference_mean("zero")) for run in runs],
        "largest |Q|": [number(_of(run.q_max)) for run in runs],
        "std of the actor's B": [number(_of(run.last("lff/actor_B_std"))) for run in runs],
        "std of the critics' B": [number(_of(run.last("lff/critic_B_std"))) for run in runs],
    }
    head = ("what", *(run.name for run in runs))
    found = [[name, *values] for name, values in lines.items()]
    return section("Results", table(head, found, words=1 + (len(runs) == 1)))


def _of(value: float | None) -> float:
    return math.nan if value is None else value


def _pictures(runs: Sequence[Run]) -> list[Markup]:
    names = [run.name for run in runs]
    entries = [(name, color_of(name, names), dash_of(name, names)) for name in names]
    parts = []
    for i, group in enumerate(GROUPS):
        charts = [chart for chart in group.charts if has_data(chart, runs)]
        figures = [
            tag(
                "figure",
                tag("figcaption", chart.title),
                inline_svg(
                    draw_chart(chart, runs),
                    label=f"{chart.title}: {', '.join(names)}",
                    prefix=f"g{i}-{j}",
                ),
            )
            for j, chart in enumerate(charts)
        ]
        if figures:
            keys = [legend(entries)] if len(runs) > 1 else []
            parts.append(section(group.title, *keys, gallery(figures), note=group.note))
    return parts


def _sheets(runs: Sequence[Run]) -> list[Markup]:
    figures = []
    for run in runs:
        label = f"{run.name}: raw, augmented, acting, motion"
        sheet = inline_png(run.sheet, label=label) if run.sheet else None
        if sheet is not None:
            figures.append(tag("figure", tag("figcaption", run.name), sheet))
    return [section("First observations", *figures, note=SEEN)] if figures else []


def _evaluations(runs: Sequence[Run]) -> Markup:
    lines = []
    for run in runs:
        biases = dict(run.curve("eval/q_bias"))
        for evaluation in run.evaluations:
            step = int(evaluation.get("env_step", 0))
            returns = [as_number(value) for value in evaluation.get("returns") or ()]
            if returns:
                mean = sum(returns) / len(returns)
                shown = [mean, min(returns), max(returns), biases.get(step, math.nan)]
                lines.append([run.name, f"{step:,}", str(len(returns)), *map(number, shown)])
    if not lines:
        return section("Evaluations", tag("p", "None yet.", class_="note"))
    head = ("run", "step", "episodes", "mean return", "least", "most", "bias of Q")
    found = table(head, lines)
    if len(lines) > MANY:
        found = tag("details", tag("summary", f"all {len(lines)} evaluations"), found)
    return section("Evaluations", found)


def _config(runs: Sequence[Run]) -> Markup:
    names = list(dict.fromkeys(name for run in runs for name in run.config))
    values = {name: [run.config.get(name) for run in runs] for name in names}
    differ = [*differences(runs)]
    if len(runs) == 1:
        lines = [[name, show(values[name][0])] for name in names]
        return section("Config", table(("field", "value"), lines, words=2))
    head = ("field", *(run.name for run in runs))
    alike = [[name, *map(show, values[name])] for name in names if name not in differ]
    other = [[name, *map(show, values[name])] for name in differ]
    columns = len(head)
    top = (
        table(head, other, marked=range(len(other)), words=columns)
        if other
        else tag("p", "The configs are equal.", class_="note")
    )
    rest = tag(
        "details",
        tag("summary", f"{len(alike)} fields that are alike"),
        table(head, alike, words=columns),
    )
    parts = [tag("h3", f"{len(differ)} fields differ"), top, rest]
    return section("Config", *parts)


def _reproduce(runs: Sequence[Run]) -> Markup:
    parts: list[Markup] = []
    for run in runs:
        if len(runs) > 1:
            parts.append(tag("h3", run.name))
        if run.command:
            parts.append(command(run.command))
        again = shlex.join(["lff", "rerun", run.name, "--dir", f"{run.name}-again"])
        parts += [
            tag("p", "From the stored config, compared byte for byte:", class_="note"),
            command(again),
        ]
        versions = run.info.get("versions")
        told = {"versions": show(versions)} if versions else {}
        restarts = run.info.get("restarts")
        if restarts:
            told["restarts"] = str(len(restarts))
        if told:
            parts.append(table(("what", "value"), [[*item] for item in told.items()], words=2))
    return section("Reproduce", *parts)
