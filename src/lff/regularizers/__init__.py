"""Regularizers that combine with any network and with each other: one file each, config and all."""

from lff.optim import Rule as Rule
from lff.regularizers.base import REGULARIZERS as REGULARIZERS
from lff.regularizers.base import Regularizer as Regularizer
from lff.regularizers.base import RegularizerConfig as RegularizerConfig
from lff.regularizers.base import check_combination as check_combination
from lff.regularizers.base import feature_penalty as feature_penalty
from lff.regularizers.base import penalty as penalty
from lff.regularizers.base import rules as rules
from lff.regularizers.base import wrap as wrap
from lff.regularizers.basis import BasisRule as BasisRule
from lff.regularizers.dropout import Dropout as Dropout
from lff.regularizers.dropout import draw_masks as draw_masks
from lff.regularizers.dropout import dropout_of as dropout_of
from lff.regularizers.functional import FunctionalRegularization as FunctionalRegularization
from lff.regularizers.layer_norm import LayerNorm as LayerNorm
from lff.regularizers.singular import SingularValuePenalty as SingularValuePenalty
from lff.regularizers.spectral import SpectralNorm as SpectralNorm
from lff.regularizers.spectral import power_steps as power_steps
from lff.regularizers.spectral import spectral_vectors as spectral_vectors
from lff.regularizers.weight_decay import WeightDecay as WeightDecay
