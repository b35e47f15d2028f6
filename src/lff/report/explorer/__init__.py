"""An interactive page: σ, F, depth, concatenation, input norm; kernel, spectrum, times, fit.

The page computes everything itself.  ``kernel.js`` follows ``lff.ntk``, to which a test in a real
browser compares it; ``draw.js`` draws, ``page.js`` connects the two to the controls.
"""

import json
from importlib import resources
from typing import Any

from lff.report.html import render

SCRIPTS = ("kernel.js", "draw.js", "page.js")


def explorer_page() -> str:
    """Return the page; its policy allows its own script and style, by their hashes, and no network.

    >>> explorer_page().startswith("<!DOCTYPE html>")
    True
    """
    script = f'"use strict";\n(() => {{\n{"".join(map(_part, SCRIPTS))}}})();\n'
    return render(
        "explorer.html",
        title="lff: what will the network learn first?",
        css=_part("explorer.css"),
        script=script,
        tour=[(stop["title"], stop["text"], json.dumps(stop["state"])) for stop in read_tour()],
    )


def read_tour() -> list[dict[str, Any]]:
    """Return settings that show the paper's idea and its limits: title, text, controls' state."""
    stops: list[dict[str, Any]] = json.loads(_part("tour.json"))
    return stops


def _part(name: str) -> str:
    return resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
