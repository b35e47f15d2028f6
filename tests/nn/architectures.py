"""One config of every front and trunk, for tests that must hold for all of them."""

from lff.nn import (
    FFN,
    ConcatMLPTrunk,
    ConstantControl,
    D2RLTrunk,
    DeepFourierTrunk,
    Fourier,
    Identity,
    LinearControl,
    LogUniformFourier,
    MLPTrunk,
    SimBaTrunk,
    SIRENTrunk,
    TanhControl,
)


def fronts(F):
    return [
        Identity(),
        Fourier(fourier_dim=F, sigma=0.1),
        Fourier(fourier_dim=F, sigma=0.1, trainable=False),
        Fourier(fourier_dim=F, sigma=0.1, concat_input=False),
        LogUniformFourier(fourier_dim=F),
        LinearControl(fourier_dim=F, sigma=0.1),
        ConstantControl(fourier_dim=F),
        TanhControl(fourier_dim=F, sigma=0.1),
        FFN(scale=0.1),
    ]


def trunks(*hidden):
    return [
        MLPTrunk(hidden),
        MLPTrunk(hidden, activation="tanh", init="default"),
        ConcatMLPTrunk(hidden),
        D2RLTrunk(hidden),
        SIRENTrunk(hidden),
        DeepFourierTrunk(hidden),
        SimBaTrunk(width=hidden[-1], blocks=2),
    ]
