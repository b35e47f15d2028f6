"""An interactive page: σ, F, depth, concatenation, input norm; kernel, spectrum, times, fit.

The page computes everything itself.  ``kernel.js`` follows ``lff.ntk`` and ``critic.js`` the
networks, to which a test in a real browser compares them; ``draw.js`` draws, ``page.js`` connects
them to the controls and to the page's address.
"""

import json
from importlib import resources
from typing import Any

from lff.report.html import render
from lff.stats.metrics import COLORS

SCRIPTS = ("kernel.js", "critic.js", "draw.js", "page.js")


def explorer_page() -> str:
    """Return the page; its policy allows its own script and style, by their hashes, and no network.

    >>> explorer_page().startswith("<!DOCTYPE html>")
    True
    """
    made = read_critics()
    critics = f"const CRITICS = {json.dumps(made, ensure_ascii=False)};\n"
    script = f'"use strict";\n(() => {{\n{critics}{"".join(map(_part, SCRIPTS))}}})();\n'
    return render(
        "explorer.html",
        title="lff: what will the network learn first?",
        css=_part("explorer.css"),
        script=script,
        critics=len(made["critics"]) - 1,
        colors=[COLORS[role][0] for role in ("ours", "control", "baseline")],
        tour=[(stop["title"], stop["text"], json.dumps(stop["state"])) for stop in read_tour()],
    )


def read_tour() -> list[dict[str, Any]]:
    """Return settings that show the paper's idea and its limits: title, text, controls' state."""
    stops: list[dict[str, Any]] = json.loads(_part("tour.json"))
    return stops


def read_critics() -> dict[str, Any]:
    """Return trained critics of a maze, and its map and Q*; examples/explorer_critics.py."""
    made: dict[str, Any] = json.loads(_part("critics.json"))
    return made


def _part(name: str) -> str:
    return resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
