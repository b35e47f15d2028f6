"""Networks of a front and a trunk, and their configs.

    front: embeds the input                 Identity, Fourier, LogUniformFourier, FFN, controls
    trunk: computes the output from it      MLPTrunk, MatchedMLP, ConcatMLPTrunk, D2RLTrunk, …

``LFF`` and ``MLP`` are the two networks of the paper, for direct use.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lff.core.checks import Config, check_size, validate
from lff.core.errors import BadInputError
from lff.nn.fourier import Fourier, check_input
from lff.nn.mlp import Activation, Identity, MLPTrunk
from lff.nn.parts import AnyFront, AnyTrunk
from lff.nn.traced import run_traced


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
        """Check the parts, and that they fit."""
        validate(self)
        if self.front.is_layer and not self.trunk.takes_front:
            name = type(self.trunk).__name__
            remedy = "use another trunk, or put the front into like"
            raise BadInputError("front", self.front, f"Identity before a {name}", remedy)

    def resolve(self, in_features: int, out_features: int) -> "NetConfig":
        """Return the same network with all widths of the trunk as numbers."""
        return replace(self, trunk=self.trunk.resolve(in_features, out_features))

    def hidden(self, in_features: int, out_features: int) -> tuple[int, ...]:
        """Return the widths of the trunk's hidden layers."""
        trunk = self.trunk.resolve(in_features, out_features)
        widths: tuple[int, ...] | None = getattr(trunk, "hidden", None)
        if widths is None:
            remedy = "give the trunk a field hidden, or state the other network's widths"
            raise BadInputError("trunk", trunk, "a trunk with hidden widths", remedy)
        return widths

    def build(
        self, in_features: int, out_features: int, *, generator: torch.Generator | None = None
    ) -> "Network":
        """Return the network; the same generator state gives the same weights."""
        return Network(self, in_features, out_features, generator=generator)


class Network(nn.Module):
    """Front, then trunk.  Several inputs, as in ``q(obs, action)``, are joined on the last axis."""

    def __init__(
        self,
        config: NetConfig,
        in_features: int,
        out_features: int,
        *,
        generator: torch.Generator | None = None,
    ) -> None:
        """Build both parts from their configs."""
        super().__init__()
        self.config = config
        self.in_features = check_size("in_features", in_features)
        self.out_features = check_size("out_features", out_features)
        self.front = config.front.build(self.in_features, generator=generator)
        width = getattr(self.front, "out_features", self.in_features)
        self.trunk = config.trunk.build(width, self.out_features, generator=generator)

    def forward(
        self, *xs: Float[Tensor, "*batch _"]
    ) -> Float[Tensor, "*batch {self.out_features}"]:
        """Return trunk(front(x))."""
        if not xs:
            raise BadInputError("the number of inputs", 0, "1 or more", "pass net(x)")
        x = xs[0] if len(xs) == 1 else torch.cat(xs, dim=-1)
        check_input(x, self.in_features, axis=-1, owner="the network", axis_name="in_features")
        if torch.compiler.is_compiling():
            return run_traced(self.front, self.trunk, x)
        output: Tensor = self.trunk(self.front(x))
        return output

    def extra_repr(self) -> str:
        """Show the sizes that a comparison must keep equal."""
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
        sigma: float = 1.0,
        fourier_dim: int = 256,
        trainable: bool = True,
        concat_input: bool = True,
        activation: Activation = "relu",
        generator: torch.Generator | None = None,
    ) -> None:
        """Fourier features, then ``n_hidden`` layers of ``hidden_dim``, then the output layer.

        The defaults are Algorithm 1's; for SAC from state the paper sets σ to 0.001 or 0.003, two
        hidden layers and a Fourier dimension of 1024.
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
    >>> MLP(30, 1, n_hidden=3, hidden_dim=1024, first_dim=match_width(lff_network))
    MLP(
      in=30, out=1, parameters=2,146,739
      (front): Identity()
      (trunk): Sequential(
        (0): Linear(in_features=30, out_features=1038, bias=True)
        (1): ReLU()
        (2): Linear(in_features=1038, out_features=1024, bias=True)
        (3): ReLU()
        (4): Linear(in_features=1024, out_features=1024, bias=True)
        (5): ReLU()
        (6): Linear(in_features=1024, out_features=1, bias=True)
      )
    )
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
        generator: torch.Generator | None = None,
    ) -> None:
        """Hidden layers of ``hidden_dim``; ``first_dim`` (see ``match_width``) for the first."""
        later = (check_size("hidden_dim", hidden_dim),) * (check_size("n_hidden", n_hidden) - 1)
        first = hidden_dim if first_dim is None else check_size("first_dim", first_dim)
        trunk = MLPTrunk(hidden=(first, *later), activation=activation)
        super().__init__(NetConfig(trunk=trunk), in_features, out_features, generator=generator)


def num_parameters(module: nn.Module) -> int:
    """Return the number of trained parameters; a frozen B is a buffer and does not count."""
    return sum(parameter.numel() for parameter in module.parameters())
