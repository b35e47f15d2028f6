"""Plain data in tables: nested names made flat, values written on one line."""

from collections.abc import Mapping
from typing import Any


def show(value: Any) -> str:
    """Write a value.

    >>> show([8, 8]), show(True), show(None), show(1000000), show(0.0003)
    ('8, 8', 'yes', '–', '1,000,000', '0.0003')
    """
    match value:
        case None:
            return "–"
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:g}"
        case list() | tuple():
            return ", ".join(map(show, value)) or "none"
        case _ if isinstance(value, Mapping):
            return ", ".join(f"{key} {show(inner)}" for key, inner in value.items()) or "none"
    return str(value)
