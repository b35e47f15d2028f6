"""The flags of ``lff train`` that regularize, and the configs they stand for."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from lff.algos import PPOConfig, SACConfig
from lff.core.errors import BadInputError
from lff.regularizers import (
    BasisRule,
    Dropout,
    FunctionalRegularization,
    LayerNorm,
    RegularizerConfig,
    SpectralNorm,
    WeightDecay,
)
from lff.regularizers.base import ROLES, Where
from lff.regularizers.weight_decay import DecayKind


@dataclass(frozen=True, kw_only=True)
class CommonRegularizerFlags:
    """Regularizers that every agent takes, freely combined; none by default."""

    regularize: Where | None = None
    """networks that the flags below work on; both, but the critic for --spectral-norm."""
    weight_decay: float | None = None
    """coefficient of weight decay, on everything but B."""
    decay_kind: DecayKind = "l2"
    """form of --weight-decay and --b-decay: Adam's own, AdamW's, or L1."""
    decay_biases: bool = True
    """let --weight-decay decay biases and layer norms too."""
    b_lr: float | None = None
    """learning rate of B."""
    b_decay: float | None = None
    """coefficient of the decay of B."""
    b_anchor: float | None = None
    """coefficient of the squared distance of B from its start, added to the loss."""
    dropout: float | None = None
    """probability that a unit is dropped, after every nonlinearity of the trunk."""
    dropout_when_acting: bool = False
    """drop while acting and evaluating as well: a bug that the paper's runs may have had."""
    spectral_norm: bool = False
    """divide the last hidden layer's weight by its largest singular value."""
    layer_norm: bool = False
    """layer norms between hidden layers and their nonlinearities."""


@dataclass(frozen=True, kw_only=True)
class RegularizerFlags(CommonRegularizerFlags):
    """Those and what belongs to Q-learning: SAC's."""

    dropout_in_targets: bool = True
    """drop in the bootstrap too."""
    functional: float | None = None
    """weight of functional regularization, which takes the place of the target network."""
    functional_lag: int = 1_000
    """critic updates between two copies of the lagging critics."""
    normalize_obs: bool = False
    """normalise observations by their running mean and variance."""

    def add_to(self, config: SACConfig) -> SACConfig:
        """Return the agent's config with these regularizers."""
        found = self.checked(config)
        return dataclasses.replace(config, regularizers=found, normalize_obs=self.normalize_obs)

    def checked(self, config: SACConfig | PPOConfig) -> tuple[RegularizerConfig, ...]:
        """Return the regularizers that are asked for, if every flag changes something."""
        self._refuse_idle_flags()
        self._refuse_rules_without_a_basis(config)
        return self.configs()

    def configs(self) -> tuple[RegularizerConfig, ...]:
        """Return the regularizers that are asked for."""
        where: dict[str, Any] = {} if self.regularize is None else {"where": self.regularize}
        found: list[RegularizerConfig] = []
        if self.weight_decay is not None:
            found.append(
                WeightDecay(
                    coefficient=self.weight_decay,
                    kind=self.decay_kind,
                    biases=self.decay_biases,
                    **where,
                )
            )
        if (self.b_lr, self.b_decay, self.b_anchor) != (None, None, None):
            decay, anchor = self.b_decay or 0.0, self.b_anchor or 0.0
            kind = self.decay_kind
            found.append(BasisRule(lr=self.b_lr, decay=decay, kind=kind, anchor=anchor, **where))
        if self.dropout is not None:
            targets, acting = self.dropout_in_targets, self.dropout_when_acting
            p = self.dropout
            found.append(Dropout(p=p, in_targets=targets, when_acting=acting, **where))
        if self.functional is not None:
            found.append(FunctionalRegularization(kappa=self.functional, lag=self.functional_lag))
        if self.spectral_norm:
            found.append(SpectralNorm(**where))
        if self.layer_norm:
            found.append(LayerNorm(**where))
        return tuple(found)

    def _refuse_rules_without_a_basis(self, config: SACConfig | PPOConfig) -> None:
        """Refuse a rule for B where no network it works on trains one."""
        roles = ROLES if self.regularize in (None, "both") else (self.regularize,)
        fronts = [getattr(config, role).front for role in roles]
        if config.encoder is not None:  # the critics train it
            fronts = [config.encoder.front] if "critic" in roles else []
        if any(front.trains_basis for front in fronts):
            return
        for name in ("b_lr", "b_decay", "b_anchor"):
            value = getattr(self, name)
            if value is not None:
                flag = "--" + name.replace("_", "-")
                wanted = "used with a network that trains its B"
                raise BadInputError(flag, value, wanted, "use --net lff, say, or drop it")

    def _refuse_idle_flags(self) -> None:
        """Refuse a flag that would change nothing because the one it belongs to is missing."""
        default = RegularizerFlags()
        decays = self.weight_decay is not None or self.b_decay is not None
        some = bool(self.configs())
        for name, wanted, owner in (
            ("regularize", some, "a regularizer"),
            ("decay_kind", decays, "--weight-decay or --b-decay"),
            ("decay_biases", self.weight_decay is not None, "--weight-decay"),
            ("dropout_in_targets", self.dropout is not None, "--dropout"),
            ("dropout_when_acting", self.dropout is not None, "--dropout"),
            ("functional_lag", self.functional is not None, "--functional"),
        ):
            value = getattr(self, name)
            if value != getattr(default, name) and not wanted:
                flag = "--" + name.replace("_", "-")
                raise BadInputError(flag, value, f"used with {owner}", f"add {owner}, or drop it")
