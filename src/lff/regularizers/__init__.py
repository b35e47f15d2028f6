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
from lff.regularizers.layers import (
    Dropout,
    LayerNorm,
    SpectralNorm,
    draw_masks,
    power_steps,
    spectral_vectors,
)
from lff.regularizers.terms import (
    BasisRule,
    FunctionalRegularization,
    SingularValuePenalty,
    WeightDecay,
)
