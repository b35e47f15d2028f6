"""Networks of somebody else's making: a function ``(in_features, out_features) -> nn.Module``.

A config names such a function as it names a class of the user's own, ``package.module:function``,
and under the same rule: a stored config may import it only if the command line names its package.

Networks here are trained as pure functions of their parameters (``torch.func``) and stacked, so
that a module is changed where that is needed, and only there:

- a parameter that does not require a gradient becomes a buffer: it is not trained;
- ``BatchNorm1d`` normalises by the batch, in training and in evaluation; a single row is taken as
  it is.  Running statistics would be written inside a gradient, which ``torch.func`` forbids.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lff.core.errors import BadTypeError
from lff.nn.parts import Rng, Trunk

Maker = Callable[[int, int], nn.Module]
"""Called with the numbers of inputs and outputs."""


@dataclass(frozen=True)
class CalledTrunk(Trunk):
    """The whole network as a function of the user's makes it; a subclass for each function.

    The function draws its weights from torch's global generator, which is seeded for the call and
    restored after it.
    """

    make: ClassVar[Maker]
    fingerprint: str = ""
    """Changes if the network does (:func:`lff.experiments.stress.networks.fingerprint`): results
    of a function that was edited since are not taken for those of the new one."""

    @property
    def takes_front(self) -> bool:
        return True

    def build(self, in_features: int, out_features: int, *, generator: Rng = None) -> nn.Module:
        """Call the function; the same generator state gives the same weights."""
        seed = int(torch.randint(2**62, (), generator=generator, device="cpu"))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            module = type(self).make(in_features, out_features)
        if not isinstance(module, nn.Module):
            remedy = "return the network, not its parameters or its output"
            raise BadTypeError("the made network", module, "a torch.nn.Module", remedy)
        freeze(module)
        return without_running_statistics(module)


@functools.cache
def called_trunk(home: str, make: Maker) -> type[CalledTrunk]:
    """Return the class of trunks that a function makes; ``home`` is its name on disk."""
    name = home.rpartition(":")[2].rpartition(".")[2]
    return type(name, (CalledTrunk,), {"tag": home, "make": staticmethod(make)})


def as_trunk(home: str, found: Any) -> type[Trunk] | None:
    """Return a class of trunks for what a user's name stands for; None if it cannot be one."""
    if isinstance(found, type) and issubclass(found, Trunk):
        return found
    return called_trunk(home, found) if callable(found) else None


def freeze(module: nn.Module) -> None:
    """Turn parameters that do not require a gradient into buffers, in place."""
    for owner in module.modules():
        for name, parameter in [*owner.named_parameters(recurse=False)]:
            if not parameter.requires_grad:
                delattr(owner, name)
                owner.register_buffer(name, parameter.detach())


def without_running_statistics(module: nn.Module) -> nn.Module:
    """Replace every ``BatchNorm1d`` by one that normalises by the batch alone."""
    if isinstance(module, nn.BatchNorm1d):
        return BatchStatisticsNorm(module)
    for name, child in [*module.named_children()]:
        module.add_module(name, without_running_statistics(child))
    return module


class BatchStatisticsNorm(nn.Module):
    """Batch normalisation without running statistics; a single row passes as it is."""

    def __init__(self, norm: nn.BatchNorm1d) -> None:
        super().__init__()
        self.weight, self.bias, self.eps = norm.weight, norm.bias, norm.eps

    def forward(self, x: Float[Tensor, "*batch width"]) -> Float[Tensor, "*batch width"]:
        if x.ndim > 1 and x.shape[-2] > 1:
            var, mean = torch.var_mean(x, dim=-2, correction=0, keepdim=True)
            x = (x - mean) * (var + self.eps).rsqrt()
        return x if self.weight is None else x * self.weight + self.bias
