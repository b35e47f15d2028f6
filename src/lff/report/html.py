"""Pages from templates: all values are escaped, and a page's policy forbids scripts and requests.

Figures are images inside the page, one for a light and one for a dark background; a browser runs
nothing within an image.
"""

import base64
import functools
import hashlib
import io
import os
import re
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.figure import Figure

from lff.core.errors import BadInputError, StorageError
from lff.report.style import GREY, PALETTE, SETTINGS, dark_of

GENERATOR = "lff report"
"""Marks a page as ours, which may be replaced."""
COLORS = (*PALETTE, GREY)
"""The classes s0, s1, ... of a page without variants."""
SYMBOLS = {"confirmed": "✓", "refuted": "✗", "inconclusive at this scale": "?", "no signal": "–"}
KINDS = {
    "confirmed": "confirmed",
    "refuted": "refuted",
    "inconclusive at this scale": "inconclusive",
}
"""Style classes of the outcomes that have a colour."""
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


class Drawn(NamedTuple):
    """A figure as two images, with its caption and a description."""

    title: str
    label: str
    light: str
    dark: str


def render(
    template: str,
    *,
    css: str = "",
    script: str = "",
    colors: Sequence[str] = COLORS,
    **values: Any,
) -> str:
    """Return a page whose policy allows its own style, its own script, and no network.

    ``colors`` become the classes s0, s1, ... of lines and follow the light or dark theme.

    >>> "&lt;b&gt;" in render("index.html", run=[], waiting=[], outcomes={}, small="<b>", title="")
    True
    """
    shades = [(color, dark_of(color)) for color in colors]
    style = _environment().get_template("style.css").render(shades=shades) + css
    scripts = f"script-src {_hash(script)}; " if script else ""
    policy = (
        f"default-src 'none'; img-src data:; style-src {_hash(style)}; {scripts}"
        "base-uri 'none'; form-action 'none'"
    )
    given: dict[str, Any] = {"home": None, "colors": [*colors], "policy": Markup(policy)}
    given |= {"style": Markup(style), "script": Markup(script)} | values
    return _environment().get_template(template).render(**given)


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
    if path.exists() and not force and not _is_ours(path):
        raise BadInputError("out", str(path), "new, or a page to replace", "use --force")


def write_page(path: Path, text: str) -> None:
    """Write a page atomically, making its folder."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            Path(name).chmod(0o644)
            Path(name).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}") from error


@functools.cache
def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader("lff.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals.update(generator=GENERATOR, symbols=SYMBOLS, kinds=KINDS)
    return found


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _data(kind: str, data: bytes) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def _is_ours(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            start = file.read(2000)
    except OSError:
        return False
    return f'name="generator" content="{GENERATOR}"'.encode() in start
