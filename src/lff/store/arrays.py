"""Named arrays as safetensors bytes: exact bits, and nothing that could execute."""

from collections.abc import Mapping

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as _load
from safetensors.numpy import save as _save

from lff.core.errors import BadTypeError, CorruptError

LARGEST_HEADER = 100_000_000
"""Bytes, as in the format's own reader."""
DTYPES = tuple(
    np.dtype(name)
    for name in (
        *("bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64"),
    )
)


def encode(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return the file's bytes: sorted by alignment and name, so equal arrays give equal bytes."""
    return bytes(_save({name: _storable(name, array) for name, array in arrays.items()}))


def decode(data: bytes, path: object) -> dict[str, np.ndarray]:
    """Return the arrays of a file's bytes, writable; raise an error that names the file."""
    header = int.from_bytes(data[:8], "little")
    if len(data) < 8 or header > min(LARGEST_HEADER, len(data) - 8):
        raise CorruptError(f"{path} is not a safetensors file; restore or remove it")
    try:
        return dict(_load(data))
    except (SafetensorError, AssertionError, LookupError, ValueError, TypeError, RuntimeError) as e:
        why = " ".join(str(e).split())[:80]
        raise CorruptError(
            f"{path} is not a safetensors file ({why}); restore or remove it"
        ) from None


def _storable(name: str, array: np.ndarray) -> np.ndarray:
    if not isinstance(name, str):
        raise BadTypeError("an array's name", name, "a string", "use str(name)")
    if not isinstance(array, np.ndarray | np.generic):
        raise BadTypeError(name, array, "a numpy array", "put plain values in meta")
    if array.dtype.newbyteorder("=") not in DTYPES:
        kinds = "an array of numbers or bools, of a storable dtype"
        raise BadTypeError(name, array.dtype, kinds, "convert it, say with astype")
    return np.asarray(array, order="C")  # keeps an array without axes as it is
