"""Open tables of classes by tag: ours are listed, a user's are written ``package.module:Class``.

A registry stands in the annotation of a config field, ``Annotated[Front, FRONTS]``, and says which
classes the field may hold.  Modules are imported when a tag is looked up, not before.
"""

import importlib
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from lff.core.checks import nearest
from lff.core.errors import BadInputError


def tag_of(cls: type) -> str:
    """Return the name of a class on disk: its own ``tag``, or ``package.module:Class``."""
    tag = cls.__dict__.get("tag")
    if isinstance(tag, str):
        return tag
    if cls.__module__.partition(".")[0] == "lff":
        return cls.__name__
    return f"{cls.__module__}:{cls.__qualname__}"


class Registry:
    """Classes by tag, imported on demand."""

    def __init__(self, what: str, homes: Mapping[str, str]) -> None:
        """Map tags to ``"module:Class"``; ``what`` names the entries in error messages."""
        self.what = what
        self._homes = dict(homes)

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __contains__(self, tag: object) -> bool:
        return tag in self._homes

    def __getitem__(self, tag: str) -> Any:
        """Return one of our classes."""
        if tag not in self._homes:
            known = [*self._homes]
            raise BadInputError(self.what, tag, f"one of {', '.join(known)}", nearest(tag, known))
        module, _, name = self._homes[tag].partition(":")
        return getattr(importlib.import_module(module), name)

    def find(self, tag: Any, *, trust: Collection[str] = ()) -> Any:
        """Return the class of a tag; a user's only if its package is among ``trust``.

        ``trust`` comes from the command line alone: a stored file must not be able to import code.
        """
        if isinstance(tag, str) and ":" in tag:
            return import_class(self.what, tag, trust=trust)
        return self[tag]


def import_class(what: str, path: str, *, trust: Collection[str]) -> Any:
    """Return the class at ``package.module:Class`` if the package, or the module, is trusted."""
    module, _, name = path.partition(":")
    package = module.partition(".")[0]
    if package not in trust and module not in trust:
        remedy = f"if you trust that package, add --trust {package}"
        raise BadInputError(what, path, "one of ours, or from a package you trust", remedy)
    try:
        found: Any = importlib.import_module(module)
    except ImportError as error:
        remedy = f"install it or put it on PYTHONPATH: {error}"
        raise BadInputError(what, path, "importable", remedy) from None
    for part in name.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, type):
        raise BadInputError(what, path, f"a class of {module}", "check its name")
    return found
