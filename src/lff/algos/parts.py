"""Networks and optimizers of our agents, for the audit."""

from typing import Any

from lff.algos.base import Agent
from lff.auditing import Parts, agent_parts


def unpack_agent(agent: Any) -> Parts | None:
    """Return the parts of an agent, targets included; None for anything else."""
    if not isinstance(agent, Agent):
        return None
    optimizers = {f"{role}_adam": adam for role, adam in agent.optimizers.items()}
    return agent_parts(agent.networks, optimizers)
