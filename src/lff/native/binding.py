"""The tensors and numbers that the native update is given once, when it is made."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from lff.core.errors import BadInputError
from lff.native.shape import NetShape, Shape


def table(agent: Any, shape: Shape) -> tuple[list[Tensor | None], list[float]]:
    """Return tensors (None for one that is not there) and numbers in the order of ``lff_new``."""
    tensors: list[Tensor | None] = []
    numbers: list[float] = []
    for role, net in (("actor", shape.actor), ("critic", shape.critic)):
        named, adam = named_tensors(agent.networks[role]), agent.optimizers[role]
        target = agent.target if role == "critic" else {}
        for name in parameter_names(net):
            places = (named, adam.first, adam.second, adam.start, target)
            tensors += [_checked_if_there(place.get(name)) for place in places]
            rule = adam.rules.get(name)
            if rule is None:  # a basis that is not trained
                numbers += [0.0] * 5
            else:
                numbers += [rule.lr, rule.l2, rule.l1, rule.anchor, float(rule.decoupled)]
    for role in ("actor", "critic", "alpha"):
        adam = agent.optimizers[role]
        (factors,) = adam.factors.values()
        tensors += [checked(factors), checked(adam.count, torch.int64)]
    (first,), (second,) = adam.first.values(), adam.second.values()  # of the temperature
    norm = {} if agent.norm is None else agent.norm.state()
    rest = agent.alpha.log_alpha, first, second, agent.state().get("polyak/tau")
    tensors += map(_checked_if_there, (*rest, norm.get("shift"), norm.get("scale")))
    return tensors, numbers + _settings(agent)


def checked(tensor: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return a tensor whose memory native code can use."""
    if tensor.dtype != dtype or not tensor.is_contiguous() or tensor.device.type != "cpu":
        remedy = "use --compile graph"
        raise BadInputError("a tensor", tensor.dtype, f"{dtype} without gaps", remedy)
    return tensor


def _checked_if_there(tensor: Tensor | None) -> Tensor | None:
    return None if tensor is None else checked(tensor)


def named_tensors(network: nn.Module) -> dict[str, Tensor]:
    """Return parameters and buffers of a network by name."""
    return {**dict(network.named_parameters()), **dict(network.named_buffers())}


def parameter_names(net: NetShape) -> Iterator[str]:
    """Yield the names of a network's tensors in the order of ``Params::each``."""
    if net.front.basis is not None:
        yield net.front.basis
    for number, linear in enumerate(net.linears):
        for layer in (linear, *net.norms[number : number + 1]):
            yield f"{layer}.weight"
            yield f"{layer}.bias"


def _settings(agent: Any) -> list[float]:
    """Return the settings in the order of ``Numbers`` in ``sac.cpp``."""
    config, alpha, target = agent.config, agent.config.alpha, agent.config.target
    values = {
        "gamma": config.gamma,
        "tau": getattr(target, "tau", 0.0),
        "period": getattr(target, "period", 1),
        "log_std_min": config.log_std_min,
        "target_entropy": agent.alpha.target_entropy,
        "target_noise": config.target_noise,
        "alpha_lr": getattr(alpha, "lr", 0.0),
        "alpha_beta1": getattr(alpha, "beta1", 0.9),
    }
    return [float(value) for value in values.values()]
