"""What PPO is: its networks, rates, clips and norms, as data."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

from lff.core.checks import check_choice, check_flag, check_number, check_positive, check_scale
from lff.core.checks import check_size as check_count
from lff.core.errors import BadInputError
from lff.nn import NetConfig
from lff.regularizers import RegularizerConfig, check_combination

AdvantageNorm = Literal["minibatch", "rollout", "none"]


@dataclass(frozen=True, kw_only=True)
class PPOConfig:
    """Proximal policy optimization; the defaults are those of the paper's Table 3."""

    actor: NetConfig
    """Network of the policy: observation -> mean action."""
    critic: NetConfig
    """Network of the value: observation -> V."""
    gamma: float = 0.99
    """Discount γ."""
    gae_lambda: float = 0.95
    """λ of the advantages."""
    clip: float = 0.2
    """c, how far ρ counts from 1."""
    value_clip: float | None = 0.2
    """c of the value loss; None does not clip it."""
    lr: float = 3e-4
    """Learning rate of both networks."""
    lr_decay: bool = True
    """Let the learning rate fall linearly to 0 at the end of the run."""
    rollout_steps: int = 2048
    """Actions between two optimizations, over all environments together."""
    epochs: int = 10
    """How often each of them is used."""
    batch_size: int = 64
    """Actions per update."""
    entropy_coef: float = 0.0
    """k_H."""
    value_coef: float = 0.5
    """k_V."""
    max_grad_norm: float | None = 0.5
    """Largest norm of the gradient of both networks; None does not clip it."""
    advantage_norm: AdvantageNorm = "minibatch"
    """Over what advantages get mean 0 and variance 1."""
    adam_eps: float = 1e-5
    """Adam's ε."""
    initial_std: float = 1.0
    """σ_π at the start."""
    hidden_gain: float = math.sqrt(2)
    """Gain of orthogonal hidden layers."""
    actor_gain: float = 0.01
    """Gain of the actor's output layer."""
    critic_gain: float = 1.0
    """Gain of the critic's output layer."""
    normalize_obs: bool = True
    """Normalise observations by running statistics."""
    normalize_reward: bool = True
    """Divide rewards by the running spread of their discounted sum."""
    regularizers: tuple[RegularizerConfig, ...] = ()
    """Any of ``lff.regularizers`` but the two that belong to Q-learning."""

    def __post_init__(self) -> None:
        """Check the values before anything is built."""
        for name in ("rollout_steps", "epochs", "batch_size"):
            check_count(name, getattr(self, name))
        for name in ("gamma", "gae_lambda"):
            if not 0 <= check_number(name, getattr(self, name)) <= 1:
                raise BadInputError(name, getattr(self, name), "in [0, 1]", "use 0.95, say")
        for name in ("lr", "entropy_coef", "value_coef", "actor_gain", "critic_gain"):
            check_scale(name, getattr(self, name), remedy="use 0 or more")
        for name in ("clip", "value_clip", "max_grad_norm", "adam_eps", "initial_std"):
            if getattr(self, name) is not None:
                check_positive(name, getattr(self, name), remedy="use 0.5, say")
        check_positive("hidden_gain", self.hidden_gain)
        for name in ("lr_decay", "normalize_obs", "normalize_reward"):
            check_flag(name, getattr(self, name))
        check_choice("advantage_norm", self.advantage_norm, get_args(AdvantageNorm))
        if self.batch_size > self.rollout_steps:
            remedy = f"use {self.rollout_steps} or less"
            raise BadInputError("batch_size", self.batch_size, "at most a rollout", remedy)
        check_combination(self.regularizers)
        if any(one.penalizes or one.penalizes_features for one in self.regularizers):
            remedy = "leave it out; it is for Q-learning"
            raise BadInputError("regularizers", self.regularizers, "without penalty of Q", remedy)

    @property
    def encoder(self) -> None:
        """What looks at pixels; PPO sees numbers."""
        return None
