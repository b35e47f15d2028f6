"""Named arrays as safetensors bytes: exact bits, and nothing that could execute."""

from collections.abc import Mapping

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load as _load
from safetensors.torch import save as _save
from torch import Tensor

from lff.core.errors import BadTypeError, CorruptError

LARGEST_HEADER = 100_000_000
"""Bytes, as in the format's own reader."""
DTYPES = (
    *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.uint16, torch.uint32, torch.uint64),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64),
)


def encode(arrays: Mapping[str, Tensor | np.ndarray]) -> bytes:
    """Return the file's bytes.  Tensors that share memory are each written in full."""
    seen: set[int] = set()
    tensors = {}
    for name, array in arrays.items():
        if not isinstance(name, str):
            raise BadTypeError("a tensor's name", name, "a string", "use str(name)")
        tensor = _tensor(name, array)
        storage = tensor.untyped_storage().data_ptr()
        tensors[name] = tensor.clone() if storage in seen else tensor
        seen.add(storage)
    return bytes(_save(tensors))


def decode(data: bytes, path: object) -> dict[str, Tensor]:
    """Return the arrays of a file's bytes, or raise an error that names the file."""
    header = int.from_bytes(data[:8], "little")
    if len(data) < 8 or header > min(LARGEST_HEADER, len(data) - 8):
        raise CorruptError(f"{path} is no safetensors file; restore or remove it")
    try:
        return _load(data)
    except (SafetensorError, AssertionError, LookupError, ValueError, TypeError, RuntimeError) as e:
        why = " ".join(str(e).split())[:80]
        raise CorruptError(f"{path} is no safetensors file ({why}); restore or remove it") from None


def _tensor(name: str, array: Tensor | np.ndarray) -> Tensor:
    if isinstance(array, np.ndarray | np.generic):
        try:
            array = torch.from_numpy(np.array(array, order="C"))
        except TypeError:
            kinds = "an array of numbers or bools"
            raise BadTypeError(name, array, kinds, "convert it, say with astype") from None
    if not isinstance(array, Tensor):
        raise BadTypeError(name, array, "a tensor or a numpy array", "put plain values in meta")
    if array.dtype not in DTYPES or array.layout != torch.strided:
        kind = f"{array.dtype} ({array.layout})"
        raise BadTypeError(name, kind, "dense, of a storable dtype", "convert it, say with .to()")
    return array.detach().resolve_conj().resolve_neg().cpu().contiguous()
