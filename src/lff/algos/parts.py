"""How the audit sees our agents: which networks they have, and which of their tensors Adam moves.

Their parameters have ``requires_grad`` off, because gradients come from ``torch.func``, and the
optimizer is our own.  The audit is shown networks that share the agent's memory, with
``requires_grad`` on for exactly those tensors that :class:`~lff.regularizers.adam.Adam` moves, and
an optimizer of torch's that holds them at Adam's rates and counts.
"""

import copy
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from lff.algos.ppo import PPO
from lff.algos.sac import SAC
from lff.nn import Parts, register_unpacker
from lff.regularizers.adam import Adam

TARGET = "target/"
"""How the names of the target's tensors begin in :meth:`SAC.state`."""


def ppo_parts(agent: PPO | SAC) -> Parts:
    """Return actor and critic of an agent, and who trains them."""
    parts = Parts()
    for role, network, adam in (
        ("actor", agent.actor, agent.actor_adam),
        ("critic", agent.critic, agent.critic_adam),
    ):
        view = _view(network, dict(network.named_parameters()))
        parts.modules[role] = view
        parts.optimizers[f"{role}_adam"] = _optimizer(view, adam)
    return parts


def sac_parts(agent: SAC) -> Parts:
    """Return actor, critics and target of an agent, and who trains them."""
    parts = ppo_parts(agent)
    if hasattr(agent.config.target, "tau"):  # it follows; without one there is no target
        state = agent.state().items()
        target = {n.removeprefix(TARGET): value for n, value in state if n.startswith(TARGET)}
        parts.modules["critic_target"] = _view(agent.critic, target)
    return parts


def _view(network: nn.Module, tensors: Mapping[str, Tensor]) -> nn.Module:
    """Return the network with these tensors as its parameters; their memory is shared."""
    view = copy.deepcopy(network)
    for name, parameter in view.named_parameters():
        if name in tensors:
            parameter.data = tensors[name].data
        parameter.requires_grad = False
    return view


def _optimizer(view: nn.Module, adam: Adam) -> torch.optim.Optimizer:
    """Return torch's Adam over those parameters that ours moves: the very tensor, not a copy."""
    moved = [
        (parameter, adam.rules[name].lr)
        for name, parameter in view.named_parameters()
        if name in adam.parameters and adam.parameters[name].data_ptr() == parameter.data_ptr()
    ]
    groups: list[dict[str, Any]] = [{"params": [parameter], "lr": lr} for parameter, lr in moved]
    optimizer = torch.optim.Adam(groups)
    for parameter, _ in moved:
        parameter.requires_grad = True
        optimizer.state[parameter] = {"step": adam.count.clone()}
    return optimizer


register_unpacker(lambda agent: isinstance(agent, SAC), sac_parts)
register_unpacker(lambda agent: isinstance(agent, PPO), ppo_parts)
