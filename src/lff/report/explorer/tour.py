"""Settings that show the paper's idea, and its limits, in a few minutes."""

from typing import Any, NamedTuple


class Stop(NamedTuple):
    """A setting of the controls, and what to see there."""

    title: str
    text: str
    state: dict[str, Any]


PLAIN = {
    "fourierDim": 1024,
    "depth": 2,
    "concat": False,
    "trained": False,
    "radius": 1,
    "time": 1000,
    "noise": 0.3,
}
"""The network of the paper's kernels: B fixed, x not concatenated."""

TOUR = (
    Stop(
        "Large σ: fast, fits noise",
        "σ = 1: the kernel is a narrow peak, all frequencies arrive almost together, and the blue "
        "fit runs through every dot while the grey MLP is still smooth.",
        {**PLAIN, "sigma": 1, "time": 100},
    ),
    Stop(
        "Small σ: slow, filters noise",
        "σ = 0.03: the spectrum lies below the grey one, and the blue fit is smooth where the MLP "
        "follows the noise. Now raise the training time: fine detail arrives, and the noise with "
        "it. It was late, not gone.",
        {**PLAIN, "sigma": 0.03},
    ),
    Stop(
        "In between: an MLP",
        "σ = 0.18, near break-even: all curves lie close together, and the fits too. Features of "
        "this σ behave as the plain network does.",
        {**PLAIN, "sigma": 0.18},
    ),
    Stop(
        "Concatenation: a floor",
        "σ = 0.001 with x concatenated: below the floor the input itself decides. Move σ between "
        "0.0001 and 0.003: hardly anything changes. Fewer Fourier features raise the floor; "
        "without concatenation there is none.",
        {**PLAIN, "sigma": 0.001, "concat": True},
    ),
    Stop(
        "Trained B: a linear part",
        "As in the paper's agents: x concatenated, B trained, σ = 0.001. The gradient of B is "
        "strongest at frequency 1, a linear function of x, and brings it from late to first.",
        {**PLAIN, "sigma": 0.001, "concat": True, "trained": True},
    ),
    Stop(
        "Scale: σ is relative to x",
        "σ = 0.003 on inputs of norm 10 is what σ = 0.03 was on the unit circle: the waves see "
        "the product alone. Inputs of control tasks have norms of about 5 to 40.",
        {**PLAIN, "sigma": 0.003, "radius": 10},
    ),
)
