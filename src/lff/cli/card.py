"""``lff card RUN``: a policy card, Markdown with the curve as a figure beside it."""

from pathlib import Path

from lff.auditing import audit
from lff.cli.output import Force, Run, Trust, check_out
from lff.report import save_figure
from lff.report.card import card_figure, card_text
from lff.runs.load import load, replay_sample
from lff.runs.read import read_run
from lff.store import write_bytes
from lff.store.atomic import read_bytes


def card_command(
    run: Run, /, *, out: Path | None = None, force: Force = False, trust: Trust = ()
) -> None:
    """Write what a run is, what it scored and how to repeat it, as Markdown with a figure.

    Args:
        out: the card, .md; its figure has the same name, .png.  RUN-card.md if not given.
    """
    out = out or Path(f"{run.resolve().name}-card.md")
    check_out(out, force=force, suffix=".md")
    check_out(out.with_suffix(".png"), force=force)
    text = make_card(run, out, trust=trust)
    save_figure(card_figure(read_run(run)), out.with_suffix(".png"))
    write_bytes(out, text.encode())
    print(f"{out}: the card of {run}; its curve is {out.with_suffix('.png')}")


def make_card(
    run: Path, out: Path, *, origin: Path | None = None, trust: tuple[str, ...] = ()
) -> str:
    """Return the card of a run, under the name and command of ``origin`` if it repeats that."""
    policy = load(run, trust=trust)
    report = audit(policy.agent, replay_sample(policy), show=False)
    findings = str(report) if report.layers else "These networks do not have a Fourier layer."
    before = None if origin is None else read_run(origin)
    return card_text(
        read_run(run), audit=findings, figure=out.with_suffix(".png").name, origin=before
    )


def card_difference(card: Path, run: Path, *, origin: Path, trust: tuple[str, ...]) -> str | None:
    """Return the first line in which the card of a repeated run differs; None if it does not."""
    there = read_bytes(card).split(b"\n")
    here = make_card(run, card, origin=origin, trust=trust).encode().split(b"\n")
    for number, (one, other) in enumerate(zip(there, here, strict=False), 1):
        if one != other:
            return f"line {number}: {one[:120]!r} there, {other[:120]!r} here"
    return None if len(there) == len(here) else f"{len(there)} lines there, {len(here)} here"
