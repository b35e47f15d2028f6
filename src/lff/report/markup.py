"""HTML in which nothing but our own markup is markup.

Every string that is no :class:`Markup` is escaped where it enters a tag, as text and as attribute,
so that a name out of a file stays a name.
"""

import base64
import hashlib
import html
from collections.abc import Iterable, Sequence
from pathlib import Path

from lff.report.style import STYLE

GENERATOR = "lff report"
"""By this a page is known to be ours, and may be replaced."""
VOID = frozenset({"meta", "link", "br"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, /, *children: str, **attributes: str) -> Markup:
    """Return an element; ``class_`` and ``aria_label`` are the attributes class and aria-label.

    >>> tag("p", "a < b", tag("b", "c"), title='"')
    '<p title="&quot;">a &lt; b<b>c</b></p>'
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(value)}"'
        for key, value in attributes.items()
    )
    if name in VOID:
        return Markup(f"<{name}{given}>")
    return Markup(f"<{name}{given}>{join(children)}</{name}>")


def join(children: Iterable[str]) -> Markup:
    """Return children one after the other, escaped where they are no markup."""
    return Markup("".join(c if isinstance(c, Markup) else html.escape(c) for c in children))


def page(title: str, body: Iterable[str], *, home: str | None = None) -> str:
    """Return a whole page: it needs no script and no network, and its policy allows neither.

    ``home``: address of the index to lead back to, if there is one.
    """
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=GENERATOR),
        tag("link", rel="icon", href="data:,"),
        tag("title", title),
        tag("style", Markup(STYLE)),
    )
    top = [tag("nav", tag("a", "← all experiments", href=home))] if home else []
    main = tag("main", *top, *body)
    return f'<!DOCTYPE html>\n<html lang="en">\n{head}\n{tag("body", main)}\n</html>\n'


def section(title: str, *children: str, note: str = "") -> Markup:
    """Return a part of the page under its heading, with a line that explains it."""
    told = [tag("p", note, class_="note")] if note else []
    return tag("section", tag("h2", title), *told, *children)


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    marked: Iterable[int] = (),
    words: int = 1,
) -> Markup:
    """Return a table that scrolls in its box; columns after the first ``words`` hold numbers.

    A row of one cell is a heading of the rows after it.  ``marked``: rows to highlight.
    """
    special = {*marked}
    body = [
        _line(cells, len(head), words, **({"class_": "marked"} if i in special else {}))
        for i, cells in enumerate(rows)
    ]
    top = tag("tr", *(tag("th", c, **_kind(i, words)) for i, c in enumerate(head)))
    inner = tag("table", tag("thead", top), tag("tbody", *body))
    return tag("div", inner, class_="scroll", tabindex="0")


def _line(cells: Sequence[str], width: int, words: int, **attributes: str) -> Markup:
    if len(cells) == 1 < width:
        heading = tag("th", *cells, colspan=str(width), scope="rowgroup")
        return tag("tr", heading, class_="group")
    found = [tag("td", cell, **_kind(i, words)) for i, cell in enumerate(cells)]
    found[0] = tag("th", cells[0], scope="row")
    return tag("tr", *found, **attributes)


def _kind(column: int, words: int) -> dict[str, str]:
    return {"class_": "number"} if column >= words else {}


def gallery(figures: Sequence[str]) -> Markup:
    """Return pictures side by side, as many as the screen has room for."""
    shape = {1: "grid one", 2: "grid two", 4: "grid two"}.get(len(figures), "grid")
    return tag("div", *figures, class_=shape)


def command(text: str) -> Markup:
    """Return a command line to copy."""
    return tag("pre", tag("code", text), class_="scroll", tabindex="0")


def is_ours(path: Path) -> bool:
    """Tell whether a file is a page that this room wrote."""
    try:
        with path.open("rb") as file:
            start = file.read(2000)
    except OSError:
        return False
    return f'name="generator" content="{GENERATOR}"'.encode() in start
