"""From the rows of the jobs to the numbers of the report, one function for each stress.

Every number is finite.  A ratio that spans orders of magnitude is averaged by its logarithm.  What
a network that breaks down has instead is stated with each number below.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from lff.experiments.stress.plan import COST, FIT, FQI, FREE, HELD, NOISE, NOISY
from lff.stats.stress import Line, Measured
from lff.stats.tables import Row

LEVEL = 0.1
"""Signal error, as a share of the signal's variance, at which the noise in the fit is read off."""
LEVELS = (0.5, 0.3, 0.2, 0.1, 0.05, 0.03)
LARGEST = 1e6
"""What ratios are cut at: a Q that is not finite has this one."""
LEAST_ERROR = 0.01
"""Errors of a fit below this share of the signal's variance count as this."""
Curves = Mapping[tuple[str, str], Mapping[int, Mapping[int, float]]]
"""Values by task and metric, by seed, by step."""


def curves_of(rows: Sequence[Row], variant: str) -> dict[tuple[str, str], Any]:
    """Return the numbers of one network."""
    found: dict[tuple[str, str], Any] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        if row.variant == variant:
            found[row.task, row.metric][row.seed][row.step] = row.value
    return found


def noise_share(signal: Mapping[int, float], share: Mapping[int, float], level: float) -> float:
    """Return the share of the noise's variance in the fit when the signal error reaches a level.

    Between two looks it is interpolated in the logarithm of the signal error.  A network that does
    not reach the level within the steps, or whose numbers are not finite, has 1: all of it.
    """
    steps = sorted(signal)
    for before, after in pairwise(steps):
        if not math.isfinite(signal[after]):
            return 1.0
        if signal[after] <= level:
            high, low = (max(signal[step], 1e-12) for step in (before, after))
            way = 1.0 if high <= level else math.log(high / level) / math.log(high / low)
            between = share[before] + way * (share[after] - share[before])
            return float(np.clip(np.nan_to_num(between, nan=1.0), 0.0, 1.0))
    return 1.0


def noise(curves: Curves) -> list[float]:
    """Return the share of the noise in the fit, in percent, at equal signal error."""
    return [100 * value for value in _shares(curves, LEVEL)]


def _shares(curves: Curves, level: float) -> list[float]:
    signal, share = curves[FIT, "signal error"], curves[FIT, "noise share"]
    return [noise_share(signal[seed], share[seed], level) for seed in sorted(signal)]


def blow_up(curves: Curves) -> list[float]:
    """Return the share of gridworlds and numbers of steps with a blow-up, in percent."""
    own = curves[FQI, "blow-up"]
    return [100 * float(np.mean([*own[seed].values()])) for seed in sorted(own)]


def largest_q(curves: Curves) -> list[float]:
    """Return the largest |Q| over what rewards allow, without a target network."""
    return [_cut(value) for value in last(curves[FREE, "|Q| over limit"])]


def free_return(curves: Curves) -> list[float]:
    """Return the mean return of the last half of the evaluations, without a target network."""
    return late(curves[FREE, "return"])


def noise_loss(curves: Curves) -> list[float]:
    """Return the return lost to noise on the targets, over the noise's standard deviation."""
    without, noisy = (late(curves[task, "return"]) for task in (HELD, NOISY))
    return [(a - b) / NOISE for a, b in zip(without, noisy, strict=True)]


def learning_time(curves: Curves) -> list[float]:
    """Return the learning time of the higher half of frequencies over that of the lowest eighth.

    Times are inverse to eigenvalues, which are averaged over the bands of the half.
    """
    bands = [times for _, times in sorted(time_points(curves).items())]
    half = bands[len(bands) // 2 :]
    return [_cut(float(1 / np.mean(1 / np.array(own)))) for own in zip(*half, strict=True)]


def rank_loss(curves: Curves) -> list[float]:
    """Return the share of the features' effective rank that training without a target lost, in %.

    It is of the rank of the untrained network, or that of the inputs if this is larger: features
    that are constant from the start have lost theirs too.
    """
    rank, inputs = curves[FREE, "rank"], first(curves[FREE, "input rank"])
    pairs = zip(first(rank), inputs, last(rank), strict=True)
    return [100 * (1 - end / max(start, width, 1.0)) for start, width, end in pairs]


def dormant(curves: Curves) -> list[float]:
    """Return the share of dormant units after training without a target network, in percent."""
    return [100 * value for value in last(curves[FREE, "dormant"])]


def scale(curves: Curves) -> list[float]:
    """Return the error of the fit with inputs in other units or moved over that without.

    The geometric mean of both.  The error without is taken between 1 % and the level at which noise
    is read off: a network that learns nothing is not insensitive.
    """
    base, *others = (last(curves[FIT, f"{name} error"]) for name in ("signal", "scaled", "shifted"))
    changed = np.sqrt(np.prod([np.vectorize(_error)(other) for other in others], axis=0))
    return [_cut(value) for value in changed / np.clip(np.nan_to_num(base, nan=1.0), 0.01, LEVEL)]


def cost(curves: Curves) -> list[float]:
    """Return the time of an update over that with the MLP."""
    return last(curves[COST, "cost"])


def _error(value: float) -> float:
    return float(np.clip(value, LEAST_ERROR, 1e3)) if math.isfinite(value) else 1e3


def _cut(value: float) -> float:
    return float(np.clip(value, 1 / LARGEST, LARGEST)) if math.isfinite(value) else LARGEST


def last(own: Mapping[int, Mapping[int, float]]) -> list[float]:
    """Return the value at the last step of every seed."""
    return [own[seed][max(own[seed])] for seed in sorted(own)]


def first(own: Mapping[int, Mapping[int, float]]) -> list[float]:
    """Return the value at the first step of every seed."""
    return [own[seed][min(own[seed])] for seed in sorted(own)]


def late(own: Mapping[int, Mapping[int, float]]) -> list[float]:
    """Return the mean over the last half of the steps of every seed."""
    halves = (sorted(own[seed].items())[len(own[seed]) // 2 :] for seed in sorted(own))
    return [float(np.mean([value for _, value in half])) for half in halves]


def measured(values: Sequence[float], *, log: bool) -> Measured:
    """Return the interval over seeds; of ratios by their logarithms."""
    if not log:
        return Measured.of(values)
    inner = Measured.of([math.log10(value) for value in values])
    low, middle, high = (
        float(10 ** min(max(one, -300.0), 300.0)) for one in (inner.low, inner.estimate, inner.high)
    )
    return Measured(middle, low, high, tuple(values))


def line(points: Mapping[float, Sequence[float]], *, log: bool = False) -> Line:
    """Return a curve with its band from the values of all seeds at each x."""
    own = {x: measured(values, log=log) for x, values in sorted(points.items())}
    return Line(
        x=tuple(own),
        mean=tuple(one.estimate for one in own.values()),
        low=tuple(one.low for one in own.values()),
        high=tuple(one.high for one in own.values()),
    )


def by_step(
    own: Mapping[int, Mapping[int, float]], factor: float = 1.0
) -> dict[float, list[float]]:
    """Return the values of all seeds at each step."""
    points: dict[float, list[float]] = defaultdict(list)
    for seed in sorted(own):
        for step, value in own[seed].items():
            points[float(step)].append(factor * value)
    return points


def noise_points(curves: Curves) -> dict[float, list[float]]:
    """Return the share of the noise in the fit at each level of the signal error, in percent."""
    found = {100 * level: [100 * x for x in _shares(curves, level)] for level in LEVELS}
    return {level: values for level, values in found.items() if max(values) < 100}


def q_points(curves: Curves) -> dict[float, list[float]]:
    """Return the largest |Q| over the limit at each evaluation."""
    points = by_step(curves[FREE, "|Q| over limit"])
    return {step: [_cut(value) for value in values] for step, values in points.items()}


def loss_points(curves: Curves) -> dict[float, list[float]]:
    """Return the returns with each noise on the targets."""
    return {0.0: late(curves[HELD, "return"]), NOISE: late(curves[NOISY, "return"])}


def time_points(curves: Curves) -> dict[float, list[float]]:
    """Return the learning times of all bands of frequencies, from 1 on."""
    bands = sorted(metric for task, metric in curves if task == FREE and "[" in metric)
    return {
        i + 1.0: [_cut(value) for value in last(curves[FREE, band])] for i, band in enumerate(bands)
    }


def scale_points(curves: Curves) -> dict[float, list[float]]:
    """Return the errors of the fits of the noise-free targets, by gradient step: as they are."""
    points = by_step(curves[FIT, "shifted error"])
    return {step: [_error(value) for value in values] for step, values in points.items()}


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A stress: how its number is computed and shown."""

    key: str
    title: str
    question: str
    values: Callable[[Curves], list[float]]
    better: Literal["lower", "higher"] = "lower"
    log: bool = False
    unit: str = ""
    advice: str
    points: Callable[[Curves], Mapping[float, Sequence[float]]] | None = None
    figure: Mapping[str, Any] = field(default_factory=dict)

    def measure(self, curves: Curves) -> Measured:
        """Return the number of a network."""
        return measured(self.values(curves), log=self.log)

    def draw(self, curves: Curves) -> Line | None:
        """Return the network's curve in the figure."""
        points = self.points(curves) if self.points else {}
        return line(points, log=bool(self.figure.get("log_y"))) if points else None


KINDS = (
    Kind(
        key="noise",
        title="Target noise fitted at equal signal error",
        question="How much of the noise in its targets does the network learn by the time it has "
        "learned the signal?",
        values=noise,
        unit="%",
        advice="It fits noise early: use a smoother first layer (for Fourier features, a lower "
        "sigma) or fewer layers.",
        points=noise_points,
        figure={
            "x_title": "signal error, % of its variance",
            "y_title": "noise in the fit, % of its variance",
            "log_x": True,
        },
    ),
    Kind(
        key="blow-up",
        title="Fitted Q-iteration that blows up",
        question="How often does Q rise above twice Q* when it is fitted to its own maximum, for "
        "more and more gradient steps?",
        values=blow_up,
        unit="%",
        advice="Take fewer gradient steps between two targets, or add layer norm.",
        points=lambda curves: by_step(curves[FQI, "blow-up"], 100),
        figure={
            "x_title": "gradient steps in an iteration",
            "y_title": "runs that blow up, %",
            "log_x": True,
        },
    ),
    Kind(
        key="q",
        title="Largest |Q| without a target network",
        question="How far does |Q| rise above what rewards allow when SAC bootstraps from the "
        "critics themselves?",
        values=largest_q,
        log=True,
        unit="times",
        advice="Keep the target network, lower the learning rate, or add layer norm.",
        points=q_points,
        figure={
            "x_title": "environment steps",
            "y_title": "largest |Q| over what rewards allow",
            "log_y": True,
        },
    ),
    Kind(
        key="return",
        title="Return without a target network",
        question="Does SAC still learn its task when it bootstraps from the critics themselves?",
        values=free_return,
        better="higher",
        advice="Keep the target network: this critic does not learn without one.",
        points=lambda curves: by_step(curves[FREE, "return"]),
        figure={"x_title": "environment steps", "y_title": "return"},
    ),
    Kind(
        key="target-noise",
        title="Return lost per unit of target noise",
        question="How much return does SAC lose when noise is added to the critics' targets?",
        values=noise_loss,
        advice="Use larger batches or more critics, or a network that fits noise more slowly.",
        points=loss_points,
        figure={"x_title": "standard deviation of the target noise", "y_title": "return"},
    ),
    Kind(
        key="frequency",
        title="Learning time of high over low frequencies",
        question="How much longer does the network take for fine detail of Q than for its coarse "
        "shape, by its tangent kernel on replayed points?",
        values=learning_time,
        better="higher",
        log=True,
        unit="times",
        advice="Fine detail, and so noise, is learned almost as fast as the signal: use a smoother "
        "first layer (for Fourier features, a lower sigma).",
        points=time_points,
        figure={
            "x_title": "frequency, eighths from low to high",
            "y_title": "learning time over that of the lowest",
            "log_y": True,
        },
    ),
    Kind(
        key="rank",
        title="Effective rank lost in training",
        question="How much of the features' rank is gone after training without a target network?",
        values=rank_loss,
        unit="%",
        advice="Its features collapse: lower the learning rate, or add layer norm.",
    ),
    Kind(
        key="dormant",
        title="Dormant units after training",
        question="How many hidden units no longer respond after training without a target network?",
        values=dormant,
        unit="%",
        advice="Units die: lower the learning rate, or use layer norm or another nonlinearity.",
    ),
    Kind(
        key="scale",
        title="Error when an input changes its units",
        question="How much worse is the same fit when an observation is ten times as large, or is "
        "shifted?",
        values=scale,
        log=True,
        unit="times",
        advice="Normalise observations before this network.",
        points=scale_points,
        figure={
            "x_title": "gradient steps",
            "y_title": "error with the input shifted",
            "log_y": True,
        },
    ),
    Kind(
        key="cost",
        title="Time of an update over the MLP's",
        question="How long does one update of SAC take with this critic?",
        values=cost,
        log=True,
        unit="times",
        advice="It is expensive: a narrower network may do as well.",
    ),
)
"""The stresses, in the order of the report."""
