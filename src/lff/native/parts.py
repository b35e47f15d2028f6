"""The tensors and numbers of a SAC agent, under the names that the native update uses.

The one file that knows how the agent names its tensors.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from lff.algos.sac import SAC

BETA1 = 0.9


@dataclass(frozen=True)
class Parts:
    """What the update reads and writes; all tensors are the agent's own."""

    actor: nn.Module
    critic: nn.Module
    actor_adam: Any
    critic_adam: Any
    alpha_adam: Any
    target: Mapping[str, Tensor]
    """The target's copy of each critic parameter."""
    share: Tensor | None
    """The Polyak coefficient of the next update; None without a target network."""
    norm: Mapping[str, Tensor] | None
    """Running statistics of observations, or None."""
    log_alpha: Tensor
    alpha_lr: float | None
    """None if the temperature is fixed."""
    observations: int
    actions: int
    batch: int
    target_entropy: float
    config: Any

    def is_plain(self, role: str) -> bool:
        """Return whether every parameter of a network moves by Adam alone."""
        rules = self.adam(role).rules.values()
        return not any(rule.l2 or rule.l1 or rule.anchor for rule in rules)

    def adam(self, role: str) -> Any:
        """Return the optimizer of a network."""
        return self.actor_adam if role == "actor" else self.critic_adam

    def tensors(self, role: str) -> dict[str, Tensor]:
        """Return parameters and buffers of a network by name."""
        network = self.actor if role == "actor" else self.critic
        return {**dict(network.named_parameters()), **dict(network.named_buffers())}


def parts_of(agent: Any) -> Parts:
    """Return the parts of an agent."""
    state, config = agent.state(), agent.config
    return Parts(
        actor=agent.networks["actor"],
        critic=agent.networks["critic"],
        actor_adam=agent.optimizers["actor"],
        critic_adam=agent.optimizers["critic"],
        alpha_adam=agent.optimizers["alpha"],
        target=agent.target,
        share=state.get("polyak/tau"),
        norm=None if agent.norm is None else agent.norm.state(),
        log_alpha=agent.alpha.log_alpha,
        alpha_lr=getattr(config.alpha, "lr", None),
        observations=agent.spaces.obs_dim,
        actions=agent.spaces.action,
        batch=config.batch_size,
        target_entropy=agent.alpha.target_entropy,
        config=config,
    )


def not_covered(regularizers: Sequence[Any]) -> str | None:
    """Return the first regularizer that the native update leaves out."""
    for regularizer in regularizers:
        if regularizer.penalizes or type(regularizer).__name__ in ("Dropout", "SpectralNorm"):
            return f"the regularizer {type(regularizer).__name__}"
    return None


def why_not(agent: Any) -> str | None:
    """Return what keeps an agent from the native update, by its settings; None if nothing does."""
    state, config = agent.state(), agent.config
    if type(agent) is not SAC:
        return f"an agent of type {type(agent).__name__}"
    if any(value.device.type != "cpu" for value in state.values()):
        return "a device other than the CPU"
    reason = not_covered(config.regularizers)
    if reason is not None:
        return reason
    adams = (agent.optimizers["actor"], agent.optimizers["critic"])
    if any(rule.beta1 != BETA1 for adam in adams for rule in adam.rules.values()):
        return f"a beta1 other than {BETA1:g}"
    return None
