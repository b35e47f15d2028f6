"""Validation of configs by the annotations of their fields, and the same checks for arguments.

A config derives from :class:`Config` and states a field's constraint where its type stands:

    class Decay(Config):                                     # a frozen dataclass
        coefficient: Annotated[float, NonNegative("use 1e-4")] = 1e-4
        hidden: Sizes = (256, 256)
        kind: Literal["l1", "l2"] = "l2"

:func:`validate` converts and checks every field by its type (int, float, bool, str, Literal,
tuple, union, config), then calls the markers in its annotation, ``marker(name, value)``.  A config
with a check across fields writes ``__post_init__`` and calls ``validate(self)`` first.
"""

import dataclasses
import difflib
import functools
import math
import operator
import types
import typing
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from lff.core.errors import BadInputError, BadTypeError


@dataclass(frozen=True)
class Positive:
    """Marker: greater than zero."""

    remedy: str = ""

    def __call__(self, name: str, value: float) -> float:
        if value > 0:
            return value
        if isinstance(value, int):
            raise BadInputError(name, value, "a positive integer", self.remedy or "use 1 or more")
        raise BadInputError(name, value, "a finite number > 0", self.remedy or "use 1 to start")


@dataclass(frozen=True)
class NonNegative:
    """Marker: zero or more."""

    remedy: str = ""

    def __call__(self, name: str, value: float) -> float:
        if value >= 0:
            return value
        if isinstance(value, int):
            raise BadInputError(name, value, "0 or more", self.remedy or "use 0 to start")
        raise BadInputError(name, value, "a finite number >= 0", self.remedy or "use 0.01 to start")


@dataclass(frozen=True)
class Even:
    """Marker: an even integer >= 2."""

    why: str = "half sin, half cos"

    def __call__(self, name: str, value: int) -> int:
        if value >= 2 and value % 2 == 0:
            return value
        remedy = f"use {value - 1} or {value + 1}" if value > 2 else "use 2 or more"
        raise BadInputError(name, value, f"a positive even integer ({self.why})", remedy)


@dataclass(frozen=True)
class Interval:
    """Marker: between two numbers, written ``Interval("[0, 1)")``."""

    text: str
    remedy: str = ""

    def __call__(self, name: str, value: float) -> float:
        low, high = (float(end) for end in self.text[1:-1].split(","))
        above = value >= low if self.text[0] == "[" else value > low
        below = value <= high if self.text[-1] == "]" else value < high
        if above and below:
            return value
        raise BadInputError(
            name, value, f"in {self.text}", self.remedy or f"use {(low + high) / 2:g}"
        )


@dataclass(frozen=True)
class NonEmpty:
    """Marker: at least one item."""

    remedy: str = "use for example (256, 256)"

    def __call__(self, name: str, value: Sequence[Any]) -> Sequence[Any]:
        if not value:
            raise BadInputError(name, value, "at least one item", self.remedy)
        return value


Size = Annotated[int, Positive()]
Sizes = Annotated[tuple[Size, ...], NonEmpty()]
Count = Annotated[int, NonNegative()]
EvenSize = Annotated[int, Even()]
Scale = Annotated[float, NonNegative()]


class Config:
    """Base of frozen dataclasses that are checked when they are made."""

    def __post_init__(self) -> None:
        validate(self)


def validate(config: Any) -> None:
    """Check the fields of a frozen dataclass by their annotations, and keep the converted values.

    numpy's integers become Python's and -0.0 becomes 0.0, so that equal configs are written alike.
    """
    kind: Any = type(config)
    hints = field_hints(kind)
    for field in dataclasses.fields(config):
        value = checked(hints[field.name], field.name, getattr(config, field.name))
        object.__setattr__(config, field.name, value)


def checked(hint: Any, name: str, value: Any) -> Any:
    """Return ``value`` as the type ``hint`` wants it, or raise."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        if is_config(args[0]) and not isinstance(value, args[0]):
            known = [tag for marker in hint.__metadata__ for tag in marker]
            raise BadTypeError(name, value, f"one of {', '.join(known)}", "pass an instance of one")
        value = checked(args[0], name, value)
        for marker in hint.__metadata__:
            value = marker(name, value) if callable(marker) and value is not None else value
        return value
    if origin is Literal:
        check_choice(name, value, args)
        return value
    if origin is tuple:
        return _checked_tuple(args, name, value)
    if origin in (typing.Union, types.UnionType):
        return _checked_union(args, name, value)
    if hint in CONVERT:
        return CONVERT[hint](name, value)
    if hint in EXACT and not isinstance(value, hint):
        raise BadTypeError(name, value, EXACT[hint], f"pass a {hint.__name__}")
    if is_config(hint) and not isinstance(value, hint):
        raise BadTypeError(name, value, f"of type {hint.__name__}", "pass an instance")
    return value


def is_config(hint: Any) -> bool:
    """Return whether a type is a class of configs."""
    return isinstance(hint, type) and (issubclass(hint, Config) or dataclasses.is_dataclass(hint))


def _checked_tuple(args: tuple[Any, ...], name: str, value: Any) -> tuple[Any, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise BadTypeError(name, value, "a sequence", "use for example (256, 256)")
    items = tuple(value)
    kinds = (args[0],) * len(items) if args[1:] == (Ellipsis,) else args
    if len(kinds) != len(items):
        raise BadInputError(name, value, f"{len(kinds)} items", "add or drop some")
    pairs = enumerate(zip(kinds, items, strict=True))
    return tuple(checked(kind, f"{name}[{i}]", item) for i, (kind, item) in pairs)


def _checked_union(members: tuple[Any, ...], name: str, value: Any) -> Any:
    if value is None and type(None) in members:
        return None
    members = tuple(member for member in members if member is not type(None))
    configs = tuple(member for member in members if is_config(member))
    if isinstance(value, configs):
        return value
    if len(members) == 1:
        return checked(members[0], name, value)
    for member in members:
        if member not in configs:
            try:
                return checked(member, name, value)
            except BadInputError:
                continue
    names = ", ".join(getattr(member, "__name__", str(member)) for member in members)
    raise BadTypeError(name, value, f"one of {names}", "pass an instance of one")


@functools.cache
def field_hints(cls: Any) -> dict[str, Any]:
    """Return the annotations of a class, markers included."""
    return typing.get_type_hints(cls, include_extras=True)


def check_size(name: str, value: object) -> int:
    """Return ``value`` as an int >= 1, or raise."""
    return int(Positive()(name, check_integer(name, value)))


def check_scale(name: str, value: object, *, remedy: str = "use 0.01 to start") -> float:
    """Return ``value`` as a finite float >= 0, or raise."""
    return NonNegative(remedy)(name, check_number(name, value))


def check_positive(name: str, value: object, *, remedy: str = "use 1 to start") -> float:
    """Return ``value`` as a finite float > 0, or raise."""
    return Positive(remedy)(name, check_number(name, value))


def check_choice(name: str, value: object, choices: Sequence[object]) -> None:
    """Raise unless ``value`` is one of ``choices``; the remedy names the nearest."""
    if value not in choices:
        names = [str(choice) for choice in choices]
        raise BadInputError(name, value, f"one of {', '.join(names)}", nearest(value, names))


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


def check_integer(name: str, value: object) -> int:
    """Return ``value`` as an int, or raise."""
    if isinstance(value, bool):
        raise BadTypeError(name, value, "an integer", "pass an int")
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise BadTypeError(name, value, "an integer", "pass an int") from None


CONVERT: dict[Any, Any] = {int: check_integer, float: check_number}
EXACT: dict[Any, str] = {bool: "True or False", str: "a string"}
"""Plain types of fields: converted by a function, or taken only as they are."""


def nearest(value: object, choices: Sequence[str]) -> str:
    """Return the remedy that names the choice most like ``value``."""
    close = difflib.get_close_matches(str(value), choices, n=1)
    return f"did you mean {close[0]}?" if close else f"use {choices[0]}, say"
