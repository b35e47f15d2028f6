"""Computation of a network of Fourier features under a compiler.

The values are those of ``trunk(front(x))`` to rounding; the operations suit generated code.
sin ‖ cos ‖ x is never laid out as one matrix: its odd width (F + d columns) would make products
with it slow, so the first layer multiplies waves and x apart, each by its part of the weight.  And
the gradient of the waves reuses sine and cosine, which the compiler would compute again.
"""

from typing import Any, no_type_check

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from lff.nn.fourier import LearnedFourierFeatures


@no_type_check  # the compiler cannot follow a checker of shapes into a function of autograd
class Waves(torch.autograd.Function):
    """sin(p) ‖ cos(p), whose gradient is taken from the result."""

    generate_vmap_rule = True

    @staticmethod
    def forward(phase: Tensor) -> Tensor:
        """Return sin(p) ‖ cos(p)."""
        return torch.cat((phase.sin(), phase.cos()), dim=-1)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor], output: Tensor) -> None:  # noqa: ARG004
        """Keep the waves."""
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        """Return g_sin cos(p) - g_cos sin(p)."""
        (waves,) = ctx.saved_tensors
        sine, cosine = waves.chunk(2, dim=-1)
        by_sine, by_cosine = gradient.chunk(2, dim=-1)
        slope: Tensor = by_sine * cosine - by_cosine * sine
        return slope


def multiply_apart(
    layer: nn.Module, waves: Float[Tensor, "*batch waves"], x: Float[Tensor, "*batch in"]
) -> Float[Tensor, "*batch out"]:
    """Return layer(waves ‖ x) without laying the two side by side.

    A layer other than ``nn.Linear`` says how by a method of the same name.
    """
    if isinstance(layer, nn.Linear):
        by_waves, by_x = torch.split(layer.weight, [waves.shape[-1], x.shape[-1]], dim=1)
        return F.linear(waves, by_waves) + F.linear(x, by_x, layer.bias)
    product: Tensor = layer.multiply_apart(waves, x)  # type: ignore[operator]
    return product


def run_traced(front: nn.Module, trunk: nn.Module, x: Tensor) -> Tensor:
    """Return trunk(front(x)), waves and x apart if front and trunk are made so."""
    layers = list(trunk.children()) if type(trunk) is nn.Sequential else []
    if not (layers and _splits(front, layers[0])):
        whole: Tensor = trunk(front(x))
        return whole
    phase = front.phase(x)  # type: ignore[operator]
    hidden = multiply_apart(layers[0], Waves.apply(phase), x)  # type: ignore[no-untyped-call]
    for layer in layers[1:]:
        hidden = layer(hidden)
    return hidden


def _splits(front: nn.Module, first: nn.Module) -> bool:
    """Return whether nothing but the product happens between front and first layer."""
    plain = type(first) is nn.Linear or hasattr(first, "multiply_apart")
    hooked = any((*m._forward_hooks, *m._forward_pre_hooks) for m in (front, first))
    return type(front) is LearnedFourierFeatures and front.concat_input and plain and not hooked
