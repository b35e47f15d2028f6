"""Frozen dataclasses as data: to_dict, from_dict and a digest that is stable across machines.

A config is written as a JSON object whose ``"type"`` is the tag of its class, so that a field which
is a union of configs, or takes any class of a :class:`~lff.core.config.Registry`, can be read
back without guessing, and renaming a class changes nothing on disk:

    >>> from lff.nn import Fourier, MLPTrunk, NetConfig
    >>> config = NetConfig(front=Fourier(fourier_dim=64, sigma=0.01), trunk=MLPTrunk(hidden=(32,)))
    >>> to_dict(config)["front"]["type"]
    'fourier'
    >>> from_dict(NetConfig, to_dict(config)) == config
    True
"""

import dataclasses
import hashlib
import importlib
import json
import types
import typing
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any, TypeVar, overload

from lff.core.checks import check_number, checked, field_hints, is_config, nearest
from lff.core.errors import BadInputError, BadTypeError
from lff.core.imports import check_module

TAGS: dict[str, str] = {}
"""Tags of the classes in registries, by ``module:Class``."""


def tag_of(cls: type) -> str:
    """Return the name of a class on disk: its tag, or ``package.module:Class``.

    A tag is that of a registry, or the class's own if it is in none.
    """
    home = f"{cls.__module__}:{cls.__qualname__}"
    tag = TAGS.get(home, cls.__dict__.get("tag"))
    if isinstance(tag, str):
        return tag
    return cls.__name__ if home.startswith("lff.") else home


class Registry:
    """Classes by tag, imported on demand."""

    def __init__(self, what: str, homes: Mapping[str, str], *, adapt: str = "") -> None:
        """Map tags to ``"module:Class"``; ``what`` names the entries in error messages.

        ``adapt``, ``"module:function"``, is called with the name and the object of a user's entry
        and returns its class, or None: a registry may take functions too.
        """
        self.what, self._adapt = what, adapt
        self._homes = dict(homes)
        TAGS.update({home: tag for tag, home in homes.items()})

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __contains__(self, tag: object) -> bool:
        return tag in self._homes

    def __getitem__(self, tag: str) -> Any:
        if tag not in self._homes:
            known = [*self._homes]
            raise BadInputError(self.what, tag, f"one of {', '.join(known)}", nearest(tag, known))
        module, _, name = self._homes[tag].partition(":")
        return getattr(importlib.import_module(module), name)

    def find(self, tag: Any, *, trust: Collection[str] = ()) -> Any:
        """Return the class of a tag; a user's only if its package, or module, is among ``trust``.

        ``trust`` comes from the command line alone: a stored file must not be able to import code.
        """
        if not (isinstance(tag, str) and ":" in tag):
            return self[tag]
        module, _, name = tag.partition(":")
        package = module.partition(".")[0]
        if package not in trust and module not in trust:
            remedy = f"if you trust that package, add --trust {package}"
            raise BadInputError(self.what, tag, "one of ours, or from a package you trust", remedy)
        check_module(self.what, tag)
        try:
            found: Any = importlib.import_module(module)
        except ImportError as error:
            remedy = f"install it, put it on PYTHONPATH, or add --path and its folder: {error}"
            raise BadInputError(self.what, tag, "importable", remedy) from None
        for part in name.split("."):
            found = getattr(found, part, None)
        if self._adapt:
            home, _, adapt = self._adapt.partition(":")
            found = getattr(importlib.import_module(home), adapt)(tag, found)
        if not isinstance(found, type):
            raise BadInputError(self.what, tag, f"a class of {module}", "check its name")
        return found


T = TypeVar("T")
TYPE_KEY = "type"
LATER = {"later": True}
"""Metadata of a field that came later: left out while it has its default, so old digests hold."""


def to_dict(config: Any) -> dict[str, Any]:
    """Return a frozen dataclass as plain JSON data, with the tag of its class."""
    if not dataclasses.is_dataclass(config) or isinstance(config, type):
        raise BadTypeError("config", config, "a dataclass instance", "pass a config object")
    kind: Any = type(config)
    hints = field_hints(kind)
    fields = {
        f.name: _encode(getattr(config, f.name), hints[f.name])
        for f in dataclasses.fields(config)
        if f.init and not (f.metadata.get("later") and getattr(config, f.name) == f.default)
    }
    return {TYPE_KEY: tag_of(type(config)), **fields}


@overload
def from_dict(kind: type[T], data: Any, *, trust: Collection[str] = ()) -> T: ...
@overload
def from_dict(kind: types.UnionType, data: Any, *, trust: Collection[str] = ()) -> Any: ...
def from_dict(kind: Any, data: Any, *, trust: Collection[str] = ()) -> Any:
    """Rebuild a config of class (or union of classes) ``kind`` from :func:`to_dict`'s data.

    ``trust`` names the packages whose classes may be imported; it comes from the command line.
    """
    return _decode(data, kind, "config", trust)


def to_json(config: Any) -> str:
    """Return the canonical JSON text of a config: sorted keys, no spaces, finite numbers only."""
    return _canonical(to_dict(config))


def _canonical(data: Any) -> str:
    return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)


def from_json(kind: type[T], text: str) -> T:
    """Rebuild a config from :func:`to_json`'s text."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInputError("config", text, "JSON", f"fix it: {error}") from None
    return from_dict(kind, data)


def digest(config: Any) -> str:
    """Return 16 hex digits that name this config: equal configs, equal digests, on any machine."""
    return digest_of(to_dict(config))


def digest_of(data: Any) -> str:
    """Return the digest of a config from :func:`to_dict`'s data."""
    return hashlib.sha256(_canonical(data).encode()).hexdigest()[:16]


def parse_part(text: str) -> tuple[str, dict[str, Any]]:
    """Return the name and its values; a value is JSON, or else a string.

    >>> parse_part("dropout:p=0.1,where=critic")
    ('dropout', {'p': 0.1, 'where': 'critic'})
    >>> parse_part("my_package.fronts:Wavelet:width=8")
    ('my_package.fronts:Wavelet', {'width': 8})
    """
    head, colon, tail = text.rpartition(":")
    if not colon or "=" not in tail:
        return text, {}
    return head, parse_values(tail.split(","))


def parse_values(pairs: Sequence[str]) -> dict[str, Any]:
    """Return the values of ``KEY=VALUE`` words; a value is JSON, or else a string.

    >>> parse_values(["size=84", "augmentation=crop"])
    {'size': 84, 'augmentation': 'crop'}
    """
    values: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not (equals and key.isidentifier()):
            raise BadInputError("option", pair, "KEY=VALUE", "write for example size=84")
        try:
            values[key] = json.loads(value)
        except json.JSONDecodeError:
            values[key] = value
    return values


def within(mapping: Mapping[str, T], prefix: str) -> dict[str, T]:
    """Return the entries whose names begin with ``prefix``, without it.

    >>> within({"env/time": 1, "obs": 2}, "env/")
    {'time': 1}
    """
    return {n.removeprefix(prefix): x for n, x in mapping.items() if n.startswith(prefix)}


def _encode(value: Any, hint: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return to_dict(value)
    if isinstance(value, tuple | list):
        inner = _item_hint(hint)
        return [_encode(item, inner) for item in value]
    if value is None or isinstance(value, bool | str):
        return value
    members = _members(hint)
    if isinstance(value, int) and (int in members or float not in members):
        return value
    # sigma=1 and sigma=1.0 are the same config and must have the same digest
    return check_number("a config value", value)


def _item_hint(hint: Any) -> Any:
    tuples = [member for member in _members(hint) if typing.get_origin(member) is tuple]
    return typing.get_args(tuples[0])[0] if tuples else Any


def _members(hint: Any) -> list[Any]:
    """Return the members of a union, or the hint alone, and the registries that annotate them."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        return [*_members(args[0]), *(extra for extra in args[1:] if isinstance(extra, Registry))]
    if origin in (typing.Union, types.UnionType):
        return [inner for member in args for inner in _members(member)]
    return [hint]


def _decode(data: Any, hint: Any, path: str, trust: Collection[str]) -> Any:
    if isinstance(data, dict):
        classes = {tag_of(m): m for m in _members(hint) if is_config(m)}
        registries = [m for m in _members(hint) if isinstance(m, Registry)]
        if classes or registries:
            cls = _find_class(data.get(TYPE_KEY), classes, registries, path, trust)
            return _decode_dataclass(data, cls, path, trust)
    if isinstance(data, list):
        inner = _item_hint(hint)
        data = tuple(_decode(item, inner, f"{path}[{i}]", trust) for i, item in enumerate(data))
    return checked(hint, path, data)


def _find_class(
    tag: Any, classes: dict[str, Any], registries: list[Registry], path: str, trust: Collection[str]
) -> Any:
    if tag in classes:
        return classes[tag]
    for registry in registries:
        if tag in registry or (isinstance(tag, str) and ":" in tag):
            return registry.find(tag, trust=trust)
    known = [*classes, *(name for registry in registries for name in registry)]
    raise BadInputError(
        f"{path}.{TYPE_KEY}", tag, f"one of {', '.join(known)}", nearest(tag, known)
    )


def _decode_dataclass(data: dict[str, Any], cls: Any, path: str, trust: Collection[str]) -> Any:
    name, hints = cls.__name__, field_hints(cls)
    known = {f.name: f for f in dataclasses.fields(cls) if f.init}
    given = {key: value for key, value in data.items() if key != TYPE_KEY}
    for key in given.keys() - known.keys():
        raise BadInputError(path, key, f"made of fields of {name}", nearest(key, [*known]))
    none = dataclasses.MISSING
    needed = [key for key, f in known.items() if f.default is f.default_factory is none]
    missing = [key for key in needed if key not in given]
    if missing:
        raise BadInputError(path, [*data], f"complete for {name}", f"add {', '.join(missing)}")
    return cls(**{k: _decode(v, hints[k], f"{path}.{k}", trust) for k, v in given.items()})
