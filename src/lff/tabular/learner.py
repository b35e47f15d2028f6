"""Networks of all seeds, fitted as one batched computation.

A :class:`Learner` holds one network for each seed, stacked, and their Adam.  Members share no
weights and Adam works entry by entry, so that training them together equals training them one
after another; each seed's weights, batches and masks come from streams of its own.  Fitted
Q-iteration and the supervised studies are loops around :meth:`Learner.update`.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value

from lff.core.checks import check_positive, check_size
from lff.core.errors import BadInputError, BadTypeError
from lff.core.seeding import stream_seed
from lff.nn import Ensemble, NetConfig, Network
from lff.optim import Adam
from lff.regularizers import Regularizer, check_combination, rules, wrap
from lff.regularizers.layers import FIRST_ITERATIONS, MaskedDropout, power_steps, spectral_vectors

Tensors = Mapping[str, Tensor]
"""Parameters, or dropout masks, by name."""


def squared_error(
    output: Float[Tensor, "seed batch out"], target: Float[Tensor, "seed batch out"]
) -> Float[Tensor, "seed"]:
    """Return the mean squared error of each seed."""
    return (output - target).square().mean(dim=(1, 2))


def check_seeds(seeds: Sequence[int]) -> tuple[int, ...]:
    """Return the seeds, which must be different."""
    if not seeds or len({*seeds}) != len(seeds):
        raise BadInputError("seeds", tuple(seeds), "different, one or more", "use range(5)")
    return tuple(seeds)


class WithFeatures(nn.Module):
    """Stacked networks that also return the input of their last layer."""

    def __init__(self, stacked: nn.Module) -> None:
        super().__init__()
        if not isinstance(stacked, Network) or not isinstance(stacked.trunk, nn.Sequential):
            remedy = "use MLPTrunk"
            raise BadTypeError("the trunk", stacked, "a chain of layers, to see features", remedy)
        self.stacked = stacked

    def forward(self, x: Float[Tensor, "*batch in"]) -> tuple[Tensor, Tensor]:
        """Return features and output."""
        *body, head = cast(nn.Sequential, self.stacked.trunk)
        features = self.stacked.front(x)
        for layer in body:
            features = layer(features)
        return features, head(features)


class Learner:
    """One network per seed, with their optimizer."""

    def __init__(
        self,
        config: NetConfig,
        *,
        in_features: int,
        out_features: int,
        seeds: Sequence[int],
        lr: float,
        regularizers: Sequence[Regularizer] = (),
        dtype: torch.dtype = torch.float32,
    ) -> None:
        check_combination(regularizers)
        self.seeds = check_seeds(seeds)
        self.regularizers = tuple(regularizers)
        members = [
            config.build(in_features, out_features, generator=self._stream(seed, "network"))
            for seed in self.seeds
        ]
        self.networks = Ensemble(members).to(dtype)
        wrap(self.networks, self.regularizers, "critic")
        self.networks.requires_grad_(False)  # noqa: FBT003  gradients come from torch.func
        self.parameters = dict(self.networks.named_parameters())
        self._vectors = spectral_vectors(self.networks)
        self._draw_vectors()
        rate = check_positive("lr", lr, remedy="use 1e-3 to start")
        rule_of = rules(self.networks, self.regularizers, "critic", lr=rate)
        self.adam = Adam(self.parameters, rule_of)
        self.draws = {seed: self._stream(seed, "batches") for seed in self.seeds}
        self.step = self.update
        """The step of a loop: :meth:`update`, compiled or not."""

    def _draw_vectors(self) -> None:
        """Draw the vectors of spectral normalisation anew, each seed its own, and iterate them.

        Where they start matters: all singular values of an orthogonal layer are equal.
        """
        for name, value in self._vectors.items():
            for member, seed in enumerate(self.seeds):
                drawn = torch.randn(value.shape[-1], generator=self._stream(seed, name))
                value[member] = drawn / drawn.norm()
        for _ in range(FIRST_ITERATIONS if self._vectors else 0):
            power_steps(self.networks, {**self.parameters, **self._vectors})

    @staticmethod
    def _stream(seed: int, name: str) -> torch.Generator:
        return torch.Generator().manual_seed(stream_seed(seed, f"learner/{name}"))

    def __call__(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "seed *batch out"]:
        """Return every network's output on the same input."""
        return cast(Tensor, self.networks(x))

    def draw_indices(self, size: int, *, steps: int, batch: int) -> Int[Tensor, "step seed batch"]:
        """Draw batches of ``steps`` updates from ``size`` items, each seed from its own stream."""
        check_size("batch", batch)
        drawn = [
            torch.randint(check_size("size", size), (steps, batch), generator=self.draws[seed])
            for seed in self.seeds
        ]
        return torch.stack(drawn, dim=1)

    def draw_masks(self, batch: int) -> dict[str, Tensor]:
        """Draw the dropout masks of one update; none without dropout."""
        return {
            f"{name}.mask": torch.stack([m.draw((batch,), self.draws[seed]) for seed in self.seeds])
            for name, m in self.networks.named_modules()
            if isinstance(m, MaskedDropout)
        }

    def update(
        self, x: Float[Tensor, "seed batch in"], given: tuple[Tensor, ...], masks: Tensors
    ) -> Float[Tensor, "seed"]:
        """Do one step of Adam, on the squared error to the target that is ``given``.

        Returns each seed's loss before it.
        """
        with torch.no_grad():
            if self._vectors:
                power_steps(self.networks, {**self.parameters, **self._vectors})
        gradients, (_, losses) = grad_and_value(self._total, has_aux=True)(
            self.parameters, x, given, masks
        )
        with torch.no_grad():
            self.adam.step(gradients)
        return cast(Tensor, losses)

    def _total(
        self, parameters: Tensors, x: Tensor, given: tuple[Tensor, ...], masks: Tensors
    ) -> tuple[Tensor, Tensor]:
        losses = squared_error(self.outputs(parameters, x, masks), *given)
        return losses.sum(), losses

    def outputs(
        self, parameters: Tensors, x: Float[Tensor, "seed batch in"], masks: Tensors | None = None
    ) -> Float[Tensor, "seed batch out"]:
        """Return each network's output on its own input, with these parameters."""
        tensors = {**parameters, **self._vectors, **(masks or {})}
        own = {name.removeprefix("stacked."): value for name, value in tensors.items()}
        return cast(Tensor, functional_call(self.networks.stacked, own, (x,)))

    def features(
        self, parameters: Tensors, x: Float[Tensor, "seed batch in"], masks: Tensors | None = None
    ) -> tuple[Float[Tensor, "seed batch width"], Float[Tensor, "seed batch out"]]:
        """Return the input of the last layer, and the output."""
        tensors = {**parameters, **self._vectors, **(masks or {})}
        return cast(tuple[Tensor, Tensor], functional_call(self.readable, tensors, (x,)))

    @functools.cached_property
    def readable(self) -> WithFeatures:
        """The networks with their features; raises if these cannot be read."""
        return WithFeatures(self.networks.stacked)

    def state(self) -> dict[str, Tensor]:
        """Return everything that training depends on: live tensors, and states of generators."""
        parts: dict[str, Mapping[Any, Tensor]] = {
            "network": self.parameters,
            "vector": self._vectors,
            "adam": self.adam.state(),
            "draws": {seed: generator.get_state() for seed, generator in self.draws.items()},
        }
        return {f"{part}/{n}": value for part, own in parts.items() for n, value in own.items()}

    def restore(self, state: Tensors) -> None:
        """Restore a state that :meth:`state` returned, in place."""
        for name, value in Learner.state(self).items():
            value.copy_(state[name])
        for seed, generator in self.draws.items():
            generator.set_state(state[f"draws/{seed}"].cpu())
