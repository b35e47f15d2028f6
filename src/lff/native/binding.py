"""The table of addresses and numbers that the native update is given once, when it is made."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from lff.core.errors import BadInputError
from lff.native.parts import Parts
from lff.native.shape import NetShape, Shape

NUMBERS = (
    "gamma",
    "tau",
    "period",
    "log_std_min",
    "target_entropy",
    "target_noise",
    "alpha_lr",
    "alpha_beta1",
)
"""In the order of ``Numbers`` in ``sac.cpp``."""


class Table:
    """Addresses and numbers in the order in which ``lff_new`` reads them.

    The tensors are held, so that their memory stays.
    """

    def __init__(self, parts: Parts, shape: Shape) -> None:
        """Collect them; every tensor must be float32 (counters int64), contiguous, on the CPU."""
        self.tensors: list[Tensor | None] = []
        self.numbers: list[float] = []
        for role, net in (("actor", shape.actor), ("critic", shape.critic)):
            self._add_network(parts, role, net)
        for adam in (parts.actor_adam, parts.critic_adam, parts.alpha_adam):
            (factors,) = adam.factors.values()
            self._add(factors)
            self._add(adam.count, torch.int64)
        (first,), (second,) = parts.alpha_adam.first.values(), parts.alpha_adam.second.values()
        norm = parts.norm
        for tensor in (parts.log_alpha, first, second, parts.share):
            self._add(tensor)
        for tensor in (None, None) if norm is None else (norm["shift"], norm["scale"]):
            self._add(tensor)
        self.numbers += _settings(parts)

    @property
    def addresses(self) -> list[int]:
        """Where the tensors are; 0 for one that is not there."""
        return [0 if tensor is None else tensor.data_ptr() for tensor in self.tensors]

    def _add(self, tensor: Tensor | None, dtype: torch.dtype = torch.float32) -> None:
        self.tensors.append(None if tensor is None else checked(tensor, dtype))

    def _add_network(self, parts: Parts, role: str, net: NetShape) -> None:
        tensors, adam = parts.tensors(role), parts.adam(role)
        target = parts.target if role == "critic" else {}
        for name in parameter_names(net):
            rule = adam.rules.get(name)
            self._add(tensors[name])
            for place in (adam.first, adam.second, adam.start, target):
                self._add(place.get(name))
            if rule is None:  # a basis that is not trained
                self.numbers += [0.0] * 5
            else:
                self.numbers += [rule.lr, rule.l2, rule.l1, rule.anchor, float(rule.decoupled)]


def checked(tensor: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return a tensor whose memory native code can use."""
    if tensor.dtype != dtype or not tensor.is_contiguous() or tensor.device.type != "cpu":
        remedy = "use --compile graph"
        raise BadInputError("a tensor", tensor.dtype, f"{dtype} without gaps", remedy)
    return tensor


def parameter_names(net: NetShape) -> Iterator[str]:
    """Yield the names of a network's tensors in the order of ``Params::each``."""
    if net.front.basis is not None:
        yield net.front.basis
    for number, linear in enumerate(net.linears):
        yield f"{linear}.weight"
        yield f"{linear}.bias"
        if number < len(net.norms):
            yield f"{net.norms[number]}.weight"
            yield f"{net.norms[number]}.bias"


def _settings(parts: Parts) -> list[float]:
    config: Any = parts.config
    alpha, target = config.alpha, config.target
    values = {
        "gamma": config.gamma,
        "tau": getattr(target, "tau", 0.0),
        "period": float(getattr(target, "period", 1)),
        "log_std_min": config.log_std_min,
        "target_entropy": parts.target_entropy,
        "target_noise": config.target_noise,
        "alpha_lr": getattr(alpha, "lr", 0.0),
        "alpha_beta1": getattr(alpha, "beta1", 0.9),
    }
    return [float(values[name]) for name in NUMBERS]
