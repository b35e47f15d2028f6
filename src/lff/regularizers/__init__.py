"""Regularizers that combine with any network and with each other."""

from lff.optim import Rule
from lff.regularizers.base import (
    REGULARIZERS,
    Regularizer,
    RegularizerConfig,
    check_combination,
    feature_penalty,
    penalty,
    rules,
    wrap,
)
from lff.regularizers.decay import BasisRule, WeightDecay
from lff.regularizers.dropout import Dropout, draw_masks, dropout_of
from lff.regularizers.layer_norm import LayerNorm
from lff.regularizers.penalties import FunctionalRegularization, SingularValuePenalty
from lff.regularizers.spectral import SpectralNorm, power_steps, spectral_vectors
