"""A page to play with: σ, F, depth, concatenation, input norm; kernel, spectrum, times, fit.

Everything is computed by the page itself.  ``kernel.js`` follows ``lff.ntk``, to which a test in a
real browser compares it; ``draw.js`` draws, ``page.js`` joins the two to the controls.
"""

import base64
import hashlib
import json
from importlib import resources

from lff.report.explorer.tour import TOUR, Stop
from lff.report.markup import GENERATOR, Markup, tag
from lff.report.style import STYLE

SCRIPTS = ("kernel.js", "draw.js", "page.js")


def explorer_page() -> str:
    """Return the page; its policy allows its own script and style, by their hashes, and no network.

    >>> explorer_page().startswith("<!DOCTYPE html>")
    True
    """
    style = STYLE + _part("explorer.css")
    script = f'"use strict";\n(() => {{\n{"".join(map(_part, SCRIPTS))}}})();\n'
    policy = (
        f"default-src 'none'; img-src data:; style-src {_hash(style)}; "
        f"script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=GENERATOR),
        tag("link", rel="icon", href="data:,"),
        tag("title", "lff: what will the network learn first?"),
        tag("style", Markup(style)),
    )
    tour = "\n".join(_stop(number, stop) for number, stop in enumerate(TOUR, start=1))
    main = Markup(_part("page.html").replace("%TOUR%", tour))
    body = tag("body", main, tag("script", Markup(script)))
    return f'<!DOCTYPE html>\n<html lang="en">\n{head}\n{body}\n</html>\n'


def _stop(number: int, stop: Stop) -> Markup:
    given = {"data_state": json.dumps(stop.state), "data_text": stop.text}
    return tag("button", tag("b", str(number)), stop.title, type="button", **given)


def _part(name: str) -> str:
    return resources.files(__name__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
