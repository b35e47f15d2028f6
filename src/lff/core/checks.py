"""Checks on sizes, scales and choices, shared by modules and their configs."""

import difflib
import math
import operator
from collections.abc import Callable, Iterable, Sequence

from lff.core.errors import BadInputError, BadTypeError


def check_size(name: str, value: object) -> int:
    """Return ``value`` as an int >= 1, or raise."""
    size = _index(name, value)
    if size < 1:
        raise BadInputError(name, value, "a positive integer", "use 1 or more")
    return size


def check_count(name: str, value: object) -> int:
    """Return ``value`` as an int >= 0, or raise."""
    count = _index(name, value)
    if count < 0:
        raise BadInputError(name, value, "0 or more", "use 0 to start")
    return count


def check_even_size(name: str, value: object, *, why: str = "half sin, half cos") -> int:
    """Return ``value`` as an even int >= 2, or raise."""
    size = _index(name, value)
    if size < 2:
        raise BadInputError(name, value, f"a positive even integer ({why})", "use 2 or more")
    if size % 2:
        remedy = f"use {size - 1} or {size + 1}" if size > 2 else f"use {size + 1}"
        raise BadInputError(name, value, f"a positive even integer ({why})", remedy)
    return size


def check_scale(name: str, value: object, *, remedy: str = "use 0.01 to start") -> float:
    """Return ``value`` as a finite float >= 0, or raise."""
    scale = check_number(name, value)
    if scale < 0:
        raise BadInputError(name, value, "a finite number >= 0", remedy)
    return scale


def check_positive(name: str, value: object, *, remedy: str = "use 1 to start") -> float:
    """Return ``value`` as a finite float > 0, or raise."""
    number = check_number(name, value)
    if number <= 0:
        raise BadInputError(name, value, "a finite number > 0", remedy)
    return number


def check_number(name: str, value: object) -> float:
    """Return ``value`` as a finite float, or raise."""
    if isinstance(value, bool | str):
        raise BadTypeError(name, value, "a finite number", "pass a float")
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise BadTypeError(name, value, "a finite number", "pass a float") from None
    if not math.isfinite(number):
        raise BadInputError(name, value, "a finite number", "pass a float")
    return number + 0.0  # -0.0 is 0.0


def check_sizes(name: str, values: object) -> tuple[int, ...]:
    """Return a non-empty tuple of ints >= 1, or raise."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise BadTypeError(name, values, "a sequence of layer widths", "use (256, 256), say")
    sizes = tuple(check_size(f"{name}[{i}]", value) for i, value in enumerate(values))
    if not sizes:
        raise BadInputError(
            name, values, "at least one layer width", "use (256, 256), say, or a plain nn.Linear"
        )
    return sizes


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise unless ``value`` is one of ``choices``; the remedy names the nearest."""
    if value not in choices:
        raise BadInputError(name, value, f"one of {', '.join(choices)}", nearest(value, choices))


def check_flag(name: str, value: object) -> bool:
    """Return ``value`` if it is True or False, or raise (``trainable="no"`` is no flag)."""
    if not isinstance(value, bool):
        raise BadTypeError(name, value, "True or False", "pass a bool")
    return value


def settle(config: object, **checks: Callable[[str, object], object]) -> None:
    """Check fields of a frozen config and keep what the checks return.

    So numpy's integers become Python's and -0.0 becomes 0.0: equal configs are written alike.
    """
    for name, check in checks.items():
        object.__setattr__(config, name, check(name, getattr(config, name)))


def nearest(value: object, choices: Sequence[str]) -> str:
    """Return the remedy that names the choice most like ``value``."""
    close = difflib.get_close_matches(str(value), choices, n=1)
    return f"did you mean {close[0]}?" if close else f"use {choices[0]}, say"


def _index(name: str, value: object) -> int:
    if isinstance(value, bool):
        raise BadTypeError(name, value, "an integer", "pass an int")
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise BadTypeError(name, value, "an integer", "pass an int") from None
