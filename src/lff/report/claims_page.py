"""All claims of some experiments with their verdicts, as one page of Markdown."""

from collections import Counter
from collections.abc import Iterable, Sequence

from lff.report.site import Entry

HEAD = "| claim | says | verdict | what decided it |\n|---|---|---|---|"
INTRO = """\
# Claims

Every claim of every experiment that has a table in `results/`. This page is computed, not written:
`lff experiment verdict --all --markdown`. [Statistics](statistics.md) has the verdicts' rules,
[the paper map](paper-map.md) what is not the paper's set-up, and `lff report NAME` the curves.
Brackets are 95 % intervals of paired differences over n seeds. Verdicts of laptop scale are about
small networks and short runs, not about the paper's numbers."""


def claims_page(entries: Iterable[Entry]) -> str:
    """Return a summary and a table for each experiment; the same tables give the same bytes."""
    run = [entry for entry in entries if entry.scale and entry.verdicts]
    return "\n\n".join([INTRO, _summary(run), *map(_section, run)]) + "\n"


def _summary(entries: Sequence[Entry]) -> str:
    counts = Counter(verdict.outcome for entry in entries for verdict in entry.verdicts)
    listed = ", ".join(f"{count} {outcome}" for outcome, count in counts.most_common())
    return f"{counts.total()} claims of {len(entries)} experiments: {listed}."


def _section(entry: Entry) -> str:
    experiment = entry.experiment
    seeds = len({row.seed for row in entry.rows})
    lines = [
        f"## {experiment.name}: {experiment.title}",
        "",
        f"Source: {experiment.source}. Scale {entry.scale}, {seeds} seeds: "
        f"`lff experiment run {experiment.name}`",
        "",
        HEAD,
    ]
    for claim, verdict in zip(experiment.claims, entry.verdicts, strict=True):
        cells = (claim.name, claim.text, f"**{verdict.outcome}**", verdict.because)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)
