"""Networks and optimizers of our agents, for the audit."""

import copy
from typing import Any

from lff.algos.ppo import PPO
from lff.algos.sac import SAC
from lff.auditing import Parts, agent_parts

TARGET = "target/"
"""How the names of the target's tensors begin in :meth:`SAC.state`."""


def unpack_agent(agent: Any) -> Parts | None:
    """Return the parts of an agent; its target is a copy of the critics with its own tensors."""
    if not isinstance(agent, SAC | PPO):
        return None
    networks = {"actor": agent.actor, "critic": agent.critic}
    optimizers = {"actor_adam": agent.actor_adam, "critic_adam": agent.critic_adam}
    if isinstance(agent, SAC) and hasattr(agent.config.target, "tau"):  # one that follows
        target = copy.deepcopy(agent.critic)
        state = agent.state()
        for name, parameter in target.named_parameters():
            if f"{TARGET}{name}" in state:
                parameter.data = state[f"{TARGET}{name}"].data
        networks["critic_target"] = target
    return agent_parts(networks, optimizers)
