"""Parts of maximum-entropy algorithms: the squashed Gaussian policy and the temperature α."""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from lff.core.checks import Config, Interval, Positive, Scale
from lff.optim import BETA1, Adam, Rule, variable

LOG_STD_MIN, LOG_STD_MAX = -5.0, 2.0


def squash(
    head: Float[Tensor, "batch head"],
    noise: Float[Tensor, "batch act"],
    *,
    log_std_min: float = LOG_STD_MIN,
) -> tuple[Float[Tensor, "batch act"], Float[Tensor, " batch"]]:
    """Return a = tanh(μ + σε) and log π(a), from the actor's output and ε.

    log π = Σ [log N(ε) - log σ - log(1 - tanh²(u))], the last in its stable form
    2 (log 2 - u - softplus(-2u)).
    """
    mean, log_std = split_head(head, log_std_min=log_std_min)
    u = mean + log_std.exp() * noise
    normal = -0.5 * noise.square() - log_std - 0.5 * math.log(2 * math.pi)
    log_det = 2 * (math.log(2) - u - F.softplus(-2 * u))
    return u.tanh(), (normal - log_det).sum(dim=-1)


def split_head(
    head: Float[Tensor, "*batch head"], *, log_std_min: float = LOG_STD_MIN
) -> tuple[Float[Tensor, "*batch act"], Float[Tensor, "*batch act"]]:
    """Return μ and log σ_π, the latter squashed into [log_std_min, 2]."""
    mean, raw = head.chunk(2, dim=-1)
    span = LOG_STD_MAX - log_std_min
    return mean, log_std_min + 0.5 * span * (raw.tanh() + 1)


@dataclass(frozen=True, kw_only=True)
class LearnedAlpha(Config):
    """A temperature that keeps the policy's entropy at -|A|."""

    tag: ClassVar[str] = "learned"
    initial: Annotated[float, Positive("use 0.1")] = 0.1
    """α at the start."""
    lr: Scale = 1e-4
    """Learning rate of log α."""
    beta1: Annotated[float, Interval("[0, 1)", "use 0.9")] = BETA1
    """β₁ of its Adam (0.5 in the code base of RAD)."""


@dataclass(frozen=True, kw_only=True)
class FixedAlpha(Config):
    """A temperature that stays as it is."""

    tag: ClassVar[str] = "fixed"
    value: Annotated[float, Positive("use 0.1")] = 0.1
    """α."""


class Temperature:
    """log α and its optimizer; α itself multiplies the gap in the loss, as in the authors' code.

    L_α = mean α (-log π(a|s) - H̄),   H̄ = -|A|
    """

    def __init__(
        self, config: LearnedAlpha | FixedAlpha, action_dim: int, *, device: torch.device
    ) -> None:
        self.learned, self.target_entropy = isinstance(config, LearnedAlpha), -float(action_dim)
        if isinstance(config, LearnedAlpha):
            start, rule = config.initial, Rule(config.lr, beta1=config.beta1)
        else:
            start, rule = config.value, Rule(0.0)
        self.log_alpha = variable(torch.tensor(math.log(start), device=device))
        self.adam = Adam({"log_alpha": self.log_alpha}, {"log_alpha": rule})

    def step(self, alpha: Float[Tensor, ""], log_prob: Float[Tensor, " batch"]) -> None:
        """Update log α, in place, if it is learned."""
        if self.learned:
            self.adam.step({"log_alpha": self.gradient(alpha, log_prob)})

    def gradient(
        self, alpha: Float[Tensor, ""], log_prob: Float[Tensor, " batch"]
    ) -> Float[Tensor, ""]:
        """Return the derivative of L_α by log α, which is L_α itself."""
        return alpha * (-log_prob - self.target_entropy).mean()
