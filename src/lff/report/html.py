"""Pages from templates: all values are escaped, and a page's policy forbids scripts and requests.

Figures are images inside the page, one for a light and one for a dark background; a browser runs
nothing within an image.
"""

import base64
import hashlib
import io
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from matplotlib.figure import Figure

from lff.core.errors import BadInputError
from lff.report.forest import bars_of
from lff.report.style import GREY, PALETTE, SETTINGS, dark_of
from lff.store.atomic import read_bytes, reported, write_bytes

GENERATOR = "lff report"  # marks a page as ours, which may be replaced
COLORS = (*PALETTE, GREY)  # the classes s0, s1, ... of a page without variants
SYMBOLS = {
    **dict.fromkeys(("supported here", "holds"), "✓"),
    **dict.fromkeys(("contradicted here", "refuted"), "✗"),
    "undecided here": "?",
    "no signal": "–",
}
KINDS = {
    **dict.fromkeys(("supported here", "holds"), "confirmed"),
    **dict.fromkeys(("contradicted here", "refuted"), "refuted"),
    "undecided here": "inconclusive",
}
"""Style classes of the outcomes that have a colour."""
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
TEMPLATES = Environment(
    loader=PackageLoader("lff.report"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.globals.update(generator=GENERATOR, symbols=SYMBOLS, kinds=KINDS, bars_of=bars_of)


class Drawn(NamedTuple):
    """A figure as two images, with its caption and a description."""

    title: str
    label: str
    light: str
    dark: str


def render(
    template: str, *, css: str = "", script: str = "", colors: Sequence[str] = COLORS, **values: Any
) -> str:
    """Return a page whose policy allows its own style, its own script, and no network.

    ``colors`` become the classes s0, s1, ... of lines and follow the light or dark theme.

    >>> "&lt;b&gt;" in render("index.html", run=[], waiting=[], groups={}, small="<b>", title="")
    True
    """
    shades = [(color, dark_of(color)) for color in colors]
    style = TEMPLATES.get_template("style.css").render(shades=shades) + css
    scripts = f"script-src {_hash(script)}; " if script else ""
    policy = (
        f"default-src 'none'; img-src data:; style-src {_hash(style)}; {scripts}"
        "base-uri 'none'; form-action 'none'"
    )
    given: dict[str, Any] = {"home": None, "colors": [*colors], "policy": Markup(policy)}
    given |= {"style": Markup(style), "script": Markup(script)} | values
    return TEMPLATES.get_template(template).render(**given)


def draw(figure: Figure, *, title: str, label: str) -> Drawn:
    """Return a figure as SVG images; the same figure gives the same text."""
    text = io.StringIO()
    with mpl.rc_context(SETTINGS):
        metadata = {"Date": None, "Creator": None}
        figure.savefig(text, format="svg", transparent=True, metadata=metadata)
    light = text.getvalue()
    # black is SVG's default and therefore not written: a default for the whole image replaces it
    dark = re.sub("#[0-9a-f]{6}", lambda match: dark_of(match[0]), light)
    dark = dark.replace("<svg ", f'<svg fill="{dark_of("#000000")}" ', 1)
    return Drawn(title, label, *(_data("svg+xml", svg.encode()) for svg in (light, dark)))


def png(data: bytes) -> str | None:
    """Return the address of a PNG inside the page; None if the data is something else."""
    return _data("png", data) if data.startswith(PNG_SIGNATURE) else None


def check_replaceable(path: Path, *, force: bool) -> None:
    """Raise if a file is there that is not a page of ours."""
    if path.is_dir():
        raise BadInputError("out", str(path), "a file", "name a file in that folder")
    ours = f'name="generator" content="{GENERATOR}"'.encode()
    if path.exists() and not force and ours not in read_bytes(path)[:2000]:
        raise BadInputError("out", str(path), "new, or a page to replace", "use --force")


def write_page(path: Path, text: str) -> None:
    """Write a page atomically, making its folder."""
    with reported("write", path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, text.encode())


def breakable(name: str) -> Markup:
    """Return a name as escaped text that a browser may break after a dot, colon, dash or slash.

    >>> str(breakable("nets:make_critic, <0.01>"))
    'nets:<wbr>make_<wbr>critic, &lt;0.01&gt;'
    """
    return Markup("<wbr>").join(escape(part) for part in re.split(r"(?<=[._:/-])(?=[^\W\d])", name))


TEMPLATES.filters["breakable"] = breakable


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _data(kind: str, data: bytes) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def number(value: float | None) -> str:
    """Write a number for people.

    >>> number(1234.5678), number(0.00012345), number(float("inf")), number(None)
    ('1,235', '0.0001234', '∞', '–')
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    text = f"{value:,.0f}" if 1000 <= size < 1e7 else f"{value:.4g}"
    return text.replace("e+0", "e").replace("e-0", "e-").replace("-", "−")


def show(value: Any) -> str:
    """Write a value.

    >>> show([8, 8]), show(True), show(None), show(1000000), show(0.0003)
    ('8, 8', 'yes', '–', '1,000,000', '0.0003')
    """
    if value is None or isinstance(value, bool):
        return {None: "–", True: "yes", False: "no"}[value]
    if isinstance(value, int | float):
        return f"{value:,}" if isinstance(value, int) else f"{value:g}"
    if isinstance(value, Mapping):
        value = [f"{key} {show(inner)}" for key, inner in value.items()]
    return ", ".join(map(show, value)) or "none" if isinstance(value, list | tuple) else str(value)
