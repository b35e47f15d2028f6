"""Plug-ins: the layer in other libraries.  Each imports its host, ``lff.nn`` and the audit."""

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, Literal, TypeVar

import numpy as np

from lff.core.config import from_dict, tag_of
from lff.core.errors import BadInputError, BadTypeError
from lff.nn import Fourier, Fourier2d

Networks = Literal["both", "critic", "actor"]
FourierConfig = TypeVar("FourierConfig", Fourier, Fourier2d)


DEFAULTS: dict[type, dict[str, Any]] = {
    Fourier: {"fourier_dim": 256, "sigma": 0.01},
    Fourier2d: {"fourier_dim": 64, "sigma": 0.1},
}
"""The front of a policy without ``policy_kwargs``, on vectors and on the pixels of images."""
AUDITED = 256  # transitions of a buffer that an audit looks at


def missing_host(plugin: str, host: str) -> ModuleNotFoundError:
    """Return the error that names the extra when a host is not installed."""
    return ModuleNotFoundError(
        f"lff.plugins.{plugin} needs {host}; pip install 'learned-fourier-features[{plugin}]'",
        name=host,
    )


def fourier_config(kind: type[FourierConfig], given: Any) -> FourierConfig:
    """Return a front's config from itself or a plain dict; what is missing is the default's."""
    if isinstance(given, kind):
        return given
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        remedy = "pass fourier=dict(fourier_dim=256, sigma=0.01); SB3 takes it in policy_kwargs"
        raise BadTypeError("fourier", given, f"a dict or lff.nn.{kind.__name__}", remedy)
    return from_dict(kind, {"type": tag_of(kind), **DEFAULTS[kind], **given})


def common_fields(source: Any, kind: Any) -> dict[str, Any]:
    """Return the values of those fields of ``source`` that a dataclass ``kind`` has, too."""
    names = [field.name for field in fields(kind) if field.name not in ("name", "parent")]
    return {name: getattr(source, name) for name in names if hasattr(source, name)}


def check_algorithm(policy: Any, offered: Iterable[type]) -> None:
    """Refuse the algorithm that makes a policy if it is written for others.

    Stable-Baselines3 and SBX do not tell a policy which algorithm makes it; it is the caller that
    has it as its ``policy_class``.  Policies that the algorithm takes derive from its MlpPolicy.
    """
    frame = inspect.currentframe()
    while frame is not None:
        owner = frame.f_locals.get("self")
        if getattr(owner, "__dict__", {}).get("policy_class") is type(policy):
            kind: Any = type(owner)
            wanted = kind.policy_aliases.get("MlpPolicy")
            if wanted is None or isinstance(policy, wanted):
                return
            names = " or ".join(one.__name__ for one in offered if issubclass(one, wanted))
            own, host = type(policy), kind.__module__.partition(".")[0]
            remedy = f"use {names}" if names else "pass one of that library and algorithm"
            given = f"{own.__module__}.{own.__name__}"
            raise BadInputError("policy", given, f"one for {host}.{kind.__name__}", remedy)
        frame = frame.f_back


def buffered(model: Any) -> tuple[Any, Any] | None:
    """Return observations and actions in the buffer of a model of SB3 or SBX, evenly spaced.

    They are as its networks are given them: normalized, if the model's environment normalizes.
    """
    for name in ("replay_buffer", "rollout_buffer"):
        buffer = getattr(model, name, None)
        size = 0 if buffer is None else buffer.size()
        if buffer is None or not size:
            continue
        env = model.get_vec_normalize_env() if name == "replay_buffer" else None

        def take(values: Any, shape: tuple[int, ...], size: int = size) -> Any:
            rows = values[:size].reshape(-1, *shape)
            return rows[np.linspace(0, len(rows) - 1, min(len(rows), AUDITED)).astype(int)]

        obs, shape = buffer.observations, buffer.obs_shape
        several = isinstance(obs, Mapping)
        rows = {k: take(v, shape[k]) for k, v in obs.items()} if several else take(obs, shape)
        return buffer._normalize_obs(rows, env), take(buffer.actions, (buffer.action_dim,))
    return None
