"""Tensors of the agents as arrays of the store, and back, bit for bit."""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from lff.core.errors import BadTypeError


def to_arrays(values: Mapping[str, Tensor | np.ndarray]) -> dict[str, np.ndarray]:
    """Return tensors as arrays, from any device; arrays stay as they are."""
    return {name: _array(name, value) for name, value in values.items()}


def part(arrays: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """Return the arrays whose names begin with ``prefix``, without it."""
    return {n.removeprefix(prefix): a for n, a in arrays.items() if n.startswith(prefix)}


def to_tensors(arrays: Mapping[str, np.ndarray], prefix: str = "") -> dict[str, Tensor]:
    """Return the arrays whose names begin with ``prefix`` as tensors, without it."""
    return {name: torch.from_numpy(array) for name, array in part(arrays, prefix).items()}


def _array(name: str, value: Tensor | np.ndarray) -> np.ndarray:
    if not isinstance(value, Tensor):
        return value
    try:
        array: np.ndarray = value.numpy(force=True)
    except TypeError:
        kind = f"{value.dtype} ({value.layout})"
        constraint = "dense, of a dtype that numpy has"
        raise BadTypeError(name, kind, constraint, "convert it, say with .to()") from None
    return array
