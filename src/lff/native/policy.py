"""Acting by native code for an agent that learns elsewhere: PPO's policy, one row or several."""

import ctypes
from typing import Any

import numpy as np
from jaxtyping import Float32
from torch import Tensor

from lff.algos.ppo import PPO
from lff.core.errors import BadInputError
from lff.native.binding import checked, named_tensors, parameter_names
from lff.native.build import Target, load
from lff.native.shape import UnsupportedError, describe_policy


def supports_policy(agent: Any) -> str | None:
    """Return what keeps this agent from acting natively, in a few words; None if nothing does."""
    if type(agent) is not PPO:  # another one may choose its actions in another way
        return f"an agent of type {type(agent).__name__}"
    if agent.actor.dropout is not None:
        return "dropout in the actor"
    try:
        describe_policy(agent.networks["actor"], agent.spaces.action)
    except UnsupportedError as error:
        return str(error)
    return None


class NativePolicy:
    """A Gaussian policy with one spread for all states, computed from the agent's own tensors.

    They are bound by address: values may change, the tensors must stay the same.
    """

    def __init__(self, agent: Any, *, target: Target = "native") -> None:
        """Build the library, or take it from the cache, and bind the parameters."""
        reason = supports_policy(agent)
        if reason is not None:
            remedy = "use --compile graph"
            raise BadInputError("the agent", reason, "covered by native acting", remedy)
        network, outputs = agent.networks["actor"], agent.spaces.action
        shape, header = describe_policy(network, outputs)
        self._library, self.origin = load(header, target, "policy.cpp")
        named = named_tensors(network)
        self._tensors = [checked(named[name]) for name in parameter_names(shape)]
        self._sizes = shape.inputs, outputs
        self._agent, self._log_std = agent, checked(agent.log_std).numpy()
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

    def means(self, x: Float32[np.ndarray, "batch obs"]) -> Float32[np.ndarray, "batch act"]:
        """Return the means of normalized observations; a row's do not depend on the others."""
        inputs, outputs = self._sizes
        rows = np.ascontiguousarray(x, dtype=np.float32).reshape(-1, inputs)
        out = np.empty((len(rows), outputs), np.float32)
        self._library.lff_policy_act(self._handle, rows.ctypes.data, out.ctypes.data, len(rows))
        return out

    def sample(
        self, x: Float32[np.ndarray, "batch obs"], noise: Float32[Tensor, "batch act"]
    ) -> Float32[np.ndarray, "batch act"]:
        """Return actions, not clipped, of normalized observations."""
        action: np.ndarray = self.means(x) + np.exp(self._log_std) * noise.numpy()
        return action

    def act(self, obs: Float32[np.ndarray, " obs"]) -> Float32[np.ndarray, " act"]:
        """Return the mean action of one observation of the environment, in [-1, 1]."""
        action: np.ndarray = self.means(self._agent.normalize(obs[None]))[0].clip(-1.0, 1.0)
        return action
