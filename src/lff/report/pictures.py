"""Figures as SVG inside the page: no style of their own, colours that follow light and dark.

Matplotlib writes ``style`` attributes, which a strict policy forbids; they become plain attributes.
Text stays text, in the reader's own font.
"""

import base64
import io
import re
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
from matplotlib.figure import Figure

from lff.report.markup import Markup, join, tag
from lff.report.style import COLORS

SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "lff",
    "text.parse_math": False,  # a name with two dollars is no formula
    "axes.unicode_minus": True,
}
DRAWN = frozenset({"svg", "defs", "clipPath", "g", "path", "use", "text", "tspan", "rect", "image"})
_KEPT = """
d x y x1 x2 y1 y2 width height transform clip-path viewBox href id fill stroke opacity
fill-opacity fill-rule stroke-width stroke-opacity stroke-dasharray stroke-dashoffset
stroke-linecap stroke-linejoin text-anchor font-size font-weight image-rendering
"""
KEPT = frozenset(_KEPT.split())
_INDEX = {color.lower(): i for i, color in enumerate(COLORS)}
_INDEX["#444444"] = len(COLORS) - 1  # the ink of published scores
_INK = "#000000"
PNG = "data:image/png;base64,"
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_XLINK = "{http://www.w3.org/1999/xlink}"


def inline_svg(figure: Figure, *, label: str, prefix: str) -> Markup:
    """Return a figure as an element of the page; the same figure gives the same text.

    ``label`` tells what is to be seen to those who cannot; ``prefix`` keeps the ids of several
    figures of a page apart.
    """
    text = io.StringIO()
    with mpl.rc_context(SETTINGS):
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    root = ElementTree.fromstring(text.getvalue())
    box = root.get("viewBox", "")
    inner = join(_rewrite(child, prefix) for child in root)
    given = {"viewBox": box, "class_": "plot", "role": "img", "aria_label": label}
    return tag("svg", inner, **given)


def inline_png(data: bytes, *, label: str) -> Markup | None:
    """Return a PNG as an element of the page, as wide as it is at most; None if it is none."""
    head = data[: len(_SIGNATURE) + 16]
    if not head.startswith(_SIGNATURE) or head[12:16] != b"IHDR" or len(head) < 24:
        return None
    width, height = (str(int.from_bytes(head[i : i + 4])) for i in (16, 20))
    href = PNG + base64.b64encode(data).decode()
    image = tag("image", href=href, width=width, height=height)
    given = {"viewBox": f"0 0 {width} {height}", "class_": "plot", "role": "img"}
    return tag("svg", image, **given, aria_label=label)


def swatch(color: str, dash: str) -> Markup:
    """Return a short line in a variant's colour and dashes, for a legend."""
    given = {"d": "M0 6H26", "fill": "none", "stroke": color, "stroke_width": "2.5"}
    if dash:
        given["stroke_dasharray"] = dash
    line = tag("path", **given, class_=_class("s", color))
    return tag("svg", line, width="26", height="12", aria_hidden="true")


def _rewrite(element: ElementTree.Element, prefix: str) -> Markup:
    name = element.tag.rpartition("}")[2]
    if name not in DRAWN:  # metadata and the figure's own style sheet
        return Markup()
    given: dict[str, str] = {}
    for key, value in element.attrib.items():
        if key == "style":
            given.update(_properties(value))
        else:
            given[key.replace(_XLINK, "")] = value
    if name in ("g", "path") and "id" in given and not given["id"].startswith(("m", "p")):
        del given["id"]  # names of matplotlib's parts; markers and clips are referred to
    given = {key: _local(key, value, prefix) for key, value in given.items() if key in KEPT}
    classes = _colors(given)
    if classes:
        given["class_"] = classes
    inside = [element.text.strip()] if element.text and element.text.strip() else []
    return tag(name, *inside, *(_rewrite(child, prefix) for child in element), **given)


def _properties(style: str) -> dict[str, str]:
    found = {}
    for declaration in style.split(";"):
        key, _, value = declaration.partition(":")
        key, value = key.strip(), value.strip()
        if key == "font":
            size = re.search(r"([\d.]+)px", value)
            key, value = "font-size", size.group(1) if size else "9"
        elif key == "font-size":
            value = value.removesuffix("px")
        found[key] = value
    return found


def _local(key: str, value: str, prefix: str) -> str:
    if key == "id":
        return f"{prefix}-{value}"
    if key == "href":  # a marker of this figure, or the cells of a surface as a picture
        return (
            "".join(value.split()) if value.startswith(PNG) else value.replace("#", f"#{prefix}-")
        )
    return value.replace("url(#", f"url(#{prefix}-")


def _colors(given: dict[str, str]) -> str:
    """Give known colours their class, which follows the theme, and black the colour of text."""
    classes = []
    for key, letter in (("stroke", "s"), ("fill", "f")):
        color = given.get(key, "").lower()
        if color == _INK:
            given[key] = "currentColor"
        elif color in _INDEX:
            classes.append(_class(letter, color))
    return " ".join(classes)


def _class(letter: str, color: str) -> str:
    index = _INDEX.get(color.lower())
    return "" if index is None else f"{letter}{index}"
