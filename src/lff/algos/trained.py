"""A network with its optimizer, as every agent holds its own."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.func import functional_call

from lff.optim import EPS, Adam, Rule
from lff.regularizers import (
    Dropout,
    RegularizerConfig,
    draw_masks,
    power_steps,
    rules,
    spectral_vectors,
    wrap,
)
from lff.regularizers.base import Role


class Trained:
    """A network, the Adam that trains it, and the hooks of its regularizers.

    Its parameters do not require gradients, which come from ``torch.func``; they change in place.
    """

    def __init__(
        self,
        network: nn.Module,
        regularizers: Sequence[RegularizerConfig],
        role: Role,
        *,
        lr: float,
        device: torch.device,
        generator: torch.Generator | None,
        extra: Mapping[str, Tensor] | None = None,
        eps: float = EPS,
        share: Tensor | None = None,
    ) -> None:
        """Wrap and move the network; ``extra`` parameters are trained beside its own."""
        wrap(network, regularizers, role, generator=generator)
        self.device = device
        self.network = network.to(device).requires_grad_(requires_grad=False)
        self.parameters: dict[str, Tensor] = {**dict(network.named_parameters()), **(extra or {})}
        self.vectors = spectral_vectors(network)
        """Singular vectors of spectral normalisation."""
        active = (one for one in regularizers if one.works_on(role))
        self.dropout = next((one for one in active if isinstance(one, Dropout)), None)
        own = {name: Rule(lr) for name in extra or {}}
        own |= rules(network, regularizers, role, lr=lr)
        self.adam = Adam(self.parameters, own, eps=eps, share=share)

    def __call__(
        self,
        *inputs: Tensor,
        parameters: Mapping[str, Tensor] | None = None,
        masks: Mapping[str, Tensor] | None = None,
    ) -> Tensor:
        """Return the output under these parameters (its own by default) and dropout masks."""
        if parameters is None and not masks:
            direct: Tensor = self.network(*inputs)
            return direct
        tensors = {**(parameters or {}), **(masks or {})}
        output: Tensor = functional_call(self.network, tensors, inputs)
        return output

    def normalize_spectra(self, parameters: Mapping[str, Tensor] | None = None) -> None:
        """Do one power step of spectral normalisation, in place; nothing without it."""
        if self.vectors:
            tensors = self.parameters | self.vectors if parameters is None else dict(parameters)
            power_steps(self.network, tensors)

    def masks(self, generator: torch.Generator, rows: tuple[int, ...]) -> dict[str, Tensor]:
        """Draw the dropout masks of one pass, on the CPU, and move them to the device."""
        drawn = draw_masks(self.network, generator, batch=rows)
        return {name: mask.to(self.device) for name, mask in drawn.items()}

    def acting_masks(self, generator: torch.Generator, rows: tuple[int, ...]) -> dict[str, Tensor]:
        """Draw the masks of a network that drops units while acting (a known bug)."""
        acts = self.dropout is not None and self.dropout.when_acting
        return self.masks(generator, rows) if acts else {}

    def state(self) -> dict[str, Tensor]:
        """Return parameters and persistent buffers, as the live tensors."""
        kept = self.network.state_dict()
        buffers = {name: x for name, x in self.network.named_buffers() if name in kept}
        return {**self.parameters, **buffers}


def update_masks(
    networks: Mapping[Role, Trained], generator: torch.Generator, size: int
) -> dict[str, dict[str, Tensor]]:
    """Draw the masks of every pass of one update through a network with dropout.

    The passes are ``actor`` and ``actor_critic`` in the actor loss, ``critic`` in the critic loss,
    ``next_actor`` and ``next_critic`` in the bootstrap.
    """
    masks = {}
    for role, trained in networks.items():
        if trained.dropout is None:
            continue
        passes = [role, "actor_critic"] if role == "critic" else [role]
        for name in [*passes, f"next_{role}"] if trained.dropout.in_targets else passes:
            masks[name] = trained.masks(generator, (size,))
    return masks
