"""Plug-ins: the layer in other libraries.  Each imports its host, ``lff.nn`` and the audit."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Literal, TypeVar

from lff.core.config import from_dict, tag_of
from lff.core.errors import BadTypeError
from lff.nn import Fourier, Fourier2d

Networks = Literal["both", "critic", "actor"]
FourierConfig = TypeVar("FourierConfig", Fourier, Fourier2d)


def missing_host(plugin: str, host: str) -> ModuleNotFoundError:
    """Return the error that names the extra when a host is not installed."""
    return ModuleNotFoundError(
        f"lff.plugins.{plugin} needs {host}; pip install 'learned-fourier-features[{plugin}]'",
        name=host,
    )


def fourier_config(kind: type[FourierConfig], given: Any) -> FourierConfig:
    """Return a front's config from itself or from a plain dict, as a saved model has it."""
    if isinstance(given, kind):
        return given
    if not isinstance(given, Mapping):
        remedy = "pass fourier=dict(fourier_dim=256, sigma=0.01); SB3 takes it in policy_kwargs"
        raise BadTypeError("fourier", given, f"a dict or lff.nn.{kind.__name__}", remedy)
    return from_dict(kind, {"type": tag_of(kind), **given})


def common_fields(source: Any, kind: Any) -> dict[str, Any]:
    """Return the values of those fields of ``source`` that a dataclass ``kind`` has, too."""
    names = [field.name for field in fields(kind) if field.name not in ("name", "parent")]
    return {name: getattr(source, name) for name in names if hasattr(source, name)}
