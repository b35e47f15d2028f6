"""Architectures: the learned Fourier feature layer and the networks built on it.  Torch alone."""

from lff.nn.ensemble import Ensemble
from lff.nn.fourier import (
    BasisLayer,
    Fourier,
    Fourier2d,
    LearnedFourierFeatures,
    LearnedFourierFeatures2d,
)
from lff.nn.fronts import (
    FFN,
    ConstantControl,
    ConstantFeatures,
    FFNFeatures,
    Identity,
    LinearControl,
    LinearFeatures,
    LogUniformFourier,
    LogUniformFourierFeatures,
    TanhControl,
    TanhFeatures,
)
from lff.nn.matched import MatchedMLP, MatchedSimBa, count, match_width
from lff.nn.net import LFF, MLP, NetConfig, Network, num_parameters
from lff.nn.parts import FRONTS, PIXEL_FRONTS, TRUNKS, AnyFront, Front, PixelFront, Trunk
from lff.nn.pixels import (
    AUTHORS_UNMATCHED_FRONT,
    Conv1x1,
    MatchedConv1x1,
    NoFront,
    PixelCritic,
    PixelEncoder,
    PixelEncoderConfig,
    PixelHead,
    PixelMaps,
    count_entrance,
)
from lff.nn.representation import activations, dormant_share, effective_rank
from lff.nn.trunks import (
    ConcatMLPTrunk,
    D2RLTrunk,
    DeepFourierTrunk,
    MLPTrunk,
    SimBaTrunk,
    SIRENTrunk,
    orthogonal_,
)
