"""Acting by native code for an agent that learns elsewhere: PPO's policy, one row or several."""

import ctypes

import numpy as np
from jaxtyping import Float32
from torch import nn

from lff.native.binding import checked, parameter_names
from lff.native.build import Target, find_compiler, load
from lff.native.shape import UnsupportedError, describe_policy


def supports_policy(network: nn.Module, outputs: int) -> str | None:
    """Return what keeps this network from acting natively, in a few words; None if nothing does."""
    if find_compiler() is None:
        return "there is no C++ compiler"
    try:
        describe_policy(network, outputs)
    except UnsupportedError as error:
        return str(error)
    return None


class NativePolicy:
    """The outputs of one network, computed from its own tensors, which are bound by address."""

    def __init__(self, network: nn.Module, outputs: int, *, target: Target = "native") -> None:
        """Build the library, or take it from the cache, and bind the parameters."""
        shape, header = describe_policy(network, outputs)
        self._library, self.origin = load(header, target, "policy.cpp")
        named = {**dict(network.named_parameters()), **dict(network.named_buffers())}
        self._tensors = [checked(named[name]) for name in parameter_names(shape)]
        self._sizes = shape.inputs, outputs
        library = self._library
        library.lff_policy_new.restype = ctypes.c_void_p
        library.lff_policy_free.argtypes = [ctypes.c_void_p]
        library.lff_policy_act.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int]
        addresses = [tensor.data_ptr() for tensor in self._tensors]
        handle = library.lff_policy_new((ctypes.c_void_p * len(addresses))(*addresses))
        self._handle = ctypes.c_void_p(handle)

    def __del__(self) -> None:
        """Free the table of addresses."""
        handle = getattr(self, "_handle", None)
        if handle is not None:
            self._library.lff_policy_free(handle)

    def __call__(self, x: Float32[np.ndarray, "batch obs"]) -> Float32[np.ndarray, "batch out"]:
        """Return the outputs of some rows; a row's do not depend on the others."""
        inputs, outputs = self._sizes
        rows = np.ascontiguousarray(x, dtype=np.float32).reshape(-1, inputs)
        out = np.empty((len(rows), outputs), np.float32)
        self._library.lff_policy_act(self._handle, rows.ctypes.data, out.ctypes.data, len(rows))
        return out
