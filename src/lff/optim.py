"""Adam as plain in-place tensor code, so that a whole update can be one compiled graph.

Equal to ``torch.optim.Adam`` (and ``AdamW`` for decoupled decay) to rounding; a test holds it to
them.  Each parameter has a rule, hence B a separate learning rate, decay and anchor.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

BETA1, BETA2, EPS = 0.9, 0.999, 1e-8
Tensors = Mapping[str, Tensor]


@dataclass(frozen=True)
class Rule:
    """Update rule of one parameter."""

    lr: float
    l2: float = 0.0
    """Coefficient of the decay."""
    l1: float = 0.0
    """Coefficient of |θ|₁ added to the loss."""
    decoupled: bool = False
    """Decay the weight itself (AdamW) instead of adding l2·θ to the gradient."""
    anchor: float = 0.0
    """Coefficient of ½‖θ - θ₀‖² added to the loss, θ₀ the start."""
    beta1: float = BETA1
    """Decay of the first moment."""


def variable(value: Tensor) -> Tensor:
    """Return the tensor in a form that the compiler reads at every call.

    torch.compile makes a constant of a plain float64 tensor without axes, and drops what is written
    to it; it does not do so with a parameter.
    """
    if value.dim() == 0 and value.dtype == torch.float64:
        return nn.Parameter(value, requires_grad=False)
    return value


class Adam:
    """Moments and counters of a set of named parameters, and the step that moves them in place.

    ``share`` is the factor of a schedule on every learning rate, one number that its owner changes
    in place.
    """

    def __init__(
        self,
        parameters: Tensors,
        rules: Mapping[str, Rule],
        *,
        eps: float = EPS,
        share: Tensor | None = None,
    ) -> None:
        self.parameters = dict(parameters)
        self.eps, self.share = eps, share
        self.rules = {name: rules[name] for name in self.parameters}
        named = self.parameters.items()
        self.first, self.second = (
            {n: variable(torch.zeros_like(p)) for n, p in named} for _ in range(2)
        )
        self.start = {n: p.clone() for n, p in named if self.rules[n].anchor}
        reference = next(iter(self.parameters.values()))
        self.count = torch.zeros((), dtype=torch.int64, device=reference.device)
        self.factors = {rule.beta1: reference.new_zeros(2) for rule in self.rules.values()}
        self._prepare()

    def step(self, gradients: Tensors) -> None:
        """Move every parameter by its gradient, in place."""
        for name, parameter in self.parameters.items():
            self._move(name, parameter, gradients[name])
        self.count.add_(1)
        self._prepare()

    def _prepare(self) -> None:
        """Set the bias corrections of the step to come: √(1-β₂ᵗ)/(1-β₁ᵗ) and ε√(1-β₂ᵗ).

        They are stored, not computed where they are needed: the compiler would compute the powers
        anew for every sixteen numbers of every parameter.
        """
        # a float64 scalar held on the object would be frozen into the graph by the compiler
        count = self.count.double() + 1
        root = (1 - BETA2**count).sqrt()
        for beta1, factors in self.factors.items():
            factors.copy_(torch.stack((root / (1 - beta1**count), self.eps * root)))

    def _move(self, name: str, parameter: Tensor, gradient: Tensor) -> None:
        rule = self.rules[name]
        if rule.l2 and not rule.decoupled:
            gradient = gradient + rule.l2 * parameter
        if rule.l1:
            gradient = gradient + rule.l1 * parameter.sign()
        if rule.anchor:
            gradient = gradient + rule.anchor * (parameter - self.start[name])
        lr = rule.lr if self.share is None else rule.lr * self.share
        if rule.l2 and rule.decoupled:  # last: gradients are those at the parameter as it was
            parameter.mul_(1 - lr * rule.l2)
        first, second = self.first[name], self.second[name]
        first.lerp_(gradient, 1 - rule.beta1)
        second.mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)
        scale, shift = self.factors[rule.beta1].unbind()
        parameter.sub_(lr * scale * first / (second.sqrt() + shift))

    def state(self) -> dict[str, Tensor]:
        """Return everything a checkpoint must hold, as the live tensors."""
        tensors = {"count": self.count}
        tensors |= {f"factors/{beta1:g}": value for beta1, value in self.factors.items()}
        for kind in ("first", "second", "start"):
            tensors |= {f"{kind}/{name}": value for name, value in getattr(self, kind).items()}
        return tensors
