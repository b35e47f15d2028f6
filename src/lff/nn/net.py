"""Networks of a front and a trunk, and their configs.

    front: embeds the input                 Identity, Fourier, LogUniformFourier, FFN, controls
    trunk: computes the output from it      MLPTrunk, MatchedMLP, ConcatMLPTrunk, D2RLTrunk, …

``LFF`` and ``MLP`` are the two networks of the paper, for direct use.

Under a compiler the values are those of ``trunk(front(x))`` to rounding, but the operations suit
generated code.  sin ‖ cos ‖ x is never laid out as one matrix: its odd width (F + d columns) would
make products with it slow, so the first layer multiplies waves and x apart, each by its part of the
weight.  And the gradient of the waves reuses sine and cosine, which the compiler would compute
again.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, no_type_check

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from lff.core.checks import Config, check_size, validate
from lff.core.errors import BadInputError
from lff.nn.fourier import Fourier, LearnedFourierFeatures, check_input
from lff.nn.fronts import Identity
from lff.nn.parts import AnyFront, AnyTrunk, Rng
from lff.nn.trunks import Activation, MLPTrunk


@dataclass(frozen=True)
class NetConfig(Config):
    """Front and trunk of a network.

    >>> NetConfig(front=Fourier(fourier_dim=64, sigma=0.01), trunk=MLPTrunk((32,))).build(3, 1)
    Network(
      in=3, out=1, parameters=2,305
      (front): LearnedFourierFeatures(in=3, F=64, sigma=0.01, trainable=True, concat_input=True)
      (trunk): Sequential(
        (0): Linear(in_features=67, out_features=32, bias=True)
        (1): ReLU()
        (2): Linear(in_features=32, out_features=1, bias=True)
      )
    )
    """

    tag: ClassVar[str] = "net"
    front: AnyFront = Identity()  # noqa: RUF009  frozen, hence shareable
    """The layer that embeds the input."""
    trunk: AnyTrunk = MLPTrunk(hidden=(256, 256))  # noqa: RUF009
    """The layers that compute the output from the embedding."""

    def __post_init__(self) -> None:
        validate(self)
        if self.front.is_layer and not self.trunk.takes_front:
            name = type(self.trunk).__name__
            remedy = "use another trunk, or put the front into like"
            raise BadInputError("front", self.front, f"Identity before a {name}", remedy)

    def resolve(self, in_features: int, out_features: int) -> "NetConfig":
        """Return the same network with all widths of the trunk as numbers."""
        trunk = self.trunk.resolve(in_features, out_features, front=self.front)
        return replace(self, trunk=trunk)

    def hidden(self, in_features: int, out_features: int) -> tuple[int, ...]:
        """Return the widths of the trunk's hidden layers."""
        trunk = self.resolve(in_features, out_features).trunk
        widths: tuple[int, ...] | None = getattr(trunk, "hidden", None)
        if widths is None:
            remedy = "give the trunk a field hidden, or state the other network's widths"
            raise BadInputError("trunk", trunk, "a trunk with hidden widths", remedy)
        return widths

    def build(self, in_features: int, out_features: int, *, generator: Rng = None) -> "Network":
        """Return the network; the same generator state gives the same weights."""
        return Network(self, in_features, out_features, generator=generator)


class Network(nn.Module):
    """Front, then trunk.  Several inputs, as in ``q(obs, action)``, are joined on the last axis."""

    def __init__(
        self, config: NetConfig, in_features: int, out_features: int, *, generator: Rng = None
    ) -> None:
        super().__init__()
        self.config = config
        self.in_features = check_size("in_features", in_features)
        self.out_features = check_size("out_features", out_features)
        self.front = config.front.build(self.in_features, generator=generator)
        width = getattr(self.front, "out_features", self.in_features)
        trunk = config.resolve(self.in_features, self.out_features).trunk
        self.trunk = trunk.build(width, self.out_features, generator=generator)

    def forward(
        self, *xs: Float[Tensor, "*batch _"]
    ) -> Float[Tensor, "*batch {self.out_features}"]:
        if not xs:
            raise BadInputError("the number of inputs", 0, "1 or more", "pass net(x)")
        x = xs[0] if len(xs) == 1 else torch.cat(xs, dim=-1)
        check_input(x, self.in_features, axis=-1, owner="the network", axis_name="in_features")
        if torch.compiler.is_compiling():
            return run_traced(self.front, self.trunk, x)
        output: Tensor = self.trunk(self.front(x))
        return output

    def extra_repr(self) -> str:
        return (
            f"in={self.in_features}, out={self.out_features}, parameters={num_parameters(self):,}"
        )


class LFF(Network):
    """The learned Fourier feature network of Algorithm 1.

    >>> q = LFF(24 + 6, 1, n_hidden=2, hidden_dim=256, sigma=0.01, fourier_dim=256)
    >>> q(torch.zeros(8, 24), torch.zeros(8, 6)).shape
    torch.Size([8, 1])
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        n_hidden: int = 1,
        hidden_dim: int = 256,
        sigma: float = 0.01,
        fourier_dim: int = 256,
        trainable: bool = True,
        concat_input: bool = True,
        activation: Activation = "relu",
        generator: Rng = None,
    ) -> None:
        """Fourier features, then ``n_hidden`` layers of ``hidden_dim``, then the output layer.

        The defaults are Algorithm 1's, except σ, which is 0.01 as docs/sigma.md recommends and 1
        there.  For SAC from state the paper has σ = 0.001 or 0.003, two hidden layers and F = 1024.
        """
        hidden = (check_size("hidden_dim", hidden_dim),) * check_size("n_hidden", n_hidden)
        front = Fourier(
            fourier_dim=fourier_dim, sigma=sigma, trainable=trainable, concat_input=concat_input
        )
        trunk = MLPTrunk(hidden=hidden, activation=activation)
        super().__init__(NetConfig(front, trunk), in_features, out_features, generator=generator)


class MLP(Network):
    """The baseline: ``n_hidden`` hidden layers, the first of them ``first_dim`` wide.

    >>> from lff import match_width
    >>> lff_network = LFF(30, 1, n_hidden=2, hidden_dim=1024, sigma=0.001, fourier_dim=1024)
    >>> mlp = MLP(30, 1, n_hidden=3, hidden_dim=1024, first_dim=match_width(lff_network))
    >>> mlp.trunk[0], num_parameters(mlp)
    (Linear(in_features=30, out_features=1038, bias=True), 2146739)
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        n_hidden: int = 1,
        hidden_dim: int = 256,
        first_dim: int | None = None,
        activation: Activation = "relu",
        generator: Rng = None,
    ) -> None:
        """Hidden layers of ``hidden_dim``; ``first_dim`` (see ``match_width``) for the first."""
        later = (check_size("hidden_dim", hidden_dim),) * (check_size("n_hidden", n_hidden) - 1)
        first = hidden_dim if first_dim is None else check_size("first_dim", first_dim)
        trunk = MLPTrunk(hidden=(first, *later), activation=activation)
        super().__init__(NetConfig(trunk=trunk), in_features, out_features, generator=generator)


def solve_affine(goal: int, at_one: int, at_two: int) -> int:
    """Return the integer w nearest to the solution of a + b·w = goal, in exact arithmetic."""
    slope = at_two - at_one
    return (2 * (goal - at_one) + slope) // (2 * slope) + 1


@contextlib.contextmanager
def evaluating(module: nn.Module) -> Iterator[None]:
    """Switch dropout and updates of batch statistics off for a while."""
    modes = {m: m.training for m in module.modules()}
    module.eval()
    try:
        yield
    finally:
        for m, mode in modes.items():
            m.training = mode


def num_parameters(module: nn.Module) -> int:
    """Return the number of trained parameters; a frozen B is a buffer and does not count."""
    return sum(parameter.numel() for parameter in module.parameters())


@no_type_check  # the compiler cannot follow a checker of shapes into a function of autograd
class Waves(torch.autograd.Function):
    """sin(p) ‖ cos(p), whose gradient is taken from the result."""

    generate_vmap_rule = True

    @staticmethod
    def forward(phase: Tensor) -> Tensor:
        return torch.cat((phase.sin(), phase.cos()), dim=-1)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor], output: Tensor) -> None:  # noqa: ARG004
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
